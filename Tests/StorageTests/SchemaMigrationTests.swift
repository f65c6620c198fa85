import Foundation
import GRDB
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Storage
import Testing

@Suite("Stores of older versions")
struct SchemaMigrationTests {
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
}
