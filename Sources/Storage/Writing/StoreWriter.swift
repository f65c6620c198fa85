import GRDB
import GRDBSQLite
import PresenceGateway
import SIPCore

/// Text of a statement that a ``StoreWriter`` prepares once.
final class SQLStatement: Sendable {
    let text: String

    init(_ text: String) { self.text = text }
}

/// Writes to the database by SQLite's C interface: statements are prepared once, and values are bound without copies.
///
/// Used on the queue of its database alone, and deallocated before the database is closed.
final class StoreWriter: @unchecked Sendable {
    /// Statements for the reads that a change needs.
    let database: Database
    private let connection: OpaquePointer
    private let values = StatementValues()
    private let log = LogBuffer()
    private var prepared: [ObjectIdentifier: OpaquePointer] = [:]
    /// The stored clock, if ``apply(_:hasBegun:)`` has stored it; nil from ``put(_:)`` of another one until that is committed, and while
    /// it is not known which one is stored.
    private var clock: StoredClock?

    /// The stored clock is older than the newest commit by less than this, so that not every commit writes its page.
    static let clockPrecision = TimeSpan.milliseconds(100)

    init(_ database: Database) throws {
        guard let connection = database.sqliteConnection else { throw DatabaseError(resultCode: .SQLITE_MISUSE) }
        self.database = database
        self.connection = connection
    }

    deinit {
        for statement in prepared.values { sqlite3_finalize(statement) }
    }

    /// Carries out a statement that returns no rows.
    /// - Parameter bind: adds a value for each parameter.
    func run(_ statement: SQLStatement, _ bind: (StatementValues) -> Void = { _ in }) throws {
        let handle = try handle(of: statement)
        values.begin(handle)
        bind(values)
        var code = values.finish()
        if code == SQLITE_OK { code = sqlite3_step(handle) }
        let error = code == SQLITE_DONE ? nil : failure(code)
        sqlite3_reset(handle)
        if let error { throw error }
    }

    /// Applies changes in one transaction, or none of them.
    /// - Parameter hasBegun: set when the transaction has begun.
    func apply(_ changes: [StoreChange], hasBegun: inout Bool) throws {
        try run(Self.begin)
        hasBegun = true
        do {
            let newClock = try write(changes)
            try commit()
            if let newClock { clock = newClock }
        } catch {
            // SQLite has ended the transaction itself after some failures.
            if sqlite3_get_autocommit(connection) == 0 { try? run(Self.rollback) }
            throw error
        }
    }

    /// - Returns: the clock, if it was written.
    private func write(_ changes: [StoreChange]) throws -> StoredClock? {
        var newest: StoredClock?
        var records = 0
        for change in changes {
            switch change {
            case .put(let record):
                try put(record)
                records += 1
            case .remove(let key):
                try remove(key)
                records += 1
            case .clock(let clock): newest = clock
            }
        }
        // A commit without records shows whether the file can be written, so it writes.
        guard let newest, records == 0 || isDue(newest) else { return nil }
        try put(newest)
        return newest
    }

    private func isDue(_ new: StoredClock) -> Bool {
        guard let clock, clock.step == new.step else { return true }
        return new.committed - clock.committed >= Self.clockPrecision || new.committed < clock.committed
    }

    private func commit() throws {
        log.attach(to: connection)
        do {
            try run(Self.commit)
        } catch {
            log.detach(keepingBytes: false)
            throw error
        }
        let code = log.detach(keepingBytes: true)
        guard code == SQLITE_OK else { throw DatabaseError(resultCode: ResultCode(rawValue: code), message: "the log cannot be written") }
    }

    private static let begin = SQLStatement("BEGIN IMMEDIATE")
    private static let commit = SQLStatement("COMMIT")
    private static let rollback = SQLStatement("ROLLBACK")

    private func handle(of statement: SQLStatement) throws -> OpaquePointer {
        if let handle = prepared[ObjectIdentifier(statement)] { return handle }
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, statement.text, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK, let handle else { throw failure(code) }
        prepared[ObjectIdentifier(statement)] = handle
        return handle
    }

    private func failure(_ code: Int32) -> DatabaseError {
        DatabaseError(resultCode: ResultCode(rawValue: code), message: String(cString: sqlite3_errmsg(connection)))
    }

    // MARK: changes

    func put(_ record: StoreRecord) throws {
        switch record {
        case .presentity(let stored): try PresentityTable.put(stored, self)
        case .publication(let stored): try PublicationTable.put(stored, self)
        case .dialog(let stored): try DialogTable.put(stored, self)
        case .upstreamSubscription(let stored): try UpstreamSubscriptionTable.put(stored, self)
        case .registration(let stored): try RegistrationTable.put(stored, self)
        case .contacts(let stored): try UserDocumentTable.contacts.put(stored, self)
        case .accessList(let stored): try UserDocumentTable.accessList.put(stored, self)
        case .bridge(let stored): try BridgeTable.put(stored, self)
        case .shownWatcher(let stored): try ShownWatcherTable.put(stored, self)
        case .signOff(let stored): try SignOffTable.put(stored, self)
        case .document(let stored): try DocumentTable.put(stored, self)
        }
    }

    func put(_ clock: StoredClock) throws {
        self.clock = nil
        try run(Self.putClock) { values in
            values.add(clock.committed)
            values.add(clock.step.nanoseconds)
        }
    }

    private func remove(_ key: StoreKey) throws {
        switch key {
        case .presentity(let user): try run(PresentityTable.delete) { $0.add(user) }
        case .publication(let presentity, let tag):
            try run(PublicationTable.delete) {
                $0.add(PartitionSlice.partition(ofUser: presentity))
                $0.add(presentity)
                $0.add(tag)
            }
        case .dialog(let tag): try run(DialogTable.delete) { $0.add(tag) }
        case .upstreamSubscription(let tag): try run(UpstreamSubscriptionTable.delete) { $0.add(tag) }
        case .registration(let user, let place):
            try run(RegistrationTable.delete) {
                $0.add(user)
                $0.add(place)
            }
        case .contacts(let user): try run(UserDocumentTable.contacts.delete) { $0.add(user) }
        case .accessList(let user): try run(UserDocumentTable.accessList.delete) { $0.add(user) }
        case .bridge(let user): try run(BridgeTable.delete) { $0.add(user) }
        case .shownWatcher(let presentity, let watcher):
            try run(ShownWatcherTable.delete) {
                $0.add(PartitionSlice.partition(ofUser: presentity))
                $0.add(presentity)
                $0.add(watcher)
            }
        case .signOff(let presentity, let number):
            try run(SignOffTable.delete) {
                $0.add(presentity)
                $0.add(number)
            }
        case .document(let user, let auid, let name):
            try run(DocumentTable.delete) {
                $0.add(user)
                $0.add(auid)
                $0.add(name)
            }
        }
    }

    private static let putClock = SQLStatement("INSERT OR REPLACE INTO clock (id, committed, step) VALUES (1, ?, ?)")
}
