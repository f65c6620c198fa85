import PresenceDocuments
import XMLCore

extension EnhancedPresentity {
    /// Whether a membership or delegate was ever set, or a subscriber is listed.
    public var hasOwnLists: Bool { !memberships.isEmpty || !subscribers.isEmpty || delegates.version > 0 }

    /// Lists a new subscriber; a listed subscriber and the user's own address cause no change (MS-PRES 1.3.1.4).
    ///
    /// Call it for a subscription that is otherwise accepted.
    /// - Parameter displayName: From the From header; if absent or empty, the address is used (MS-PRES 2.2.2.6.1).
    /// - Throws: 413 if the list or the contexts would become too large; the caller then refuses the subscription (MS-PRES 3.6.5.3).
    public mutating func noteSubscriber(
        _ watcher: WatcherIdentity, displayName: String?, by subscription: SubscriberList.Subscription
    ) throws(EnhancedPresenceRefusal) -> PresentityChange {
        guard watcher.address != address else { return PresentityChange() }
        var context: XMLFragment?
        var isKept = true
        if case .category(let content) = subscription {
            context = content
            isKept = false
        }
        if subscribers[watcher.address] != nil {
            if isKept { subscribers.keep(watcher.address) }
            return PresentityChange()
        }
        let bytes = context?.source.count ?? 0
        guard bytes <= policy.roaming.contextByteLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, diagnostic: .contextLimit,
                message: "the context has \(bytes) bytes, more than \(policy.roaming.contextByteLimit) (MS-PRES 3.4.5.1.3)")
        }
        guard subscribers.contextBytes + bytes <= policy.roaming.totalContextByteLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, diagnostic: .contextLimit,
                message: "the contexts have more than \(policy.roaming.totalContextByteLimit) bytes together (MS-PRES 3.6.5.1)")
        }
        guard subscribers.count < policy.roaming.subscriberLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, message: "\(policy.roaming.subscriberLimit) subscribers wait to be acknowledged (MS-PRES 3.6.5.1)")
        }
        let name = displayName ?? ""
        subscribers.append(
            SubscriberList.Entry(
                address: watcher.address, displayName: name.isEmpty ? watcher.address.text : name, isAcknowledged: false,
                type: SubscriberType(rawValue: watcher.network.rawValue), context: context, isKept: isKept))
        return PresentityChange(subscribersChanged: true)
    }

    /// Acknowledges one subscriber (MS-PRES 3.6.5.1).
    /// - Throws: 403 if From or To is not the user, 400 for an address that is not listed (MS-PRES 3.6.5.3).
    public mutating func setSubscribers(
        _ request: SetSubscribersDocument, by endpoint: PublishingEndpoint
    ) throws(EnhancedPresenceRefusal) -> PresentityChange {
        guard PresenceAddress(endpoint.from) == PresenceAddress(endpoint.to), PresenceAddress(endpoint.to) == address else {
            throw EnhancedPresenceRefusal(status: 403, message: "the From URI differs from the To URI (MS-PRES 3.6.5.3)")
        }
        let subscriber = PresenceAddress(request.user)
        guard subscribers[subscriber] != nil else {
            throw EnhancedPresenceRefusal(
                status: 400, diagnostic: .unknownSubscriber, message: "the subscriber list has no \"\(request.user)\" (MS-PRES 3.6.5.3)")
        }
        subscribers.acknowledge(subscriber, removes: policy.roaming.removesAcknowledgedSubscribers)
        return PresentityChange(subscribersChanged: true)
    }
}
