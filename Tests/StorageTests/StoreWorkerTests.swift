import GRDB
import PresenceGateway
import SIPCore
import Storage
import Synchronization
import Testing

@Suite("A store on a thread of its own", .timeLimit(.minutes(2)))
struct StoreWorkerTests {
    /// Results of one shard as they arrive.
    private final class Answers: Sendable {
        private let stream: AsyncStream<StoreResult>
        let reply: StoreWorker.Reply

        init() {
            let (stream, continuation) = AsyncStream.makeStream(of: StoreResult.self)
            self.stream = stream
            reply = { for result in $0 { continuation.yield(result) } }
        }

        func next(_ count: Int) async -> [StoreResult] {
            var results: [StoreResult] = []
            var iterator = stream.makeAsyncIterator()
            while results.count < count, let result = await iterator.next() { results.append(result) }
            return results
        }
    }

    private static func commit(_ number: UInt64, after predecessor: UInt64?, _ records: [StoreRecord]) -> StoreRequest {
        .commit(number: number, after: predecessor, records.map(StoreChange.put))
    }

    private static func record(_ shard: Int, _ number: UInt64) -> StoreRecord {
        Records.contacts("sip:s\(shard)@example.com", UInt32(number))
    }

    @Test("the requests of each shard are answered in their order, and stored in it")
    func order() async throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let worker = try StoreWorker(store)
        let shards = (0..<3).map { _ in Answers() }
        for number in UInt64(1)...50 {
            for (shard, answers) in shards.enumerated() {
                worker.submit(
                    [
                        Self.commit(number * 2, after: number == 1 ? nil : number * 2 - 2, [Self.record(shard, number)]),
                        .read(number: number * 2 + 1, [Self.record(shard, 0).key]),
                    ], of: shard, reply: answers.reply)
            }
        }
        for (shard, answers) in shards.enumerated() {
            let expected = (UInt64(1)...50).flatMap { number -> [StoreResult] in
                [.committed(number: number * 2), .read(number: number * 2 + 1, .success([Self.record(shard, number)]))]
            }
            #expect(await answers.next(100) == expected)
        }
        await worker.stop()
        #expect(try Set(store.load()) == Set((0..<3).map { Self.record($0, 50) }))
        #expect(worker.statistics.commits == 150)
    }

    @Test("commits that wait while another process has locked the database are stored in one transaction when it is free")
    func joined() async throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let worker = try StoreWorker(store, patience: .seconds(60))
        let lock = try Lock(scratch.path)
        let shards = (0..<4).map { _ in Answers() }
        for number in UInt64(1)...8 {
            for (shard, answers) in shards.enumerated() {
                worker.submit(
                    [Self.commit(number, after: number == 1 ? nil : number - 1, [Self.record(shard, number)])], of: shard,
                    reply: answers.reply)
            }
        }
        #expect(worker.statistics.waiting == 32)
        #expect(worker.statistics.oldestWait > .zero)
        try lock.release()
        for answers in shards { #expect(await answers.next(8) == (UInt64(1)...8).map { .committed(number: $0) }) }
        await worker.stop()
        #expect(try Set(store.load()) == Set((0..<4).map { Self.record($0, 8) }))
        let statistics = worker.statistics
        #expect(statistics.commits == 32)
        #expect(statistics.transactions <= 2, "those that the thread had taken before the others arrived, and all others")
        #expect(statistics.waiting == 0 && statistics.oldestWait == .zero && statistics.lastTransaction > .zero)
    }

    @Test("after its patience with a lock the worker fails what waits, and stores what comes when the database is free")
    func patience() async throws {
        let scratch = try Scratch()
        let store = try SQLiteStore(path: scratch.path)
        let worker = try StoreWorker(store, patience: .milliseconds(1))
        let lock = try Lock(scratch.path)
        let answers = Answers()
        worker.submit([Self.commit(1, after: nil, [Self.record(0, 1)]), Self.commit(2, after: 1, [])], of: 0, reply: answers.reply)
        for (result, number) in zip(await answers.next(2), UInt64(1)...2) {
            guard case .failed(number, _) = result else {
                Issue.record("\(result)")
                continue
            }
        }
        try lock.release()
        worker.submit([Self.commit(3, after: 2, []), Self.commit(4, after: nil, [Self.record(0, 4)])], of: 0, reply: answers.reply)
        #expect(
            await answers.next(2) == [.failed(number: 3, StoreSession.predecessorFailed), .committed(number: 4)])
        await worker.stop()
        #expect(try store.load() == [Self.record(0, 4)])
    }

    @Test("a stop carries out all that waits, leaves the file to others, and what comes later fails")
    func stop() async throws {
        let scratch = try Scratch()
        let answers = Answers()
        let late = Answers()
        do {
            let worker = try StoreWorker(try SQLiteStore(path: scratch.path), patience: .seconds(60))
            let lock = try Lock(scratch.path)
            for number in UInt64(1)...8 {
                worker.submit(
                    [Self.commit(number, after: number == 1 ? nil : number - 1, [Self.record(0, number)])], of: 0, reply: answers.reply)
            }
            let stopping = Task { await worker.stop() }
            try lock.release()
            await stopping.value
            worker.submit([Self.commit(9, after: 8, [Self.record(0, 9)]), .read(number: 10, [])], of: 0, reply: late.reply)
            await worker.stop()
        }
        #expect(await answers.next(8) == (UInt64(1)...8).map { .committed(number: $0) })
        guard case .failed(9, let failure) = await late.next(1).first else {
            Issue.record("a stopped worker takes nothing more")
            return
        }
        #expect(await late.next(1) == [.read(number: 10, .failure(failure))])
        #expect(try SQLiteStore(path: scratch.path).load() == [Self.record(0, 8)])
    }
}

/// Write lock of another connection on a database.
private final class Lock {
    private let database: DatabaseQueue

    init(_ path: String) throws {
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        database = try DatabaseQueue(path: path, configuration: configuration)
        try database.writeWithoutTransaction { try $0.beginTransaction(.immediate) }
    }

    func release() throws {
        try database.writeWithoutTransaction { try $0.rollback() }
        try database.close()
    }
}
