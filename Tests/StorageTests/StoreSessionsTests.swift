import GRDB
import PresenceGateway
import SIPCore
import Testing

@testable import Storage

@Suite("Transactions of several commits")
struct StoreSessionsTests {
    private static func commit(_ shard: Int, _ number: UInt64, after predecessor: UInt64?, _ records: StoreRecord...) -> ShardRequest {
        ShardRequest(shard: shard, request: .commit(number: number, after: predecessor, records.map(StoreChange.put)))
    }

    private static func commits(_ count: Int, of changes: Int) -> [ShardRequest] {
        (0..<count).map { index in
            let records = (0..<changes).map { Records.contacts("sip:u\(index)-\($0)@example.com", 1) }
            return ShardRequest(
                shard: index % 2, request: .commit(number: UInt64(index + 1), after: nil, records.map(StoreChange.put)))
        }
    }

    /// Makes every record of this user impossible to store.
    private static func refuse(_ user: String, in scratch: Scratch) throws {
        try DatabaseQueue(path: scratch.path).write {
            try $0.execute(
                sql: """
                    CREATE TRIGGER refusing BEFORE INSERT ON contacts WHEN NEW.user = '\(user)' BEGIN SELECT RAISE(ABORT, 'refused'); END
                    """)
        }
    }

    @Test("64 commits are joined, and of their changes 2,000; a single commit may be larger, and a read is carried out alone")
    func limits() {
        #expect(StoreSessions.joinable([]) == 0)
        #expect(StoreSessions.joinable(Self.commits(63, of: 1)) == 63)
        #expect(StoreSessions.joinable(Self.commits(65, of: 1)) == 64)
        #expect(StoreSessions.joinable(Self.commits(5, of: 500)) == 4)
        #expect(StoreSessions.joinable(Self.commits(3, of: 900)) == 2)
        #expect(StoreSessions.joinable(Self.commits(2, of: 2_001)) == 1)
        let read = ShardRequest(shard: 0, request: .read(number: 9, []))
        #expect(StoreSessions.joinable([read] + Self.commits(3, of: 1)) == 1)
        #expect(StoreSessions.joinable(Self.commits(3, of: 1) + [read] + Self.commits(3, of: 1)) == 3)
    }

    @Test("commits of several shards that are stored together leave what they would leave one after the other")
    func together() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        var sessions = StoreSessions(store)
        let results = sessions.perform([
            Self.commit(0, 1, after: nil, Records.contacts("sip:a@example.com", 1), Records.contacts("sip:b@example.com", 1)),
            Self.commit(1, 1, after: nil, Records.contacts("sip:c@example.com", 1)),
            ShardRequest(shard: 0, request: .commit(number: 2, after: 1, [.remove(.contacts("sip:b@example.com"))])),
            Self.commit(0, 3, after: 2, Records.contacts("sip:a@example.com", 2)),
        ])
        #expect(results == [.committed(number: 1), .committed(number: 1), .committed(number: 2), .committed(number: 3)])
        #expect(try Set(store.load()) == [Records.contacts("sip:a@example.com", 2), Records.contacts("sip:c@example.com", 1)])
        #expect(sessions.perform([Self.commit(0, 4, after: 3)]) == [.committed(number: 4)], "the chain goes on")
    }

    @Test("of commits that cannot be stored together those fail that cannot be stored alone, and those that build on them")
    func oneRefused() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try Self.refuse("sip:bad@example.com", in: scratch)
        var sessions = StoreSessions(store)
        let results = sessions.perform([
            Self.commit(0, 1, after: nil, Records.contacts("sip:a@example.com", 1)),
            Self.commit(1, 1, after: nil, Records.contacts("sip:b@example.com", 1)),
            Self.commit(0, 2, after: 1, Records.contacts("sip:c@example.com", 1), Records.contacts("sip:bad@example.com", 1)),
            Self.commit(1, 2, after: 1, Records.contacts("sip:d@example.com", 1)),
            Self.commit(0, 3, after: 2, Records.contacts("sip:e@example.com", 1)),
            Self.commit(0, 4, after: nil, Records.contacts("sip:f@example.com", 1)),
        ])
        guard case .failed(2, let refusal) = results[2] else { throw refusalMissing(results) }
        #expect(refusal.description.contains("refused"))
        #expect(
            results == [
                .committed(number: 1), .committed(number: 1), .failed(number: 2, refusal), .committed(number: 2),
                .failed(number: 3, StoreSession.predecessorFailed), .committed(number: 4),
            ])
        #expect(
            try Set(store.load())
                == Set(["a", "b", "d", "f"].map { Records.contacts("sip:\($0)@example.com", 1) }), "and nothing of a commit that failed")
    }

    private func refusalMissing(_ results: [StoreResult]) -> StoreFailure { StoreFailure("the third is not refused: \(results)") }

    @Test("a commit that builds on one of an earlier round that failed is not stored with others either")
    func laterRound() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try Self.refuse("sip:bad@example.com", in: scratch)
        var sessions = StoreSessions(store)
        #expect(sessions.perform([Self.commit(0, 1, after: nil)]) == [.committed(number: 1)])
        guard case .failed = sessions.perform([Self.commit(0, 2, after: 1, Records.contacts("sip:bad@example.com", 1))])[0] else {
            Issue.record("the trigger refuses it")
            return
        }
        let results = sessions.perform([
            Self.commit(0, 3, after: 2, Records.contacts("sip:a@example.com", 1)),
            Self.commit(1, 1, after: nil, Records.contacts("sip:b@example.com", 1)),
            Self.commit(0, 4, after: nil, Records.contacts("sip:c@example.com", 1)),
            Self.commit(0, 5, after: 4, Records.contacts("sip:d@example.com", 1)),
        ])
        #expect(
            results == [
                .failed(number: 3, StoreSession.predecessorFailed), .committed(number: 1), .committed(number: 4), .committed(number: 5),
            ])
        #expect(try Set(store.load()) == Set(["b", "c", "d"].map { Records.contacts("sip:\($0)@example.com", 1) }))
    }

    @Test("while another process has locked the database all commits fail for that reason, and none waits for the lock anew")
    func locked() throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        try store.setPatience(.milliseconds(1))
        var sessions = StoreSessions(store)
        let other = try DatabaseQueue(path: scratch.path)
        try other.writeWithoutTransaction { database in
            try database.execute(sql: "BEGIN IMMEDIATE")
            let results = sessions.perform(
                (0..<4).map { Self.commit($0 % 2, 1, after: nil, Records.contacts("sip:u\($0)@example.com", 1)) })
            for result in results {
                guard case .failed(1, let failure) = result else {
                    Issue.record("\(result)")
                    continue
                }
                #expect(failure.description.contains("locked"))
            }
            try database.execute(sql: "ROLLBACK")
        }
        #expect(try store.load().isEmpty)
        #expect(sessions.perform([Self.commit(0, 2, after: 1)]) == [.failed(number: 2, StoreSession.predecessorFailed)])
        #expect(sessions.perform([Self.commit(0, 3, after: nil)]) == [.committed(number: 3)])
    }

    @Test("a read has the records of the commits before it")
    func read() throws {
        let scratch = try Scratch()
        var sessions = StoreSessions(try SQLiteStore(path: scratch.path))
        let record = Records.dialog("d1", resources: 2)
        _ = sessions.perform([Self.commit(0, 1, after: nil, record)])
        #expect(
            sessions.perform([ShardRequest(shard: 0, request: .read(number: 2, [record.key, .dialog("d2")]))])
                == [.read(number: 2, .success([record]))])
    }
}
