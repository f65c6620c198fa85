import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import UserDirectory

/// Users of the hosted enterprise domains, and the server's publications for them (MS-PRES 3.2.6.2).
extension Gateway {
    /// Present state of the directory; see ``use(directory:at:)``.
    public var directoryState: DirectoryState { directory.state }

    /// Replaces the directory: publishes changed data, and ends dialogs and registrations of users that are gone or disabled.
    public func use(directory state: DirectoryState, at now: Instant) {
        commitLog.now = now
        // A user with subscribed endpoints gets a record, so that new data is notified.
        for dialog in flows.subscriptions.dialogs.inOrder
        where dialog.presence == nil && dialog.subscription.presentity == dialog.watcherKey
            && flows.presentities.record(dialog.watcherKey) == nil
        {
            flows.presentities.addRecord(dialog.watcherKey, dialog.watcher)
        }
        defer { flows.presentities.settleAll() }
        context.directory.replace(by: state, at: DateTime(now))
        guard case .known(let users) = state else { return }
        for record in flows.presentities.table.inOrder where isInDirectory(record.uri) {
            if let user = users.enabledUser(record.owner) {
                let isOther = record.server.user != user
                let change = flows.presentities.table.publishForServer(record)
                if !change.isEmpty {
                    flows.presentities.table.keep(record)
                    flows.presentities.notifyAll(of: record, change, at: now)
                } else if isOther {
                    // Only data in the older formats has changed (MS-PRES 3.7.5.5).
                    flows.presentities.notifyWatchers(of: record, at: now)
                }
            } else {
                userEnded(record, at: now)
            }
        }
        let ended = flows.subscriptions.dialogs.inOrder.filter { directory.has($0.watcherKey) == false && isInDirectory($0.watcher) }
        for dialog in ended.filter({ $0.presence == nil }) + ended.filter({ $0.presence != nil }) {
            // A user's own data is gone with the user; other presentities remain.
            let isGone = dialog.subscription.presentity == dialog.watcherKey
            flows.subscriptions.perform(dialog.notifier.terminate(isGone ? .noresource : .rejected, at: now), on: dialog, at: now)
        }
        // Last, because the final NOTIFYs are sent to the registered addresses (MS-PRES 1.3.1.3.10).
        for user in home.registrar.boundUsers.sorted() where directory.has(user) == false && SIPURI(user).map(isInDirectory) == true {
            bindingsEnded(home.registrar.endAll(of: user), at: now)
        }
        scheduleRegistrar()
    }

    /// Whether the directory decides about a URI.
    private func isInDirectory(_ uri: SIPURI) -> Bool {
        guard let domain = configuration.domain(uri.domainKey) else { return false }
        return domain.hosted && domain.side == .enterprise
    }

    /// Whether the user with this `aorKey` exists in a hosted enterprise domain; without a directory every user does.
    func isUser(_ key: String) -> Bool { directory.has(key) == true }

    /// Refuses watchers of users that do not exist; a batch reports them in its list instead (MS-PRES 3.4.5.3).
    func checkUsers(_ uris: [SIPURI], isBatch: Bool) throws(Refusal) {
        for uri in uris {
            guard let domain = configuration.domain(uri.domainKey) else { continue }
            do throws(Refusal) {
                try screening.checkUser(uri, of: domain)
            } catch  where !isBatch || error.status != .notFound {
                throw error
            } catch {
                continue
            }
        }
    }

    // MARK: ended users

    /// Ends a removed or disabled user, which to others never existed (MS-PRES 3.4.5.3).
    private func userEnded(_ record: HostedPresentity, at now: Instant) {
        record.userEnded()
        for (tag, resource) in record.watchersInOrder {
            guard let watcher = flows.subscriptions.dialogs[tag] else { continue }
            guard watcher.namesResources else {
                flows.subscriptions.perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
                continue
            }
            record.removeWatcher(tag)
            flows.presenceSubscriptions.reject(resource, of: watcher, state: "resubscribe")
            if watcher.isBatch, watcher.resources.isEmpty {
                flows.subscriptions.perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
            } else {
                flows.subscriptions.perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
            }
        }
        flows.presentities.settle(record)
    }
}
