import Foundation
import GRDB
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Storage
import Testing

/// A directory of its own for one test.
final class Scratch {
    let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-store-\(UUID().uuidString.prefix(8))")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    var path: String { directory.appendingPathComponent("isthmus.db").path }
}

@Suite("The store in a SQLite file")
struct SQLiteStoreTests {
    @Test("every kind of record comes back as it was, also from a file opened anew")
    func roundTrip() throws {
        let scratch = try Scratch()
        let records: Set<StoreRecord> = [
            Records.presentity("sip:a@example.com"), Records.presentity("sip:b@example.com", document: [0xFE, 0xFF], isSimpleNewer: true),
            Records.publication("sip:a@example.com", "t1", ids: ["p": "p-2", Records.awkward: ""]),
            Records.publication("sip:a@example.com", "t2"), Records.dialog("d1"), Records.dialog("d2", resources: 3, remoteCSeq: nil),
            Records.dialog("d3", resources: 0), Records.upstreamSubscription("l1"), Records.upstreamSubscription("l2", resources: 3),
            Records.upstreamSubscription("l3", isResting: true),
            Records.registration("sip:a@example.com", "e1"),
            Records.registration("sip:a@example.com", "e2", endpoint: "e2"), Records.contacts("sip:a@example.com", 4_294_967_295),
            Records.accessList("sip:a@example.com", 0), Records.bridge("sip:a@example.com"),
            Records.bridge("sip:b@example.com", .publish, items: 0), Records.shownWatcher("sip:a@example.com", Records.awkward),
            Records.shownWatcher("sip:a@example.com", "w@contoso.com", signOff: 4_294_967_295),
            Records.signOff("sip:a@example.com", 4_294_967_295), Records.signOff("sip:a@example.com", 2, document: [0xFE, 0xFF]),
        ]
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit(records.map(StoreChange.put))
            #expect(try Set(store.load()) == records)
        }
        var options = SQLiteStore.Options()
        options.synchronous = .full
        #expect(try Set(SQLiteStore(path: scratch.path, options: options).load()) == records)
    }

    @Test("the clock of the newest commit comes back, and times are moved to that of the next process, once")
    func clock() throws {
        let scratch = try Scratch()
        let start = Instant(secondsSince1970: 1_700_000_000)
        let records: [StoreRecord] = [
            Records.publication("sip:a@example.com", "t"), Records.dialog("d1"), Records.upstreamSubscription("l1"),
            Records.upstreamSubscription("l2", isResting: true),
            Records.registration("sip:a@example.com", "e1"), Records.contacts("sip:a@example.com", 3),
            .bridge(
                StoredBridge(
                    user: "sip:b@example.com", way: .service, uri: "sip:b@example.com", details: ["lapse": "1000", "tag": "1000"],
                    items: [.init(kind: "source", name: "s", details: ["until": "2000", "renew": "3000", "lineage": "4000"])])),
            Records.shownWatcher("sip:a@example.com", "w@contoso.com", signOff: 1), Records.signOff("sip:a@example.com", 1),
        ]
        /// The times of a record in nanoseconds, and what looks like one.
        func times(_ record: StoreRecord) -> [Int64] {
            switch record {
            case .publication(let stored): [stored.arrived, stored.expiry].map(\.nanosecondsSince1970)
            case .dialog(let stored): [stored.expiry.nanosecondsSince1970]
            case .upstreamSubscription(let stored): [stored.expiry, stored.restsUntil].compactMap { $0?.nanosecondsSince1970 }
            case .registration(let stored): [stored.expiry.nanosecondsSince1970]
            case .shownWatcher(let stored): [stored.shownAt.nanosecondsSince1970]
            case .signOff(let stored): [stored.moment.nanosecondsSince1970]
            case .bridge(let stored):
                ([stored.details] + stored.items.map(\.details)).flatMap { details in
                    ["lapse", "until", "renew"].compactMap { details[$0].flatMap { Int64($0) } }
                }
            default: []
            }
        }
        let before = Dictionary(uniqueKeysWithValues: records.map { ($0.key, times($0)) })
        do {
            let store = try SQLiteStore(path: scratch.path)
            #expect(try store.loadClock() == nil)
            try store.commit(records.map(StoreChange.put) + [.clock(StoredClock(committed: start, step: .zero))])
            try store.commit([.clock(StoredClock(committed: start + .seconds(5), step: .seconds(10_800)))])
        }
        let store = try SQLiteStore(path: scratch.path)
        #expect(try store.loadClock() == StoredClock(committed: start + .seconds(5), step: .seconds(10_800)))
        for _ in 0..<2 {
            let found = try store.load(at: start + .seconds(10_900))
            #expect(found.count == records.count)
            for record in found {
                #expect(times(record) == before[record.key]?.map { $0 + 10_800_000_000_000 }, "\(record.key)")
                guard case .bridge(let bridge) = record else { continue }
                #expect(bridge.details["tag"] == "1000" && bridge.items[0].details["lineage"] == "4000")
            }
        }
    }

    @Test("the stored clock is at most 100 ms behind the newest commit; steps and commits of the clock alone are stored at once")
    func clockPrecision() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let start = Instant(secondsSince1970: 1_700_000_000)
        func clock(after milliseconds: Int, step: TimeSpan = .zero, records: StoreRecord...) throws -> TimeSpan? {
            let clock = StoredClock(committed: start + .milliseconds(milliseconds), step: step)
            try store.commit(records.map(StoreChange.put) + [.clock(clock)])
            let stored = try store.loadClock()
            #expect(stored?.step == step)
            return stored.map { $0.committed - start }
        }
        let record = Records.contacts("sip:a@example.com", 1)
        #expect(try clock(after: 0, records: record) == .zero)
        #expect(try clock(after: 99, records: record) == .zero)
        #expect(try clock(after: 100, records: record) == .milliseconds(100))
        #expect(try clock(after: 150, step: .seconds(5), records: record) == .milliseconds(150))
        #expect(try clock(after: 151, step: .seconds(5), records: record) == .milliseconds(150))
        #expect(try clock(after: 152, step: .seconds(5)) == .milliseconds(152))
        #expect(try clock(after: 140, step: .seconds(5), records: record) == .milliseconds(140), "a commit before the stored one is stored")
        // A clock that was not stored is not taken for stored.
        try DatabaseQueue(path: scratch.path).write {
            try $0.execute(sql: "CREATE TRIGGER refusing BEFORE INSERT ON contacts BEGIN SELECT RAISE(ABORT, 'refused'); END")
        }
        let late = StoredClock(committed: start + .seconds(1), step: .seconds(5))
        #expect(throws: StoreFailure.self) { try store.commit([.clock(late), .put(record)]) }
        try store.commit([.put(Records.accessList("sip:a@example.com", 1)), .clock(late)])
        #expect(try store.loadClock() == late)
        // Nor is one that a shift of all times has replaced.
        try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: "DROP TRIGGER refusing") }
        try store.shiftTimes(by: .zero, StoredClock(committed: start + .seconds(9), step: .zero))
        try store.commit([.put(Records.accessList("sip:a@example.com", 2)), .clock(late)])
        #expect(try store.loadClock() == late)
    }

    @Test("any sequence of commits leaves what the same sequence leaves in memory", arguments: [UInt64(1), 2, 3])
    func likeMemory(seed: UInt64) throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let model = MemoryStore()
        var random = SeededRandom(seed: seed)
        for _ in 0..<60 {
            var changes: [StoreKey: StoreChange] = [:]
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let user = "sip:u\(Int.random(in: 0..<3, using: &random))@example.com"
                let name = "n\(Int.random(in: 0..<3, using: &random))"
                let record: StoreRecord =
                    switch Int.random(in: 0..<11, using: &random) {
                    case 0: Records.presentity(user, isSimpleNewer: Bool.random(using: &random))
                    case 1: Records.publication(user, name)
                    case 2:
                        Bool.random(using: &random)
                            ? Records.dialog(name, resources: Int.random(in: 0..<4, using: &random))
                            : Records.unmixedDialog(name, resources: Int.random(in: 0..<4, using: &random))
                    case 3: Records.registration(user, name)
                    case 4: Records.contacts(user, UInt32.random(in: 0...9, using: &random))
                    case 5: Records.bridge(user, items: Int.random(in: 0..<4, using: &random))
                    case 6:
                        Records.upstreamSubscription(
                            name, resources: Int.random(in: 0..<3, using: &random), isResting: Bool.random(using: &random))
                    case 7: Records.shownWatcher(user, name, signOff: Bool.random(using: &random) ? 1 : nil)
                    case 8: Records.signOff(user, UInt32.random(in: 1...2, using: &random))
                    case 9: Records.document(user, name)
                    default: Records.accessList(user, UInt32.random(in: 0...9, using: &random))
                    }
                changes[record.key] = Int.random(in: 0..<3, using: &random) == 0 ? .remove(record.key) : .put(record)
            }
            try store.commit(Array(changes.values))
            try model.commit(Array(changes.values))
            #expect(try Set(store.load()) == Set(model.load()))
        }
    }

    @Test("a commit that the file has no room for throws, names the file, and keeps nothing of it; the store goes on")
    func full() throws {
        let scratch = try Scratch()
        var options = SQLiteStore.Options()
        options.maximumBytes = 256 << 10
        let store = try SQLiteStore(path: scratch.path, options: options)
        try store.commit([.put(Records.presentity("sip:a@example.com"))])
        let before = try Set(store.load())
        let large = Records.presentity("sip:b@example.com", document: [UInt8](repeating: 0x61, count: 512 << 10))
        let failure = #expect(throws: StoreFailure.self) {
            try store.commit([.put(Records.presentity("sip:c@example.com")), .put(large), .remove(.presentity("sip:a@example.com"))])
        }
        #expect(failure?.description.contains(scratch.path) == true)
        #expect(failure?.description.contains("full") == true)
        #expect(try Set(store.load()) == before)
        try store.commit([.put(Records.presentity("sip:c@example.com"))])
        #expect(try store.load().count == 2)
    }

    @Test("a database that somebody else has locked throws after a moment, and works when it is free")
    func locked() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let other = try DatabaseQueue(path: scratch.path)
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            #expect(throws: StoreFailure.self) { try store.commit([.put(Records.presentity("sip:a@example.com"))]) }
            try database.execute(sql: "ROLLBACK")
        }
        try store.commit([.put(Records.presentity("sip:a@example.com"))])
        #expect(try store.load().count == 1)
    }

    @Test("a second process is kept out; when the first is gone it gets in")
    func secondProcess() throws {
        let scratch = try Scratch()
        var first: SQLiteStore? = try SQLiteStore(path: scratch.path)
        let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: scratch.path) }
        #expect(failure?.description.contains("another process") == true)
        #expect(throws: Never.self) { try SQLiteStore.check(path: scratch.path) }
        try first?.commit([])
        first = nil
        #expect(throws: Never.self) { try SQLiteStore(path: scratch.path) }
    }

    /// Runs a command of the system; its exit code.
    private func run(_ command: String, _ arguments: String...) throws -> Int32 {
        let process = try Process.run(URL(fileURLWithPath: command), arguments: arguments)
        process.waitUntilExit()
        return process.terminationStatus
    }

    @Test("another process is kept out of the database by whatever name it opens it", arguments: ["isthmus.db", "symbolic.db", "hard.db"])
    func otherNames(_ name: String) throws {
        let scratch = try Scratch()
        func path(_ name: String) -> String { scratch.directory.appendingPathComponent(name).path }
        _ = try SQLiteStore(path: scratch.path)
        #expect(symlink(scratch.path, path("symbolic.db")) == 0)
        #expect(link(scratch.path, path("hard.db")) == 0)
        // The other process has it: a shell that holds the lock of the file while it runs us out.
        let other = Process()
        other.executableURL = URL(fileURLWithPath: "/usr/bin/flock")
        let (input, output) = (Pipe(), Pipe())
        other.arguments = [scratch.path, "sh", "-c", "echo locked; cat"]
        other.standardInput = input
        other.standardOutput = output
        try other.run()
        #expect(output.fileHandleForReading.availableData == Data("locked\n".utf8))
        let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: path(name)) }
        #expect(failure?.description.contains("another process") == true)
        try input.fileHandleForWriting.close()
        other.waitUntilExit()
        // We have it.
        let store = try SQLiteStore(path: path(name))
        for taken in ["isthmus.db", "symbolic.db", "hard.db"] {
            #expect(try run("/usr/bin/flock", "-n", path(taken), "true") == 1, "\(taken)")
            #expect(throws: StoreFailure.self) { try SQLiteStore(path: path(taken)) }
        }
        try store.commit([.put(Records.presentity("sip:a@example.com"))])
    }

    @Test("a file of 0 octets is refused, and not taken for an empty store; one that is not there is made")
    func empty() throws {
        let scratch = try Scratch()
        try Data().write(to: URL(fileURLWithPath: scratch.path))
        let failure = #expect(throws: StoreFailure.self) { try SQLiteStore(path: scratch.path) }
        #expect(failure?.description.contains("has no octets") == true)
        #expect(throws: StoreFailure.self) { try SQLiteStore.check(path: scratch.path) }
        try FileManager.default.removeItem(atPath: scratch.path)
        #expect(throws: Never.self) { try SQLiteStore.check(path: scratch.path) }
        let store = try SQLiteStore(path: scratch.path)
        #expect(try store.load().isEmpty)
    }

    @Test("all files of a store can be read by their owner alone, those of an older store too")
    func modes() throws {
        let scratch = try Scratch()
        let names = ["isthmus.db", "isthmus.db-wal", "isthmus.db-shm", "isthmus.db.lock"]
        func modes() throws -> [String: Int] {
            try Dictionary(
                uniqueKeysWithValues: FileManager.default.contentsOfDirectory(atPath: scratch.directory.path).map { name in
                    let path = scratch.directory.appendingPathComponent(name).path
                    return (name, try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? 0)
                })
        }
        let mask = umask(0)
        defer { umask(mask) }
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit([.put(Records.presentity("sip:a@example.com"))])
            #expect(try modes() == Dictionary(uniqueKeysWithValues: names.map { ($0, 0o600) }))
            for name in names { chmod(scratch.directory.appendingPathComponent(name).path, 0o644) }
            // As kill -9 leaves them: with the log of the database beside it.
            let copy = scratch.directory.appendingPathComponent("copy").path
            try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: false)
            for name in names {
                try FileManager.default.copyItem(atPath: scratch.directory.appendingPathComponent(name).path, toPath: "\(copy)/\(name)")
            }
            let old = try SQLiteStore(path: "\(copy)/isthmus.db")
            #expect(try old.load().count == 1)
            for name in names {
                #expect(try FileManager.default.attributesOfItem(atPath: "\(copy)/\(name)")[.posixPermissions] as? Int == 0o600, "\(name)")
            }
        }
    }

    @Test("a newer schema, another program's database, a file that is none, and a place that cannot be written are refused and named")
    func refusals() throws {
        let scratch = try Scratch()
        func write(_ sql: String) throws {
            try? FileManager.default.removeItem(atPath: scratch.path)
            try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: sql) }
        }
        func refusal(_ path: String) -> String {
            let opened = #expect(throws: StoreFailure.self) { try SQLiteStore(path: path) }
            let checked = #expect(throws: StoreFailure.self) { try SQLiteStore.check(path: path) }
            #expect(checked?.description.contains(path) == true)
            return opened?.description ?? ""
        }
        try write("PRAGMA application_id = 1230197832; PRAGMA user_version = 99; CREATE TABLE presentity (user TEXT)")
        #expect(refusal(scratch.path).contains("schema version 99"))
        try write("CREATE TABLE something (name TEXT)")
        #expect(refusal(scratch.path).contains("another program"))
        try Data(repeating: 0x2A, count: 8_192).write(to: URL(fileURLWithPath: scratch.path))
        #expect(refusal(scratch.path).contains("not a database"))
        #expect(refusal("/proc/isthmus.db").contains("cannot be made"))
        #expect(throws: Never.self) { try SQLiteStore.check(path: scratch.directory.appendingPathComponent("new.db").path) }
    }

    /// Makes a file as version 6 left it.
    static let asVersion6 = """
        INSERT INTO resource (tag, place, uri, state, categories, delivered, hop_marks, is_told)
            SELECT tag, 0, resource_uri, 'active', categories, delivered, hop_marks, 1 FROM dialog WHERE resource_uri IS NOT NULL;
        ALTER TABLE dialog DROP COLUMN resource_rows;
        ALTER TABLE dialog DROP COLUMN resource_uri;
        ALTER TABLE dialog DROP COLUMN categories;
        ALTER TABLE dialog DROP COLUMN delivered;
        ALTER TABLE dialog DROP COLUMN hop_marks;
        CREATE TABLE new_publication (
            presentity TEXT NOT NULL, tag TEXT NOT NULL, uri TEXT NOT NULL, document TEXT NOT NULL, number INTEGER NOT NULL,
            arrived INTEGER NOT NULL, expiry INTEGER NOT NULL, ids TEXT NOT NULL, part INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (presentity, tag)
        );
        INSERT INTO new_publication SELECT presentity, tag, uri, document, number, arrived, expiry, ids, part FROM publication;
        DROP TABLE publication;
        ALTER TABLE new_publication RENAME TO publication;
        CREATE INDEX publication_part ON publication (part);
        CREATE TABLE new_shown_watcher (
            presentity TEXT NOT NULL, watcher TEXT NOT NULL, shown_at INTEGER NOT NULL, sign_off INTEGER, part INTEGER NOT NULL DEFAULT 0,
            PRIMARY KEY (presentity, watcher)
        ) WITHOUT ROWID;
        INSERT INTO new_shown_watcher SELECT presentity, watcher, shown_at, sign_off, part FROM shown_watcher;
        DROP TABLE shown_watcher;
        ALTER TABLE new_shown_watcher RENAME TO shown_watcher;
        CREATE INDEX shown_watcher_part ON shown_watcher (part);
        DROP TABLE document;
        PRAGMA user_version = 6;
        """

    /// Makes a file as version 5 left it.
    static let withoutPartitions =
        asVersion6
        + PartitionSliceTests.tables.filter { $0 != "document" }.map { "DROP INDEX \($0)_part; ALTER TABLE \($0) DROP COLUMN part;" }
        .joined()
        + "PRAGMA user_version = 5"

    @Test("a file of any older version opens, keeps what it had, and takes what came later", arguments: 1...7)
    func olderVersion(_ first: Int) throws {
        let scratch = try Scratch()
        let before: Set<StoreRecord> = [Records.dialog("d1", resources: 2), Records.contacts("sip:a@example.com", 3)]
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit(before.map(StoreChange.put))
        }
        // As that version left it.
        let added = [
            2: ["bridge_item", "bridge"], 3: ["leg_resource", "leg"], 4: ["clock"], 5: ["shown_watcher", "sign_off"], 8: ["document"],
        ]
        try DatabaseQueue(path: scratch.path).write { database in
            switch first {
            case ...5: try database.execute(sql: Self.withoutPartitions)
            case 6: try database.execute(sql: Self.asVersion6)
            default: break
            }
            for table in added.filter({ $0.key > first }).values.joined() { try database.execute(sql: "DROP TABLE IF EXISTS \(table)") }
            try database.execute(sql: "PRAGMA user_version = \(first)")
        }
        try SQLiteStore.check(path: scratch.path)
        let store = try SQLiteStore(path: scratch.path)
        #expect(try Set(store.load()) == before)
        try store.commit([.put(Records.upstreamSubscription("l1", resources: 2)), .remove(.dialog("d1"))])
        #expect(try Set(store.load()) == [Records.upstreamSubscription("l1", resources: 2), Records.contacts("sip:a@example.com", 3)])
        let version = try DatabaseQueue(path: scratch.path).read { try Int.fetchOne($0, sql: "PRAGMA user_version") }
        #expect(version == 8)
    }

    @Test("a file of version 6 opens, and has the same records, a single resource of a dialog in its row, and no index that is not needed")
    func version6() throws {
        let scratch = try Scratch()
        let single = [Records.unmixedDialog("s1"), Records.unmixedDialog("s2", resources: 0), Records.unmixedDialog("s3", resources: 2)]
        let records = Set(Records.ofVersion6 + single + [Records.dialog("s4", resources: 0)])
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit(records.map(StoreChange.put))
            #expect(try Set(store.load()) == records)
        }
        func rows(_ sql: String) throws -> [String] { try DatabaseQueue(path: scratch.path).read { try String.fetchAll($0, sql: sql) } }
        func tables() throws -> [String] {
            try rows("SELECT tbl_name || ' ' || name FROM sqlite_master WHERE tbl_name NOT LIKE 'sqlite_%' ORDER BY 1")
        }
        let resources = "SELECT tag || ' ' || place FROM resource ORDER BY 1"
        let (before, present) = (try tables(), try rows(resources))
        try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: Self.asVersion6) }
        #expect(try rows(resources) == (present + ["s1 0"]).sorted())
        #expect(try tables().contains("shown_watcher shown_watcher_part"))
        try SQLiteStore.check(path: scratch.path)
        do {
            let store = try SQLiteStore(path: scratch.path)
            #expect(try Set(store.load()) == records)
            for record in records {
                #expect(try store.load([record.key]) == [record])
                let slice = PartitionSlice(record.partition...record.partition, of: 0, among: 1)
                #expect(try store.load([record.kind], of: slice).contains(record))
            }
        }
        #expect(try rows(resources) == present)
        #expect(try tables() == before)
    }

    @Test("a dialog whose resources become one, none or several has what was stored last")
    func resourcesOfDialog() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        for record in [3, 1, 0, 2, 0, 1, 4, 1].map({ Records.unmixedDialog("d1", resources: $0) }) + [Records.dialog("d1", resources: 0)] {
            try store.commit([.put(record)])
            #expect(try store.load() == [record])
        }
        try store.commit([.remove(.dialog("d1"))])
        try store.commit([.put(Records.unmixedDialog("d1", resources: 0))])
        #expect(try store.load() == [Records.unmixedDialog("d1", resources: 0)])
    }

    @Test("a change of one item of a bridge writes that item, and not the documents of the others")
    func bridgeItems() throws {
        let scratch = try Scratch()
        _ = try SQLiteStore(path: scratch.path)
        let observer = try DatabaseQueue(path: scratch.path)
        try observer.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE written (name TEXT);
                    CREATE TRIGGER adding AFTER INSERT ON bridge_item BEGIN INSERT INTO written VALUES (NEW.name); END;
                    CREATE TRIGGER changing AFTER UPDATE ON bridge_item BEGIN INSERT INTO written VALUES (NEW.name); END
                    """)
        }
        try observer.close()
        var written: [[String]] = []
        func bridge(_ tags: [String], version: String = "1") -> StoreRecord {
            .bridge(
                StoredBridge(
                    user: "sip:a@example.com", way: .service, uri: "sip:a@example.com", details: ["hop-marks": version],
                    items: tags.map { .init(kind: "source", name: $0, document: Array("<presence/>".utf8), details: ["lineage": $0]) }
                        + [.init(kind: "standing", name: "2/1/state", details: ["version": version])]))
        }
        for record in [bridge(["e1", "e2"]), bridge(["e1", "e3"]), bridge(["e3", "e4", "e5"], version: "2"), bridge([])] {
            do {
                let store = try SQLiteStore(path: scratch.path)
                try store.commit([.put(record)])
                #expect(try store.load() == [record])
            }
            let reader = try DatabaseQueue(path: scratch.path)
            written.append(
                try reader.write { database in
                    defer { try? database.execute(sql: "DELETE FROM written") }
                    return try String.fetchAll(database, sql: "SELECT name FROM written ORDER BY name")
                })
            try reader.close()
        }
        #expect(written == [["2/1/state", "e1", "e2"], ["e3"], ["2/1/state", "e4", "e5"], ["2/1/state"]])
    }

    @Test("a damaged file throws when it is read, and is not taken for an empty one")
    func damaged() throws {
        let scratch = try Scratch()
        do {
            let store = try SQLiteStore(path: scratch.path)
            try store.commit((0..<200).map { .put(Records.dialog("d\($0)", resources: 3)) })
        }
        try DatabaseQueue(path: scratch.path).writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: scratch.path))
        let size = try file.seekToEnd()
        for page in stride(from: UInt64(8_192), to: size, by: 4_096) {
            try file.seek(toOffset: page)
            try file.write(contentsOf: Data(repeating: 0xA5, count: 2_048))
        }
        try file.close()
        #expect(throws: StoreFailure.self) { _ = try SQLiteStore(path: scratch.path).load() }
    }

    @Test("a column of the wrong kind is damage, and is named")
    func wrongColumn() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try store.commit([.put(Records.publication("sip:a@example.com", "t"))])
        try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: "UPDATE publication SET expiry = 'soon'") }
        let failure = #expect(throws: StoreFailure.self) { try store.load() }
        #expect(failure?.description.contains("publication.expiry") == true)
    }
}

@Suite("A gateway on a SQLite file")
struct GatewayOnSQLiteTests {
    @Test("publications that the file has no room for are 503, those before stay, and a restart finds exactly these")
    func fullFile() async throws {
        let scratch = try Scratch()
        var options = SQLiteStore.Options()
        options.maximumBytes = 384 << 10
        let store = try SQLiteStore(path: scratch.path, options: options)
        let stage = SimulatedStage(seed: 3)
        let conversation = try await Conversation(on: stage, store: store)
        var kept: [PIDFPublisher] = []
        var refused: [PIDFPublisher] = []
        for index in 0..<40 {
            let source = try await conversation.pidfPublisher("sip:dave\(index)@hosted.example.net")
            let note = String(repeating: "n", count: 20_000)
            try await conversation.act { source.publish(SimpleDocuments.pidf(of: source.presentity, "open", note: note), at: $0) }
            try await conversation.pass(.seconds(3))
            if source.lastAnswer?.status == .ok { kept.append(source) } else { refused.append(source) }
        }
        #expect(!kept.isEmpty)
        #expect(!refused.isEmpty)
        #expect(refused.allSatisfy { $0.lastAnswer?.status == .serviceUnavailable })
        #expect(conversation.gateway.counts.publications == kept.count)
        let restored = try conversation.crash(on: stage.network, awayFor: .seconds(1))
        #expect(restored.publications == kept.count)
        // What ends makes room.
        for source in kept { try await conversation.act { source.remove(at: $0) } }
        try await conversation.pass(.seconds(3))
        #expect(kept.allSatisfy { $0.lastAnswer?.status == .ok })
        let again = refused[0]
        try await conversation.act { again.publish(SimpleDocuments.pidf(of: again.presentity, "open"), at: $0) }
        try await conversation.pass(.seconds(3))
        #expect(again.lastAnswer?.status == .ok)
    }
}
