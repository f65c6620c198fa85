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

/// Restart from the state that an earlier process stored.
///
///     records of this shard --rank of each flow--> phases (``RestartPhase``), each: records restored --> completed by every flow
extension Gateway {
    /// Restores the records of this shard; call it once, before the first message.
    ///
    /// A watcher is notified only if its presence differs from the last notification. Notifications follow the dialog's route set;
    /// watchers that were reached over a connection only may come back with a SUBSCRIBE in their dialog
    /// (``GatewayTiming/restartGrace``).
    /// - Throws: when the store cannot be read.
    @discardableResult
    package func restore(at now: Instant) throws(StoreFailure) -> RestoredState {
        guard let store else { return RestoredState() }
        return restore(try store.load(at: now), at: now)
    }

    /// Restores from loaded records; records of other shards are ignored.
    @discardableResult
    package func restore(_ loaded: [StoreRecord], at now: Instant) -> RestoredState {
        commitLog.noteInput(at: now)
        let router = ShardRouter(shards: shards, for: configuration)
        let records = shards == 1 ? loaded : loaded.filter { router.shard(ofKey: router.owner(of: $0)) == shard }
        var waiting = ranked(records, at: now)[...]
        var restart = Restart()
        for phase in RestartPhase.allCases {
            while let (record, flow, rank) = waiting.first, rank.phase == phase {
                if !flow.restore(record, &restart, at: now) { leaveOut(record.key, &restart.state) }
                waiting.removeFirst()
            }
            for member in flows.restartMembers { member.complete(phase, &restart, at: now) }
        }
        return restart.state
    }

    /// The records with the flow of each, in the order of restoring.
    private func ranked(_ records: [StoreRecord], at now: Instant) -> [(record: StoreRecord, flow: any Persistent, rank: RestoreRank)] {
        let ranked = records.compactMap { record in
            flows.persistent.lazy.compactMap { flow in flow.rank(of: record, at: now).map { (record: record, flow: flow, rank: $0) } }.first
        }
        return ranked.enumerated().sorted { ($0.element.rank, $0.offset) < ($1.element.rank, $1.offset) }.map(\.element)
    }

    private func leaveOut(_ key: StoreKey, _ state: inout RestoredState) {
        state.unreadable += 1
        log(.warning, "a stored record is left out", ["key": key.kind])
    }
}
