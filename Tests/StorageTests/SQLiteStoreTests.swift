import Foundation
import GRDB
import GatewayTesting
import PresenceGateway
import SIPCore
import ScriptedPeers
import Storage
import Testing

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
}
