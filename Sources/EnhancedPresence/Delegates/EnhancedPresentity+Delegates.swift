import PresenceDocuments

extension EnhancedPresentity {
    /// Adds, changes or removes one delegate (MS-PRES 3.9.5.1).
    ///
    /// `add` of a present delegate changes its rights; `modify` of an absent one adds it.
    /// - Parameter isUser: Whether an address belongs to a user of this deployment.
    /// - Throws: 403 if From differs from To, 409 with the current version, 400 for the user's own address, 404 for an address
    ///   outside the deployment, 403 for removing an absent delegate, 413 for too many (MS-PRES 3.9.5.4).
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
            throw EnhancedPresenceRefusal(status: 400, message: "users cannot be their own delegates (MS-PRES 3.9.5.4)")
        }
        let known = delegates[delegate]
        // A delegate can be removed even if its account no longer exists.
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
