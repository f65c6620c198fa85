import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// The subscriber lists of users, which inform them of new watchers (MS-PRES 1.3.1.4).
extension PresenceSources {
    /// Adds a watcher to the resource's subscriber list and notifies the user's endpoints (MS-PRES 3.4.5.1.3, 3.7.5.3).
    ///
    /// Counts category subscriptions with a context, and MSRTC and PIDF subscriptions that are not polls.
    /// - Throws: 413 if the list is full or the context too large; the subscription is then refused (MS-PRES 3.6.5.3).
    func noteSubscriber(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, _ resource: CategoryRequest.Resource, _ format: WatcherFormat,
        isPoll: Bool, at now: Instant
    ) throws(Refusal) {
        let subscription: SubscriberList.Subscription
        switch (format, resource.context) {
        case (.categories, .empty?): subscription = .category(context: nil)
        case (.categories, .content(let fragment)?): subscription = .category(context: fragment)
        case (.categories, nil): return
        default:
            guard !isPoll else { return }
            subscription = .withoutContext
        }
        // An anonymous watcher cannot be placed in a container.
        guard resource.key != parties.watcherKey, usesHomeServer(resource),
            !AnonymousUser.isHost(parties.watcher.domainKey)
        else { return }
        let presentity = try flows.presentities.presentity(resource.key, resource.uri)
        defer { flows.presentities.settle(presentity) }
        let watcher = WatcherIdentity(parties.watcher, network: parties.watcherDomain.network)
        let change: PresentityChange
        do throws(EnhancedPresenceRefusal) {
            change = try presentity.change { enhanced throws(EnhancedPresenceRefusal) in
                try enhanced.noteSubscriber(watcher, displayName: request.headers.from?.displayName, by: subscription)
            }
        } catch {
            counters.limitsReached += 1
            // The list of a user that never published cannot be full, so a refusal would reveal a block (MS-PRES 1.3.1.3.4).
            if presentity.enhanced.resolver.isBlocked(watcher) { return }
            throw Refusal(error)
        }
        guard !change.isEmpty else { return }
        flows.presentities.table.keep(presentity)
        flows.presentities.notifyAll(of: presentity, change, at: now)
    }

    /// Whether the resource is a known user of this server: subscriber lists must not be created for invented names of a hosted domain.
    private func usesHomeServer(_ resource: CategoryRequest.Resource) -> Bool {
        guard let domain = configuration.domain(resource.uri.domainKey), domain.hosted, domain.side == .enterprise, domain.refuse == nil,
            isUser(resource.key)
        else { return false }
        return directory.names(resource.key) || flows.presentities.record(resource.key)?.enhanced.hasOwnLists == true
            || flows.homeServer.knows(resource.key) || !flows.subscriptions.dialogs.about(resource.key).isEmpty
    }
}
