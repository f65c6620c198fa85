import SIPCore

/// A part of the shard that has steps in a restart.
protocol RestartMember: AnyObject {
    /// Completes a phase of a restart, after the records of all flows in it, or a part of at most ``Restart/stepLimit`` records.
    /// - Returns: whether the phase is complete; false: it is to be called again.
    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool
}

/// A flow that keeps records in the store.
protocol Persistent: RestartMember {
    /// The present record of a key; nil: nothing to store, or the key of another flow.
    func record(of key: StoreKey) -> StoreRecord?

    // MARK: restart

    /// Place of a record in the order of a restart; nil: the record of another flow.
    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank?

    /// Restores a record of this flow.
    /// - Returns: false if the record cannot be read, or belongs to a domain that is no longer configured.
    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool

    // MARK: failed commits

    /// Takes the stored records in place of those of a failed commit.
    /// - Returns: a step that follows when all flows have their records; nil: none.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)?
}

extension Persistent {
    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool { true }
}
