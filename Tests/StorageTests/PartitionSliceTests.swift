import GRDB
import PresenceGateway
import SIPCore
import Storage
import Testing

@Suite("Records of a SQLite file, read by slices of partitions")
struct PartitionSliceTests {
    static let tables = [
        "presentity", "publication", "dialog", "leg", "registration", "contacts", "access_list", "bridge", "shown_watcher", "sign_off",
        "document",
    ]

    private func filled(_ scratch: Scratch) throws -> SQLiteStore {
        let store = try SQLiteStore(path: scratch.path)
        try store.commit(Records.everyKind.map(StoreChange.put))
        return store
    }

    private func check(_ store: SQLiteStore, for records: [StoreRecord] = Records.everyKind) throws {
        for record in records {
            let own = PartitionSlice(record.partition...record.partition, of: 0, among: 1)
            #expect(try store.load([record.kind], of: own).contains(record))
        }
    }

    @Test("the slices of all shards have each record once, with all that belongs to it", arguments: [1, 2, 5])
    func union(_ shards: Int) throws {
        let store = try filled(try Scratch())
        var found: [StoreRecord] = []
        for shard in 0..<shards {
            for slice in PartitionSlice.slices(of: shard, among: shards, size: 100) {
                for kind in StoreKind.allCases {
                    let records = try store.load([kind], of: slice)
                    #expect(records.allSatisfy { $0.kind == kind && slice.contains($0.partition) })
                    found += records
                }
            }
        }
        #expect(found.count == Records.everyKind.count)
        #expect(Set(found) == Set(Records.everyKind))
        #expect(try Set(store.load(Set(StoreKind.allCases), of: .all)) == Set(Records.everyKind))
    }

    @Test("a change of a record leaves it in its partition")
    func change() throws {
        let store = try filled(try Scratch())
        try store.commit(Records.everyKind.map(StoreChange.put))
        try check(store)
    }

    @Test("dialogs and upstream subscriptions stay where they were assigned, whatever is written later")
    func assignment() throws {
        let store = try filled(try Scratch())
        var seen: Set<String> = []
        try store.assignDialogs {
            seen.insert($0.tag)
            return $0.tag == "d1" || $0.tag == "l1" ? 4_095 : PartitionSlice.partition(ofUser: $0.owner)
        }
        #expect(seen == ["d1", "d2", "d3", "l1", "l2", "l3"])
        let last = PartitionSlice(4_095...4_095, of: 0, among: 1)
        let moved: Set<StoreRecord> = [Records.dialog("d1", resources: 3), Records.upstreamSubscription("l1", resources: 3)]
        #expect(try Set(store.load(Set(StoreKind.allCases), of: last)) == moved)
        try store.commit(moved.map(StoreChange.put))
        #expect(try Set(store.load(Set(StoreKind.allCases), of: last)) == moved)
        try store.commit(moved.map { .remove($0.key) })
        #expect(try store.load(Set(StoreKind.allCases), of: last).isEmpty)
    }

    /// Tables whose primary key begins with the partition.
    static let keyed = ["publication": "sqlite_autoindex_publication_1", "shown_watcher": nil]

    @Test("a slice is read by the index of partitions, and not from the whole table", arguments: tables)
    func index(_ table: String) throws {
        let scratch = try Scratch()
        _ = try filled(scratch)
        let plan = try DatabaseQueue(path: scratch.path).read { database in
            try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN SELECT * FROM \(table) WHERE part BETWEEN 5 AND 9 AND part % 3 = 1"
            ).map { row in row["detail"] as String }
        }
        #expect(plan.count == 1)
        let index = Self.keyed[table, default: "\(table)_part"]
        #expect(plan[0].hasPrefix("SEARCH \(table) USING \(index.map { "INDEX \($0)" } ?? "PRIMARY KEY") (part>? AND part<?)"))
    }

    @Test("a file without partitions opens, and its records are in the partitions of their users")
    func migration() throws {
        let scratch = try Scratch()
        do { _ = try filled(scratch) }
        try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: SchemaMigrationTests.withoutPartitions) }
        let store = try SQLiteStore(path: scratch.path)
        #expect(try Set(store.load()) == Set(Records.ofVersion6))
        try check(store, for: Records.ofVersion6)
    }

    @Test("the times of records in all slices are shifted together with the clock, once")
    func shift() throws {
        let scratch = try Scratch()
        let store = try filled(scratch)
        let start = Instant(secondsSince1970: 1_700_000_000)
        try store.commit([.clock(StoredClock(committed: start, step: .seconds(3_600)))])
        var router = ShardRouter(shards: 1)
        for _ in 0..<2 { try store.prepare(for: &router, at: start + .seconds(4_000)) }
        #expect(try Set(store.load()) == Set(Records.everyKind.map { $0.shifted(by: .seconds(3_600)) }))
        #expect(try store.loadClock() == StoredClock(committed: start + .seconds(4_000), step: .zero))
        try check(store, for: Records.everyKind.map { $0.shifted(by: .seconds(3_600)) })
    }
}
