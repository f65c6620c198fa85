import EnhancedPresence
import FederationRouting
import SIPCore

/// The subscriber lists of users, which inform them of new watchers (MS-PRES 1.3.1.4).
extension PresentitiesFlow {
    /// Adds a watcher to a user's subscriber list and notifies the user's endpoints (MS-PRES 3.4.5.1.3, 3.7.5.3).
    /// - Throws: 413 if the list is full or the context too large; the subscription is then refused (MS-PRES 3.6.5.3).
    func noteSubscriber(_ subscriber: NewSubscriber, of key: String, _ uri: SIPURI, at now: Instant) throws(Refusal) {
        guard usesHomeServer(key, uri) else { return }
        let presentity = try presentity(key, uri)
        defer { settle(presentity) }
        let change: PresentityChange
        do throws(EnhancedPresenceRefusal) {
            change = try presentity.change { enhanced throws(EnhancedPresenceRefusal) in
                try enhanced.noteSubscriber(subscriber.watcher, displayName: subscriber.displayName, by: subscriber.subscription)
            }
        } catch {
            counters.limitsReached += 1
            // The list of a user that never published cannot be full, so a refusal would reveal a block (MS-PRES 1.3.1.3.4).
            if presentity.enhanced.resolver.isBlocked(subscriber.watcher) { return }
            throw Refusal(error)
        }
        guard !change.isEmpty else { return }
        table.keep(presentity)
        notifyAll(of: presentity, change, at: now)
    }

    /// Whether the resource is a known user of this server: subscriber lists must not be created for invented names of a hosted domain.
    private func usesHomeServer(_ key: String, _ uri: SIPURI) -> Bool {
        guard let domain = configuration.domain(uri.domainKey), domain.hosted, domain.side == .enterprise, domain.refuse == nil,
            isUser(key)
        else { return false }
        return directory.names(key) || record(key)?.enhanced.hasOwnLists == true || ports.isKnown(key)
    }
}
