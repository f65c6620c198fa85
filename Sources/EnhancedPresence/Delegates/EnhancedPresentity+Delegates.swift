import PresenceDocuments

extension EnhancedPresentity {
    /// Adds, changes or removes one delegate (MS-PRES 3.9.5.1).
    ///
    /// `add` of a delegate who is there and `modify` of one who is not are both fine.
    /// - Parameter isUser: Whether an address belongs to a user of this deployment.
    /// - Throws: 403 From and To, 409 with the current version, 400 the user himself, 404 nobody of this deployment, 403 removal of
    ///   one who is no delegate, 413 too many (MS-PRES 3.9.5.4).
    public mutating func setDelegates(
        _ request: SetDelegatesDocument, by endpoint: PublishingEndpoint, isUser: (PresenceAddress) -> Bool
    ) throws(EnhancedPresenceRefusal) -> PresentityChange {
        guard PresenceAddress(endpoint.from) == PresenceAddress(endpoint.to), PresenceAddress(endpoint.to) == address else {
            throw EnhancedPresenceRefusal(status: 403, message: "the From URI differs from the To URI (MS-PRES 3.9.5.4)")
        }
        guard request.version == delegates.version else {
            let operation = FaultOperation(index: 1, version: request.version, currentVersion: delegates.version)
            throw EnhancedPresenceRefusal(
                status: 409, diagnostic: .delegateVersion, fault: FaultDocument(operations: [operation]),
                message: "version \(request.version) is not the current \(delegates.version) (MS-PRES 2.2.2.10.4)")
        }
        let change = request.change
        let delegate = PresenceAddress(change.uri)
        guard delegate != address else {
            throw EnhancedPresenceRefusal(status: 400, message: "nobody is his own delegate (MS-PRES 3.9.5.4)")
        }
        let known = delegates[delegate]
        // Who is in the set may go, even when his account is gone already.
        guard known != nil && change.action == .remove || isUser(delegate) else {
            throw EnhancedPresenceRefusal(status: 404, message: "\"\(change.uri)\" is no user of this deployment (MS-PRES 3.9.5.4)")
        }
        guard change.action != .remove else {
            guard known != nil else {
                throw EnhancedPresenceRefusal(status: 403, message: "\"\(change.uri)\" is no delegate (MS-PRES 3.9.5.4)")
            }
            delegates.remove(delegate)
            return PresentityChange(delegatesChanged: true)
        }
        guard known != nil || delegates.entries.count < policy.roaming.delegateLimit else {
            throw EnhancedPresenceRefusal(
                status: 413, message: "a user has at most \(policy.roaming.delegateLimit) delegates (MS-PRES 3.9.5.4)")
        }
        delegates.set(
            DelegateSet.Entry(address: delegate, mayPublish: change.mayPublish, mayRedelegate: change.mayRedelegate))
        return PresentityChange(delegatesChanged: true)
    }
}
