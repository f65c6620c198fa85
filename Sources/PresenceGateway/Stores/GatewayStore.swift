/// Where a gateway's state survives the process: publications, user data, registrations and dialogs.
///
/// The gateway notes the key of everything that changes (``Gateway/keep(_:)``). In ``Gateway/takeOutput()``, before anything that
/// depends on the changes leaves, it makes the records as they are then and hands them over in one call (group commit), so that
/// after each successful commit the store holds exactly what the tables hold.
///
/// One store serves one shard; several may stand on one database.
public protocol GatewayStore: AnyObject {
    /// Keeps all of the changes or none.
    /// - Throws: when they are not kept: disk full, database locked, damaged or gone. The gateway gives them again, with later ones.
    func commit(_ changes: [StoreChange]) throws(StoreFailure)

    /// Every record that is kept, of all shards, in no particular order.
    func load() throws(StoreFailure) -> [StoreRecord]

    /// The clock of the newest commit; nil: none was kept.
    func loadClock() throws(StoreFailure) -> StoredClock?
}

/// One change to what is kept; each key appears once in a commit.
public enum StoreChange: Hashable, Sendable {
    /// The record is new, or replaces that of its key.
    case put(StoreRecord)
    /// Nothing is kept under the key any more; it need not have been there.
    case remove(StoreKey)
    /// When the commit is made, by which clock.
    case clock(StoredClock)
}

/// Why the store cannot keep or give records.
public struct StoreFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// What the database said, with the file's name where there is one.
    public var description: String

    public init(_ description: String) { self.description = description }
}

/// Keeps records as long as the process lives: for tests that kill a gateway and build it anew on what it had kept.
public final class MemoryStore: GatewayStore {
    public private(set) var records: [StoreKey: StoreRecord] = [:]
    public private(set) var clock: StoredClock?
    /// How many commits were asked for.
    public private(set) var commits = 0
    /// While set, nothing is kept.
    public var failure: StoreFailure?

    public init() {}

    public func commit(_ changes: [StoreChange]) throws(StoreFailure) {
        commits += 1
        if let failure { throw failure }
        for change in changes {
            switch change {
            case .put(let record): records[record.key] = record
            case .remove(let key): records[key] = nil
            case .clock(let clock): self.clock = clock
            }
        }
    }

    public func load() throws(StoreFailure) -> [StoreRecord] {
        if let failure { throw failure }
        return Array(records.values)
    }

    public func loadClock() throws(StoreFailure) -> StoredClock? { clock }
}
