import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// New entries of the subscriber lists of users (MS-PRES 1.3.1.4).
extension PresenceSources {
    func noteSubscriber(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, _ resource: CategoryRequest.Resource, _ format: WatcherFormat,
        isPoll: Bool, at now: Instant
    ) throws(Refusal) {
        // Another shard has noted it with its watch.
        if !place.has(resource.key) { return }
        if let subscriber = newSubscriber(request, parties, resource, format, isPoll: isPoll) {
            try flows.presentities.noteSubscriber(subscriber, of: resource.key, resource.uri, at: now)
        }
    }

    /// The entry of a watcher for the resource's subscriber list; nil: none.
    ///
    /// Counts category subscriptions with a context, and MSRTC and PIDF subscriptions that are not polls.
    func newSubscriber(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, _ resource: CategoryRequest.Resource, _ format: WatcherFormat,
        isPoll: Bool
    ) -> NewSubscriber? {
        let subscription: SubscriberList.Subscription
        switch (format, resource.context) {
        case (.categories, .empty?): subscription = .category(context: nil)
        case (.categories, .content(let fragment)?): subscription = .category(context: fragment)
        case (.categories, nil): return nil
        default:
            guard !isPoll else { return nil }
            subscription = .withoutContext
        }
        // An anonymous watcher cannot be placed in a container.
        guard resource.key != parties.watcherKey, !AnonymousUser.isHost(parties.watcher.domainKey) else { return nil }
        let watcher = WatcherIdentity(parties.watcher, network: parties.watcherDomain.network)
        return NewSubscriber(watcher: watcher, displayName: request.headers.from?.displayName, subscription: subscription)
    }
}
