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
    /// Number of commits, failed ones included.
    public private(set) var commits = 0
    /// Number of times that each record was stored.
    public private(set) var puts: [StoreKey: Int] = [:]
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
            case .put(let record):
                records[record.key] = record
                puts[record.key, default: 0] += 1
            case .remove(let key): records[key] = nil
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

    /// The clock of the newest commit.
    public func loadClock() throws(StoreFailure) -> StoredClock? { clock }
}
