import GRDB
import PresenceGateway
import Storage
import Testing

@Suite("Records of a SQLite file, read by their keys")
struct KeyedReadingTests {
    @Test("each record of every kind comes back alone by its key, as it was stored", arguments: Records.everyKind)
    func alone(_ record: StoreRecord) throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try store.commit(Records.everyKind.map(StoreChange.put))
        #expect(try store.load([record.key]) == [record])
        try store.commit([.remove(record.key)])
        #expect(try store.load([record.key]) == [])
        #expect(try Set(store.load()) == Set(Records.everyKind).subtracting([record]))
    }

    @Test("several keys give the stored ones of their records, each once")
    func several() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try store.commit(Records.everyKind.map(StoreChange.put))
        #expect(try store.load([]) == [])
        let wanted = [
            Records.dialog("d1", resources: 3), Records.bridge("sip:a@example.com"), Records.contacts("sip:b@example.com", 5),
        ]
        let missing: [StoreKey] = [.dialog("d4"), .publication(presentity: "sip:c@example.com", tag: "t1"), .contacts("sip:c@example.com")]
        let found = try store.load(wanted.map(\.key) + missing + wanted.map(\.key))
        #expect(found.count == wanted.count)
        #expect(Set(found) == Set(wanted))
        #expect(try Set(store.load(Records.everyKind.map(\.key))) == Set(Records.everyKind))
    }

    @Test("a damaged record does not keep others from being read by their keys")
    func damagedNeighbour() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let (healthy, damaged) = (Records.publication("sip:a@example.com", "t1"), Records.publication("sip:a@example.com", "t2"))
        try store.commit([.put(healthy), .put(damaged)])
        try DatabaseQueue(path: scratch.path).write { try $0.execute(sql: "UPDATE publication SET expiry = 'soon' WHERE tag = 't2'") }
        #expect(throws: StoreFailure.self) { try store.load() }
        #expect(throws: StoreFailure.self) { try store.load([healthy.key, damaged.key]) }
        #expect(try store.load([healthy.key]) == [healthy])
    }
}
