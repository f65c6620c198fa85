import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import UserDirectory

/// Presentities of the users in the directory, and the server's publications for them (MS-PRES 3.2.6.2).
extension PortAnswers {
    /// Gives every user with subscribed endpoints a record, so that new data of the directory is notified.
    func addOwnRecords() {
        for dialog in flows.subscriptions.dialogs.inOrder
        where dialog.presence == nil && dialog.subscription.presentity == dialog.watcherKey
            && flows.presentities.record(dialog.watcherKey) == nil
        {
            flows.presentities.addRecord(dialog.watcherKey, dialog.watcher)
        }
    }

    /// Publishes changed data of the directory, and ends the presentities and dialogs of users that are gone or disabled.
    func directoryChanged(_ users: UserDirectory, at now: Instant) {
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
    }

    // MARK: ended users

    /// Ends a removed or disabled user, which to others never existed (MS-PRES 3.4.5.3).
    private func userEnded(_ record: HostedPresentity, at now: Instant) {
        record.userEnded()
        for (tag, resource) in record.watchersInOrder {
            guard let watcher = flows.subscriptions.dialogs[tag] else {
                record.removeWatcher(tag)
                flows.presentities.remoteWatchers.userEnded(tag)
                continue
            }
            if watcher.namesResources { record.removeWatcher(tag) }
            flows.presenceSubscriptions.userEnded(resource, of: watcher, at: now)
        }
        flows.presentities.settle(record)
    }
}
