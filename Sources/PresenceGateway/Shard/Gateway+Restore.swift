import FederationRouting
import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import SimplePresence
import XMLCore

/// Counts of a restart from the store.
public struct RestoredState: Hashable, Sendable {
    /// Presentities with stored publications or data.
    public var presentities = 0
    /// Publications: PIDF documents and category instances.
    public var publications = 0
    /// Watcher dialogs, and dialogs of users' own endpoints.
    public var dialogs = 0
    /// Upstream subscriptions that continue in their dialogs.
    public var upstreamSubscriptions = 0
    /// Registrations.
    public var registrations = 0
    /// Publications and dialogs that expired before the restart.
    public var expired = 0
    /// Records that cannot be read, or that belong to a domain no longer configured; they are ignored.
    public var unreadable = 0
    /// Watchers that were notified because their presence differs from the last notification.
    public var notified = 0

    /// Creates zero counts.
    public init() {}

    /// Adds the counts of two shards.
    public static func + (left: RestoredState, right: RestoredState) -> RestoredState {
        var sum = left
        sum.presentities += right.presentities
        sum.publications += right.publications
        sum.dialogs += right.dialogs
        sum.upstreamSubscriptions += right.upstreamSubscriptions
        sum.registrations += right.registrations
        sum.expired += right.expired
        sum.unreadable += right.unreadable
        sum.notified += right.notified
        return sum
    }
}

/// Restart from the state that an earlier process stored.
///
///     records of this shard --> presentities, publications --> expiry --> upstream subscriptions --> dialogs --> expiry
///         --> upstream subscriptions are refreshed or restarted, paced --> watchers that see a difference are notified once
extension Gateway {
    /// Restores the records of this shard; call it once, before the first message.
    ///
    /// A watcher is notified only if its presence differs from the last notification. Notifications follow the dialog's route set;
    /// watchers that were reached over a connection only may come back with a SUBSCRIBE in their dialog
    /// (``GatewayTiming/restartGrace``).
    /// - Throws: when the store cannot be read.
    @discardableResult
    public func restore(at now: Instant) throws(StoreFailure) -> RestoredState {
        guard let store else { return RestoredState() }
        return restore(try store.load(at: now), at: now)
    }

    /// Restores from loaded records; records of other shards are ignored.
    @discardableResult
    public func restore(_ loaded: [StoreRecord], at now: Instant) -> RestoredState {
        commitLog.now = now
        let router = ShardRouter(shards: shards, for: configuration)
        let records = shards == 1 ? loaded : loaded.filter { router.shard(ofKey: router.owner(of: $0)) == shard }
        var state = RestoredState()
        var publications: [StoredPublication] = []
        var stored: [StoredDialog] = []
        var subscriptions: [StoredUpstreamSubscription] = []
        var shown: [StoredShownWatcher] = []
        for record in records {
            var isRead = true
            switch record {
            case .presentity(let presentity): isRead = flows.presentities.restore(presentity, &state)
            case .publication(let publication): publications.append(publication)
            case .dialog(let dialog): stored.append(dialog)
            case .upstreamSubscription(let subscription): subscriptions.append(subscription)
            case .registration(let registration):
                isRead = flows.homeServer.restore(registration, at: now)
                if isRead { state.registrations += 1 }
            case .contacts(let list): isRead = flows.homeServer.restore(contactsOf: list)
            case .accessList(let list): isRead = flows.homeServer.restore(accessControlOf: list)
            case .bridge(let bridge): isRead = flows.publications.restore(bridge, at: now)
            case .shownWatcher(let watcher): shown.append(watcher)
            case .signOff(let signOff): isRead = flows.presentities.blocking.restore(signOff)
            }
            if !isRead { leaveOut(record.key, &state) }
        }
        flows.presentities.blocking.restore(shown)
        // Composition depends on the order in which bodies came.
        for publication in publications.sorted(by: { $0.number < $1.number }) where !flows.presentities.restore(publication, &state) {
            leaveOut(.publication(presentity: publication.presentity, tag: publication.tag), &state)
        }
        stored.sort { $0.dialog.localTag < $1.dialog.localTag }
        // Some are restored before expiry, so that they are notified of what expires now.
        let hasStateAtOnce = { (dialog: StoredDialog) in self.flows.subscriptions.packages.package(of: dialog.kind)?.hasStateAtOnce ?? true
        }
        for dialog in stored where hasStateAtOnce(dialog) {
            if flows.subscriptions.restored.restore(dialog, at: now) {
                state.dialogs += 1
            } else {
                leaveOut(.dialog(dialog.dialog.localTag), &state)
            }
        }
        let before = counts.publications
        flows.presentities.resume(at: now)
        state.expired = before - counts.publications
        let resumed = flows.upstream.restorer.restore(subscriptions, at: now)
        state.upstreamSubscriptions += resumed.all.count
        for dialog in stored where !hasStateAtOnce(dialog) {
            if flows.subscriptions.restored.restore(dialog, fedBy: resumed, at: now) {
                state.dialogs += 1
            } else {
                leaveOut(.dialog(dialog.dialog.localTag), &state)
            }
        }
        flows.upstream.restorer.settle(resumed, at: now)
        // The domains may have changed since the earlier process.
        withdrawRights(at: now)
        flows.subscriptions.restored.notifyBehind(stored, &state, at: now)
        flows.homeServer.advanceRegistrar(at: now)
        return state
    }

    private func leaveOut(_ key: StoreKey, _ state: inout RestoredState) {
        state.unreadable += 1
        log(.warning, "a stored record is left out", ["key": key.kind])
    }
}
