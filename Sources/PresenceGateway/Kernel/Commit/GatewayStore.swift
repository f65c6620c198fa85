import SIPCore

/// Persistent store of a gateway: publications, user data, registrations and dialogs.
///
/// The kernel collects the keys of changed records. At the end of a tick, before messages that depend on the changes are sent, it passes
/// their records in one call (group commit), so that after each successful commit the store holds exactly the state of the tables.
///
/// One store serves one shard; several may share a database.
public protocol GatewayStore: AnyObject {
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
public enum StoreChange: Hashable, Sendable {
    /// Adds the record, or replaces the one with its key.
    case put(StoreRecord)
    /// Removes the record with the key, if there is one.
    case remove(StoreKey)
    /// Time of the commit, and the step of the clock.
    case clock(StoredClock)
}

/// Failure of a store to write or read records.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Message of the database, with the file's name if there is one.
    public var description: String

    /// Creates a failure.
    public init(_ description: String) { self.description = description }
}

/// Store in memory, for tests that stop a gateway and restore another from its records.
public final class MemoryStore: GatewayStore {
    /// Records by key.
    public private(set) var records: [StoreKey: StoreRecord] = [:]
    /// Clock of the newest commit.
    public private(set) var clock: StoredClock?
    /// Partitions of dialogs that are not assigned by their owner.
    private var assigned: [StoreKey: Int] = [:]
    /// Number of commits, failed ones included.
    public private(set) var commits = 0
    /// Failure of all commits while set.
    public var failure: StoreFailure?
    /// Failure of all loads while set.
    public var loadFailure: StoreFailure?

    /// Creates an empty store.
    public init() {}

    /// Stores the changes.
    public func commit(_ changes: [StoreChange]) throws(StoreFailure) {
        commits += 1
        if let failure { throw failure }
        for change in changes {
            switch change {
            case .put(let record): records[record.key] = record
            case .remove(let key):
                records[key] = nil
                assigned[key] = nil
            case .clock(let clock): self.clock = clock
            }
        }
    }

    /// All records.
    public func load() throws(StoreFailure) -> [StoreRecord] {
        if let loadFailure { throw loadFailure }
        return Array(records.values)
    }

    /// The stored ones of the records with these keys.
    public func load(_ keys: [StoreKey]) throws(StoreFailure) -> [StoreRecord] {
        if let loadFailure { throw loadFailure }
        return keys.compactMap { records[$0] }
    }

    /// The records of these kinds in a slice.
    public func load(_ kinds: Set<StoreKind>, of slice: PartitionSlice) throws(StoreFailure) -> [StoreRecord] {
        if let loadFailure { throw loadFailure }
        return records.values.filter { kinds.contains($0.kind) && slice.contains(assigned[$0.key] ?? $0.partition) }
    }

    /// Assigns every dialog and upstream subscription to a partition.
    public func assignDialogs(by partition: (DialogAssignment) -> Int) throws(StoreFailure) {
        if let loadFailure { throw loadFailure }
        for record in records.values {
            guard let assignment = DialogAssignment(record) else { continue }
            let number = partition(assignment)
            assigned[record.key] = number == record.partition ? nil : number
        }
    }

    /// Moves all times.
    public func shiftTimes(by span: TimeSpan, _ clock: StoredClock) throws(StoreFailure) {
        try commit(try load().map { .put($0.shifted(by: span)) } + [.clock(clock)])
    }

    /// The clock of the newest commit.
    public func loadClock() throws(StoreFailure) -> StoredClock? { clock }
}
