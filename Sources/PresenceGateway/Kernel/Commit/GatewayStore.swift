import SIPCore

/// Persistent store of a gateway: publications, user data, registrations and dialogs.
///
/// The kernel collects the keys of changed records. At the end of a tick, before messages that depend on the changes are sent, it passes
/// their records in one call (group commit), so that after each successful commit the store holds exactly the state of the tables.
///
/// One store serves one shard; several may share a database.
package protocol GatewayStore: AnyObject {
    /// Stores all of the changes or none.
    /// - Throws: if they are not stored: disk full, database locked, damaged or gone. The gateway passes them again, with later ones.
    func commit(_ changes: [StoreChange]) throws(StoreFailure)

    /// All records, of all shards, in no particular order.
    func load() throws(StoreFailure) -> [StoreRecord]

    /// The stored ones of the records with these keys.
    func load(_ keys: [StoreKey]) throws(StoreFailure) -> [StoreRecord]

    /// The records of these kinds in a slice, of the partitions that were assigned to them, in no particular order.
    func load(_ kinds: Set<StoreKind>, of slice: PartitionSlice) throws(StoreFailure) -> [StoreRecord]

    /// Assigns every dialog and upstream subscription to a partition, because the configuration, by which they are assigned, may have
    /// changed. The assignment stays while the record exists.
    /// - Parameter partition: number of the partition.
    func assignDialogs(by partition: (DialogAssignment) -> Int) throws(StoreFailure)

    /// Moves all times by a span, and stores the clock, at once or not at all.
    func shiftTimes(by span: TimeSpan, _ clock: StoredClock) throws(StoreFailure)

    /// The clock of the newest commit; nil: there was no commit.
    func loadClock() throws(StoreFailure) -> StoredClock?
}

/// Change of the stored records; each key appears once in a commit.
package enum StoreChange: Hashable, Sendable {
    /// Adds the record, or replaces the one with its key.
    case put(StoreRecord)
    /// Removes the record with the key, if there is one.
    case remove(StoreKey)
    /// Time of the commit, and the step of the clock.
    case clock(StoredClock)
}

/// Failure of a store to write or read records.
package struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Message of the database, with the file's name if there is one.
    package var description: String

    /// Creates a failure.
    package init(_ description: String) { self.description = description }
}

/// Store in memory, for tests that stop a gateway and restore another from its records.
package final class MemoryStore: GatewayStore {
    /// Records by key.
    package private(set) var records: [StoreKey: StoreRecord] = [:]
    /// Clock of the newest commit.
    package private(set) var clock: StoredClock?
    /// Partitions of dialogs that are not assigned by their owner.
    private var assigned: [StoreKey: Int] = [:]
    /// Number of commits, failed ones included.
    package private(set) var commits = 0
    /// Number of times that each record was stored.
    package private(set) var puts: [StoreKey: Int] = [:]
    /// Failure of all commits while set.
    package var failure: StoreFailure?
    /// Failure of all loads while set.
    package var loadFailure: StoreFailure?

    /// Creates an empty store.
    package init() {}

    /// Stores the changes.
    package func commit(_ changes: [StoreChange]) throws(StoreFailure) {
        commits += 1
        if let failure { throw failure }
        for change in changes {
            switch change {
            case .put(let record):
                records[record.key] = record
                puts[record.key, default: 0] += 1
            case .remove(let key):
                records[key] = nil
                assigned[key] = nil
            case .clock(let clock): self.clock = clock
            }
        }
    }

    /// All records.
    package func load() throws(StoreFailure) -> [StoreRecord] {
        if let loadFailure { throw loadFailure }
        return Array(records.values)
    }

    /// The stored ones of the records with these keys.
    package func load(_ keys: [StoreKey]) throws(StoreFailure) -> [StoreRecord] {
        if let loadFailure { throw loadFailure }
        return keys.compactMap { records[$0] }
    }

    /// The records of these kinds in a slice.
    package func load(_ kinds: Set<StoreKind>, of slice: PartitionSlice) throws(StoreFailure) -> [StoreRecord] {
        if let loadFailure { throw loadFailure }
        return records.values.filter { kinds.contains($0.kind) && slice.contains(assigned[$0.key] ?? $0.partition) }
    }

    /// Assigns every dialog and upstream subscription to a partition.
    package func assignDialogs(by partition: (DialogAssignment) -> Int) throws(StoreFailure) {
        if let loadFailure { throw loadFailure }
        for record in records.values {
            guard let assignment = DialogAssignment(record) else { continue }
            let number = partition(assignment)
            assigned[record.key] = number == record.partition ? nil : number
        }
    }

    /// Moves all times.
    package func shiftTimes(by span: TimeSpan, _ clock: StoredClock) throws(StoreFailure) {
        try commit(try load().map { .put($0.shifted(by: span)) } + [.clock(clock)])
    }

    /// The clock of the newest commit.
    package func loadClock() throws(StoreFailure) -> StoredClock? { clock }
}
