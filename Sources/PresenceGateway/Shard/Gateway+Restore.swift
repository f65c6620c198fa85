import SIPCore

/// Counts of a restart from the store.
package struct RestoredState: Hashable, Sendable {
    /// Presentities with stored publications or data.
    package var presentities = 0
    /// Publications: PIDF documents and category instances.
    package var publications = 0
    /// Watcher dialogs, and dialogs of users' own endpoints.
    package var dialogs = 0
    /// Upstream subscriptions that continue in their dialogs.
    package var upstreamSubscriptions = 0
    /// Registrations.
    package var registrations = 0
    /// Publications and dialogs that expired before the restart.
    package var expired = 0
    /// Records that cannot be read, or that belong to a domain no longer configured; they are ignored.
    package var unreadable = 0
    /// Watchers that were notified because their presence differs from the last notification.
    package var notified = 0

    /// Creates zero counts.
    package init() {}

    /// Adds the counts of two shards.
    package static func + (left: RestoredState, right: RestoredState) -> RestoredState {
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

/// Restart from the state that an earlier process stored, in slices of partitions (``ShardRestart``).
///
///     beginRestart, continueRestart --> read: GatewayStore.load(_:of:) --> continueRestart --> read, or yield --> ... --> done
extension Gateway {
    /// Number of partitions that a restart reads at a time.
    package static let restartSlice = 128

    /// Begins a restart; call it once, before the first message, after ``GatewayStore/prepare(for:at:)``.
    ///
    /// A watcher is notified only if its presence differs from the last notification. Notifications follow the dialog's route set;
    /// watchers that were reached over a connection only may come back with a SUBSCRIBE in their dialog
    /// (``GatewayTiming/restartGrace``).
    ///
    /// Until the restart is done, messages, closed connections and envelopes wait, OPTIONS is answered, and no timer fires. The gateway is
    /// not reconfigured or stopped meanwhile.
    /// - Parameter slice: number of partitions that are read at a time.
    package func beginRestart(slice: Int = restartSlice, at now: Instant) {
        commitLog.noteInput(at: now)
        begin(PartitionSlice.slices(of: shard, among: shards, size: slice))
    }

    /// Continues a restart.
    /// - Parameter records: the records that it asked for; empty in the first step, and after ``RestartStep/yield``.
    package func continueRestart(with records: [StoreRecord] = [], at now: Instant) -> RestartStep {
        guard let restart else { return .done(RestoredState()) }
        commitLog.noteInput(at: now)
        let step = restart.take(records, at: now)
        if case .done = step { endRestart(at: now) }
        return step
    }

    /// Restores the records of this shard from its store; call it once, before the first message.
    /// - Parameter slice: number of partitions that are read at a time; nil: all.
    /// - Throws: when the store cannot be read.
    @discardableResult
    package func restore(slice: Int? = nil, at now: Instant) throws(StoreFailure) -> RestoredState {
        guard let store else { return RestoredState() }
        var router = ShardRouter(shards: shards, for: configuration)
        try store.prepare(for: &router, at: now)
        beginRestart(slice: slice ?? Partition.count, at: now)
        var step = continueRestart(at: now)
        while true {
            switch step {
            case .read(let kinds, let slice):
                do throws(StoreFailure) {
                    step = continueRestart(with: try store.load(kinds, of: slice), at: now)
                } catch {
                    endRestart(at: now)
                    throw error
                }
            case .yield: step = continueRestart(at: now)
            case .done(let state): return state
            }
        }
    }

    /// Restores from loaded records; records of other shards are ignored.
    @discardableResult
    package func restore(_ loaded: [StoreRecord], at now: Instant) -> RestoredState {
        let router = ShardRouter(shards: shards, for: configuration)
        let records = shards == 1 ? loaded : loaded.filter { router.shard(ofKey: router.owner(of: $0)) == shard }
        begin([])
        var step = continueRestart(with: records, at: now)
        while true {
            if case .done(let state) = step { return state }
            step = continueRestart(at: now)
        }
    }

    private func begin(_ slices: [PartitionSlice]) {
        commitLog.beginRestart()
        restart = ShardRestart(slices, of: flows, kernel, context)
    }

    /// Processes the inputs that waited for the restart.
    private func endRestart(at now: Instant) {
        guard let ended = restart else { return }
        restart = nil
        commitLog.endRestart()
        for input in ended.takeHeld() {
            switch input {
            case .message(let message): receive(message, at: now)
            case .notice(let notice): receive(notice, at: now)
            case .envelope(let envelope): receive(envelope, at: now)
            }
        }
    }
}

extension GatewayStore {
    /// Prepares the store for the restarts of all shards, before the first of them: moves its times to the scale of this process, assigns the
    /// dialogs to partitions by the present configuration, and notes in the router those that their tags do not name.
    /// - Throws: when the store cannot be read or written.
    package func prepare(for router: inout ShardRouter, at now: Instant) throws(StoreFailure) {
        try adjustTimes(at: now)
        try assignDialogs { router.adopt($0) }
    }
}
