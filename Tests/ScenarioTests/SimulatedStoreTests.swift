import GatewayTesting
import PresenceGateway
import SIPCore
import Testing

@Suite("The simulated store engine") struct SimulatedStoreTests {
    /// One process that notes its results, on an engine.
    private final class Rig {
        let network: SimulatedNetwork
        let store: SimulatedStore
        let connection: SimulatedStoreConnection
        var results: [StoreResult] = []
        var times: [Instant] = []

        init(seed: UInt64 = 1, _ conditions: StoreConditions = .prompt) {
            network = SimulatedNetwork(seed: seed)
            store = SimulatedStore(on: network, seed: seed, conditions: conditions)
            connection = store.connect()
            connection.receiver = { [unowned self] result, now in
                results.append(result)
                times.append(now)
            }
        }

        /// Sends a chain of commits; each adds the record with its number.
        func commit(_ numbers: ClosedRange<UInt64>, after predecessor: UInt64? = nil) {
            for number in numbers {
                let record = StoreRecord.contacts(StoredUserDocument(user: "\(number)", deltaNumber: UInt32(number), document: []))
                let isFirst = number == numbers.lowerBound
                connection.send(.commit(number: number, after: isFirst ? predecessor : number - 1, [.put(record)]))
            }
        }

        func read(_ numbers: ClosedRange<UInt64>, number: UInt64) {
            connection.send(.read(number: number, numbers.map { .contacts("\($0)") }))
        }

        /// Numbers of the stored records, sorted.
        var stored: [UInt64] { numbers(Array(store.table.records.values)) }

        func numbers(_ records: [StoreRecord]) -> [UInt64] {
            records.compactMap { if case .contacts(let stored) = $0 { UInt64(stored.deltaNumber) } else { nil } }.sorted()
        }

        /// Numbers of the commits that were reported as stored.
        var committed: [UInt64] {
            results.compactMap { if case .committed(let number) = $0 { number } else { nil } }
        }

        /// Numbers of the commits that were reported as failed.
        var failed: [UInt64] {
            results.compactMap { if case .failed(let number, _) = $0 { number } else { nil } }
        }
    }

    @Test("results arrive in the order of the requests, after the delay of both ways, whatever the jitter")
    func order() throws {
        let rig = Rig(StoreConditions(delay: .milliseconds(10), jitter: .seconds(1)))
        let start = rig.network.now
        rig.commit(1...50)
        rig.read(1...50, number: 51)
        #expect(rig.stored.isEmpty)
        try rig.network.run(for: .seconds(10))
        #expect(rig.committed == Array(1...50))
        #expect(rig.times.allSatisfy { $0 >= start + .milliseconds(20) })
        guard case .read(51, .success(let records))? = rig.results.last else { return #expect(Bool(false), "\(rig.results)") }
        #expect(rig.numbers(records) == Array(1...50))
    }

    @Test("a stalled engine carries nothing out, and everything in order afterwards")
    func stall() throws {
        let rig = Rig()
        rig.store.isStalled = true
        rig.commit(1...3)
        try rig.network.run(for: .seconds(600))
        #expect(rig.results.isEmpty && rig.stored.isEmpty && rig.store.inFlight == 3)
        rig.store.isStalled = false
        try rig.network.run(for: .seconds(1))
        #expect(rig.committed == [1, 2, 3] && rig.stored == [1, 2, 3] && rig.store.inFlight == 0)
    }

    @Test("commits whose results are lost are stored, and reported as failed when the connection is given up")
    func lostResults() throws {
        let rig = Rig(StoreConditions(resultLoss: 1, patience: .seconds(5)))
        let start = rig.network.now
        rig.commit(1...3)
        try rig.network.run(for: .seconds(4))
        #expect(rig.stored == [1, 2, 3] && rig.results.isEmpty)
        try rig.network.run(for: .seconds(4))
        #expect(rig.failed == [1, 2, 3] && rig.committed.isEmpty)
        #expect(rig.times.allSatisfy { $0 >= start + .seconds(5) })
        #expect(rig.store.counts.storedUnknown == 3 && rig.store.counts.reconnections == 1)
    }

    @Test("lost commits, and those behind them, are not stored, and reported as failed")
    func lostRequests() throws {
        let rig = Rig()
        rig.commit(1...1)
        rig.store.conditions.requestLoss = 1
        rig.commit(2...3, after: 1)
        try rig.network.run(for: .seconds(10))
        #expect(rig.committed == [1] && rig.failed == [2, 3] && rig.stored == [1])
        #expect(rig.store.counts.lost == 2)
    }

    @Test(
        "of the commits on an ended connection any number, but no later one without an earlier one, is stored; all are reported as failed")
    func reconnection() throws {
        var outcomes: Set<Int> = []
        for seed in 1...100 {
            let rig = Rig(seed: UInt64(seed))
            rig.commit(1...4)
            rig.connection.reconnect()
            // The process does not know yet.
            rig.commit(5...6, after: 4)
            let decided = rig.stored
            #expect(decided == Array(1...4).prefix(decided.count).map { UInt64($0) })
            outcomes.insert(decided.count)
            try rig.network.run(for: .seconds(1))
            #expect(rig.failed == [1, 2, 3, 4, 5, 6] && rig.committed.isEmpty && rig.stored == decided)
            rig.read(1...6, number: 7)
            rig.commit(8...8)
            try rig.network.run(for: .seconds(60))
            #expect(rig.results.contains(.read(number: 7, .success(decided.compactMap { rig.store.table.records[.contacts("\($0)")] }))))
            #expect(rig.committed == [8] && rig.stored == decided + [8])
        }
        #expect(outcomes == [0, 1, 2, 3, 4])
    }

    @Test("a read on an ended connection fails")
    func readFails() throws {
        let rig = Rig()
        rig.read(1...1, number: 1)
        rig.connection.reconnect()
        try rig.network.run(for: .seconds(1))
        guard case .read(1, .failure)? = rig.results.first else { return #expect(Bool(false), "\(rig.results)") }
    }

    @Test("the commits of an ended process are decided before the next one reads, and nothing is stored after that")
    func endOfProcess() throws {
        var outcomes: Set<Int> = []
        for seed in 1...100 {
            let rig = Rig(seed: UInt64(seed), StoreConditions(jitter: .seconds(1)))
            rig.commit(1...3)
            rig.connection.end()
            rig.commit(4...4, after: 3)
            try rig.network.run(for: .milliseconds(200))
            rig.store.settle()
            let decided = rig.stored
            #expect(decided == [1, 2, 3].prefix(decided.count).map { UInt64($0) })
            outcomes.insert(decided.count)
            try rig.network.run(for: .seconds(60))
            #expect(rig.stored == decided && rig.results.isEmpty && rig.store.inFlight == 0)
        }
        #expect(outcomes == [0, 1, 2, 3])
    }

    @Test("two processes share the table, and the failure of one does not concern the other")
    func twoProcesses() throws {
        let rig = Rig()
        let other = rig.store.connect()
        var committed = 0
        other.receiver = { result, _ in committed += result == .committed(number: 1) ? 1 : 0 }
        other.send(.commit(number: 1, after: nil, []))
        rig.commit(1...2)
        rig.connection.reconnect()
        try rig.network.run(for: .seconds(1))
        #expect(rig.failed == [1, 2] && committed == 1)
    }

    @Test("without the fence, a commit of an ended connection is stored after the new one was used")
    func noFence() throws {
        var late = 0
        for seed in 1...20 {
            let rig = Rig(seed: UInt64(seed))
            rig.store.fencesConnections = false
            rig.commit(1...4)
            rig.connection.reconnect()
            let decided = rig.stored.count
            try rig.network.run(for: .seconds(60))
            #expect(rig.failed == [1, 2, 3, 4] && rig.stored == [1, 2, 3, 4])
            late += 4 - decided
        }
        #expect(late > 0)
    }

    @Test("a table that fails is reported, and stores nothing")
    func failure() throws {
        let rig = Rig()
        rig.store.table.failure = StoreFailure("disk full")
        rig.commit(1...2)
        try rig.network.run(for: .seconds(1))
        #expect(rig.results == [.failed(number: 1, StoreFailure("disk full")), .failed(number: 2, StoreSession.predecessorFailed)])
        #expect(rig.stored.isEmpty)
    }

    @Test("equal seeds give equal runs, and different seeds different ones")
    func repeatable() throws {
        func play(_ seed: UInt64) throws -> ([StoreResult], [Instant]) {
            let rig = Rig(seed: seed, .unreliable)
            for number in UInt64(1)...200 {
                rig.commit(number...number)
                try rig.network.run(for: .milliseconds(100))
            }
            try rig.network.run(for: .seconds(60))
            #expect(rig.results.count == 200 && !rig.failed.isEmpty && !rig.committed.isEmpty)
            return (rig.results, rig.times)
        }
        let (results, times) = try play(1)
        let (again, timesAgain) = try play(1)
        #expect(results == again && times == timesAgain)
        #expect(try play(2).0 != results)
    }
}
