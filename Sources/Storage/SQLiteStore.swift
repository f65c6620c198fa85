import GRDB
import PresenceGateway
import SIPCore
import Synchronization

/// A ``PresenceGateway/GatewayStore`` in one SQLite file, shared by all shards of a process.
///
/// WAL mode: a commit is one append to `PATH-wal`; `sqlite3 PATH .backup` and queries of the SQLite shell work beside it.
/// With ``Synchronous/normal`` a commit survives the end of the process, but may be lost with the loss of power.
/// ``FileLock`` keeps a second process out and gives the files mode 0600. A store that is full, locked or damaged throws,
/// and nothing of that commit is kept.
package final class SQLiteStore: GatewayStore, Sendable {
    /// Durability of a commit (`PRAGMA synchronous`).
    package enum Synchronous: String, Sendable, CaseIterable {
        /// Commits survive the end of the process.
        case normal
        /// Commits also survive the loss of power; each commit waits for the disk.
        case full
    }

    /// Settings of a store; the defaults are ``Synchronous/normal`` and no size limit.
    package struct Options: Hashable, Sendable {
        /// Durability of a commit.
        package var synchronous = Synchronous.normal
        /// Largest size of the database in bytes, rounded down to whole pages; nil: as large as the disk allows.
        package var maximumBytes: Int?

        /// Creates the default settings.
        package init() {}
    }

    /// The path as given to ``init(path:options:)``, with symbolic links unresolved.
    package let path: String
    private let database: DatabaseQueue
    /// Used on the queue of the database; nil while the store is closed.
    private let writer: Mutex<StoreWriter?>
    private let lock: FileLock

    /// Opens the store, creates it if it is missing, and migrates an older schema.
    /// - Throws: `StoreFailure` with the file name if the file cannot be created or written, another process uses it, it is
    ///   empty, it is a database of another program, or its schema is newer than this version knows.
    package init(path: String, options: Options = Options()) throws(StoreFailure) {
        self.path = path
        let lock = try FileLock(path)
        do {
            let database = try DatabaseQueue(path: lock.path, configuration: Self.configuration(options))
            writer = Mutex(
                try database.inDatabase { database in
                    try Schema.settle(database)
                    return try StoreWriter(database)
                })
            self.database = database
        } catch {
            lock.removeIfMade()
            throw Self.failure(error, path)
        }
        self.lock = lock
    }

    /// Closes the database before the lock: closing the locked file first would release SQLite's POSIX locks (fcntl(2)).
    deinit {
        writer.withLock { $0 = nil }
        try? database.close()
    }

    /// Checks whether ``init(path:options:)`` would succeed with the present file. Changes nothing, and ignores a process
    /// that has the store open.
    /// - Throws: `StoreFailure` with the reason.
    package static func check(path: String) throws(StoreFailure) {
        guard try FileLock.check(path) else { return try FileLock.checkDirectory(of: path) }
        var configuration = Configuration()
        configuration.readonly = true
        do {
            try DatabaseQueue(path: path, configuration: configuration).read { try Schema.check($0) }
        } catch {
            throw failure(error, path)
        }
        try FileLock.checkWritable(path)
    }

    /// Pages in the log after which a commit copies them to the database: 16 MiB. A page that was changed several times is copied once.
    private static let checkpointPages = 4_096

    private static func configuration(_ options: Options) -> Configuration {
        var configuration = Configuration()
        configuration.journalMode = .wal
        // For opening and for commits outside a StoreWorker, which has a patience of its own.
        configuration.busyMode = .timeout(0.25)
        configuration.label = "isthmus.store"
        configuration.prepareDatabase { database in
            try database.execute(sql: "PRAGMA synchronous = \(options.synchronous.rawValue)")
            _ = try Int.fetchOne(database, sql: "PRAGMA wal_autocheckpoint = \(Self.checkpointPages)")
            if let bytes = options.maximumBytes {
                let pageSize = try Int.fetchOne(database, sql: "PRAGMA page_size") ?? 4_096
                _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(max(1, bytes / pageSize))")
            }
        }
        return configuration
    }

    // MARK: GatewayStore

    /// Applies all changes in one transaction, or none of them.
    /// - Throws: `StoreFailure` with the path and SQLite's error code, for example when the store is full, or locked by another process for
    ///   more than 0.25 s; of a store that a ``StoreWorker`` uses, for longer than the patience of the worker.
    package func commit(_ changes: [StoreChange]) throws(StoreFailure) {
        do throws(TransactionFailure) { try apply(changes) } catch { throw error.failure }
    }

    /// Failure of a transaction.
    struct TransactionFailure: Error {
        /// false: another transaction would fail now for the same reason, such as the lock of another process.
        var hasBegun: Bool
        var failure: StoreFailure
    }

    /// Applies all changes in one transaction, or none of them.
    func apply(_ changes: [StoreChange]) throws(TransactionFailure) {
        var hasBegun = false
        do {
            try database.inDatabase { _ in try writing { try $0.apply(changes, hasBegun: &hasBegun) } }
        } catch {
            throw TransactionFailure(hasBegun: hasBegun, failure: Self.failure(error, path))
        }
    }

    /// Sets the longest wait of a transaction for another process that has locked the database, in whole milliseconds.
    func setPatience(_ span: TimeSpan) throws(StoreFailure) {
        do {
            try database.inDatabase { try $0.execute(sql: "PRAGMA busy_timeout = \(max(1, span.nanoseconds / 1_000_000))") }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Reads all records, grouped by table, in no particular order within a table.
    /// - Throws: `StoreFailure` if the database cannot be read or a column holds a value of the wrong type.
    package func load() throws(StoreFailure) -> [StoreRecord] {
        do {
            return try database.read { database in
                try PresentityTable.load(database).map(StoreRecord.presentity)
                    + PublicationTable.load(database).map(StoreRecord.publication)
                    + DialogTable.load(database).map(StoreRecord.dialog)
                    + UpstreamSubscriptionTable.load(database).map(StoreRecord.upstreamSubscription)
                    + RegistrationTable.load(database).map(StoreRecord.registration)
                    + UserDocumentTable.contacts.load(database).map(StoreRecord.contacts)
                    + UserDocumentTable.accessList.load(database).map(StoreRecord.accessList)
                    + BridgeTable.load(database).map(StoreRecord.bridge)
                    + ShownWatcherTable.load(database).map(StoreRecord.shownWatcher)
                    + SignOffTable.load(database).map(StoreRecord.signOff)
                    + DocumentTable.load(database).map(StoreRecord.document)
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Reads the stored ones of the records with these keys, by primary key.
    /// - Throws: `StoreFailure` as ``load()``.
    package func load(_ keys: [StoreKey]) throws(StoreFailure) -> [StoreRecord] {
        do {
            return try database.read { database in try Set(keys).flatMap { try records(of: $0, database) } }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Reads the records of these kinds in a slice, by the indexes of partitions.
    /// - Throws: `StoreFailure` as ``load()``.
    package func load(_ kinds: Set<StoreKind>, of slice: PartitionSlice) throws(StoreFailure) -> [StoreRecord] {
        do {
            return try database.read { database in
                try StoreKind.allCases.filter(kinds.contains).flatMap { try records($0, of: slice, database) }
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Assigns every dialog and upstream subscription to a partition, and writes those with another one than before.
    /// - Throws: `StoreFailure` as ``commit(_:)`` and ``load()``.
    package func assignDialogs(by partition: (DialogAssignment) -> Int) throws(StoreFailure) {
        do {
            try database.inTransaction(.immediate) { database in
                for (table, details) in [("dialog", "details"), ("leg", "'' AS details")] {
                    var moved: [(tag: String, part: Int)] = []
                    let rows = try Row.fetchCursor(database, sql: "SELECT tag, owner, watcher, part, \(details) FROM \(table)")
                    while let row = try rows.next() {
                        let columns = Columns(table: table, row: row)
                        let assignment = DialogAssignment(
                            tag: try columns.text("tag"), owner: try columns.text("owner"), watcher: try columns.text("watcher"),
                            details: try columns.pairs("details"))
                        let part = partition(assignment)
                        if try columns.integer("part") != part { moved.append((assignment.tag, part)) }
                    }
                    let update = try database.cachedStatement(sql: "UPDATE \(table) SET part = ? WHERE tag = ?")
                    for (tag, part) in moved { try update.execute(arguments: [part, tag]) }
                }
                return .commit
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Moves all times by a span, and stores the clock, in one transaction; at most 64 partitions are in memory at a time.
    /// - Throws: `StoreFailure` as ``commit(_:)`` and ``load()``.
    package func shiftTimes(by span: TimeSpan, _ clock: StoredClock) throws(StoreFailure) {
        do {
            try database.inTransaction(.immediate) { database in
                for slice in PartitionSlice.slices(of: 0, among: 1, size: 64) {
                    for kind in StoreKind.allCases {
                        let records = try records(kind, of: slice, database)
                        try writing { writer in for record in records { try writer.put(record.shifted(by: span)) } }
                    }
                }
                try writing { try $0.put(clock) }
                return .commit
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Reads the stored clock; nil if no commit has stored one yet.
    package func loadClock() throws(StoreFailure) -> StoredClock? {
        do {
            return try database.read { database in
                guard let row = try Row.fetchOne(database, sql: "SELECT committed, step FROM clock") else { return nil }
                let columns = Columns(table: "clock", row: row)
                return StoredClock(
                    committed: try columns.instant("committed"), step: TimeSpan(nanoseconds: try columns.integer("step")))
            }
        } catch {
            throw Self.failure(error, path)
        }
    }

    /// Uses the writer, on the queue of the database.
    private func writing(_ body: (StoreWriter) throws -> Void) throws {
        try writer.withLock { writer in
            guard let writer else { throw StoreFailure("\(path): the store is closed") }
            try body(writer)
        }
    }

    /// The record with this key, if it is stored.
    private func records(of key: StoreKey, _ database: Database) throws -> [StoreRecord] {
        let row = key.place.row
        return switch key {
        case .presentity: try PresentityTable.load(database, row).map(StoreRecord.presentity)
        case .publication: try PublicationTable.load(database, row).map(StoreRecord.publication)
        case .dialog: try DialogTable.load(database, row).map(StoreRecord.dialog)
        case .upstreamSubscription: try UpstreamSubscriptionTable.load(database, row).map(StoreRecord.upstreamSubscription)
        case .registration: try RegistrationTable.load(database, row).map(StoreRecord.registration)
        case .contacts: try UserDocumentTable.contacts.load(database, row).map(StoreRecord.contacts)
        case .accessList: try UserDocumentTable.accessList.load(database, row).map(StoreRecord.accessList)
        case .bridge: try BridgeTable.load(database, row).map(StoreRecord.bridge)
        case .shownWatcher: try ShownWatcherTable.load(database, row).map(StoreRecord.shownWatcher)
        case .signOff: try SignOffTable.load(database, row).map(StoreRecord.signOff)
        case .document: try DocumentTable.load(database, row).map(StoreRecord.document)
        }
    }

    /// The records of a kind in a slice.
    private func records(_ kind: StoreKind, of slice: PartitionSlice, _ database: Database) throws -> [StoreRecord] {
        let rows = RowSelection(slice)
        return switch kind {
        case .presentity: try PresentityTable.load(database, rows).map(StoreRecord.presentity)
        case .publication: try PublicationTable.load(database, rows).map(StoreRecord.publication)
        case .presenceDialog: try DialogTable.load(database, ofPresence: true, in: slice).map(StoreRecord.dialog)
        case .otherDialog: try DialogTable.load(database, ofPresence: false, in: slice).map(StoreRecord.dialog)
        case .upstreamSubscription: try UpstreamSubscriptionTable.load(database, in: slice).map(StoreRecord.upstreamSubscription)
        case .registration: try RegistrationTable.load(database, rows).map(StoreRecord.registration)
        case .contacts: try UserDocumentTable.contacts.load(database, rows).map(StoreRecord.contacts)
        case .accessList: try UserDocumentTable.accessList.load(database, rows).map(StoreRecord.accessList)
        case .bridge: try BridgeTable.load(database, in: slice).map(StoreRecord.bridge)
        case .shownWatcher: try ShownWatcherTable.load(database, rows).map(StoreRecord.shownWatcher)
        case .signOff: try SignOffTable.load(database, rows).map(StoreRecord.signOff)
        case .document: try DocumentTable.load(database, rows).map(StoreRecord.document)
        }
    }

    private static func failure(_ error: any Error, _ path: String) -> StoreFailure {
        if let failure = error as? StoreFailure { return failure }
        guard let error = error as? DatabaseError else { return StoreFailure("\(path): \(error)") }
        return StoreFailure("\(path): \(error.message ?? "SQLite error") (SQLite \(error.extendedResultCode.rawValue))")
    }
}
