import EnhancedPresence
import SIPCore
import Testing

@testable import PresenceGateway

/// The bounds of what is remembered for blocks, and what happens at them.
@Suite struct BlockMemoryTests {
    static let start = Instant(secondsSince1970: 1_700_000_000)

    static func watcher(_ number: Int) -> PresenceAddress { PresenceAddress("w\(number)@contoso.com") }

    static func place(_ presentity: String, _ number: Int) -> BlockMemory.Place { .init(presentity: presentity, watcher: watcher(number)) }

    @Test("a full presentity forgets the watcher that was not shown presence for the longest time, a day at least, and no blocked one")
    func watchers() {
        var memory = BlockMemory(bounds: .init(watchers: 9, signOffs: 2, watchersPerPresentity: 3))
        func makeRoom(_ now: Instant) -> BlockMemory.Room { memory.makeRoom(at: "a", now) }
        func note(_ number: Int, _ now: Instant) -> Bool { memory.noteShown(Self.watcher(number), at: "a", now) }
        for number in 0..<3 {
            #expect(makeRoom(Self.start) == .free)
            #expect(note(number, Self.start + .seconds(number)))
        }
        let signOff = memory.signOff("a", for: [Self.watcher(0)], at: Self.start)
        #expect(signOff == 1)
        let day = Self.start + BlockMemory.precision
        #expect(makeRoom(day) == .none)
        #expect(!note(3, day))
        #expect(makeRoom(day + .seconds(1)) == .made(Self.place("a", 1)))
        #expect(note(3, day + .seconds(1)))
        #expect(memory.standing(of: Self.watcher(0), at: "a") == .signedOff(1) && memory.standing(of: Self.watcher(1), at: "a") == nil)
        #expect(memory.watcherCount == 3 && memory.forgotten == 2)
    }

    @Test("a full table forgets a watcher of any presentity that was not shown presence for 30 days, and no other")
    func disuse() {
        var memory = BlockMemory(bounds: .init(watchers: 40, signOffs: 2))
        func makeRoom(_ now: Instant) -> BlockMemory.Room { memory.makeRoom(at: "new", now) }
        for number in 0..<40 { _ = memory.noteShown(Self.watcher(0), at: "p\(number)", Self.start + .seconds(number)) }
        let limit = Self.start + BlockMemory.disuse
        // 16 presentities are looked at in one call; all have been after three.
        for _ in 0..<3 { #expect(makeRoom(limit - .seconds(1)) == .none) }
        let made = (0..<3).map { _ in makeRoom(limit) }
        #expect(made.contains(.made(Self.place("p0", 0))))
        #expect(memory.watcherCount == 39)
        let isNoted = memory.noteShown(Self.watcher(0), at: "new", limit)
        #expect(isNoted && memory.watcherCount == 40)
    }

    @Test("a watcher that is shown presence again is noted no more than once a day")
    func precision() {
        var memory = BlockMemory(bounds: .init(watchers: 10, signOffs: 2))
        let changes = [0, 86_399, 86_400].map { memory.noteShown(Self.watcher(0), at: "a", Self.start + .seconds($0)) }
        #expect(changes == [true, false, true])
        #expect(memory.watcherCount == 1)
    }

    @Test("the number of a sign-off that could not be restored is not given to a later one")
    func lostSignOff() {
        var memory = BlockMemory(bounds: .init(watchers: 10, signOffs: 5))
        memory.restore(.init(standing: .signedOff(3), shownAt: Self.start), Self.watcher(0), at: "a")
        _ = memory.noteShown(Self.watcher(1), at: "a", Self.start)
        let number = memory.signOff("a", for: [Self.watcher(1)], at: Self.start)
        #expect(number == 4)
    }

    @Test("over many operations the counts are those of the entries, and no queue grows beyond them")
    func counts() {
        var memory = BlockMemory(bounds: .init(watchers: 50, signOffs: 5, watchersPerPresentity: 20, signOffsPerPresentity: 3))
        var random = SplitMix(state: 5)
        for step in 0..<5_000 {
            let (presentity, watcher) = ("p\(random.number(0...4))", Self.watcher(random.number(0...39)))
            let now = Self.start + .seconds(step * 10_000)
            switch random.number(0...9) {
            case 0: _ = memory.signOff(presentity, for: memory.shownWatchers(of: presentity).filter { $0.text.hasPrefix("w1") }, at: now)
            case 1: if let number = memory.signOffs(of: presentity).first { _ = memory.end(signOff: number, of: presentity) }
            default:
                if memory.standing(of: watcher, at: presentity) == nil { _ = memory.makeRoom(at: presentity, now) }
                _ = memory.noteShown(watcher, at: presentity, now)
            }
            #expect(memory.watcherCount <= 50 && memory.signOffCount <= 5)
        }
        let held = (0...4).reduce(0) { sum, presentity in
            sum + (0...39).count { memory.entry(of: Self.watcher($0), at: "p\(presentity)") != nil }
        }
        #expect(held == memory.watcherCount)
        #expect((0...4).reduce(0) { $0 + memory.signOffs(of: "p\($1)").count } == memory.signOffCount)
    }

    @Test("a block for which there is no room shows a user who never published, and is counted")
    func limit() throws {
        let bench = Bench { $0.limits.signOffs = 1 }
        for name in ["rob", "sue"] {
            try bench.publish("\(name)@fabrikam.com", .note("here"))
            #expect(try BlockedLookTests.poll(bench, BlockedLookTests.ulla, "\(name)@fabrikam.com").contains(">here<"))
            try bench.setMembers("\(name)@fabrikam.com", 32_000, "user:\(BlockedLookTests.ulla)")
        }
        #expect(try BlockedLookTests.poll(bench, BlockedLookTests.ulla, "rob@fabrikam.com").contains(">here<"))
        #expect(try !BlockedLookTests.poll(bench, BlockedLookTests.ulla, "sue@fabrikam.com").contains(">here<"))
        #expect(bench.gateway.counters.limitsReached == 1)
        let tables = bench.gateway.numbers.tables
        #expect(tables.first { $0.name == "sign_offs" }.map { [$0.entries, $0.limit] } == [1, 1])
        #expect(tables.first { $0.name == "shown_watchers" }?.entries == 1)
    }

    @Test("a full table of presentities refuses a blocked watcher as it refuses one of a user who never published")
    func fullTable() throws {
        let bench = Bench { $0.limits.presentities = 2 }
        for name in ["rob", "sue"] { try bench.publish("\(name)@fabrikam.com", .note("here")) }
        try bench.setMembers("rob@fabrikam.com", 32_000, "user:\(BlockedLookTests.ulla)")
        func isAnswered(_ status: Int, _ watcher: String, _ presentity: String) throws {
            bench.send(bench.categorySubscribe(watcher, to: presentity), from: Bench.enterprise)
            _ = try bench.nextResponse(status, at: Bench.enterprise)
        }
        try isAnswered(503, BlockedLookTests.ulla, "never@fabrikam.com")
        try isAnswered(503, BlockedLookTests.ulla, "rob@fabrikam.com")
        try isAnswered(200, "first@contoso.com", "rob@fabrikam.com")
    }

    @Test("a watcher that could not be noted loses at the block what it was shown, and sees a user who never published")
    func unnoted() throws {
        let bench = Bench { $0.limits.shownWatchers = 1 }
        try bench.publish("rob@fabrikam.com", .note("here"))
        _ = try BlockedLookTests.poll(bench, "first@contoso.com")
        bench.send(bench.categorySubscribe(BlockedLookTests.ulla, to: "rob@fabrikam.com"), from: Bench.enterprise)
        #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains(">here<"))
        #expect(bench.gateway.counters.limitsReached == 1)
        bench.pass(.seconds(30))
        try bench.setMembers("rob@fabrikam.com", 32_000, "user:\(BlockedLookTests.ulla)")
        let notified = try bench.takeNotifies(at: Bench.enterprise).map(\.text)
        #expect(notified.count == 1 && notified.first?.contains("<category name=\"note\"/>") == true)
    }

    @Test("a sign-off that no watcher sees any more is forgotten, in the store too")
    func ends() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        try bench.publish("rob@fabrikam.com", .note("here"))
        _ = try BlockedLookTests.poll(bench)
        try bench.setMembers("rob@fabrikam.com", 32_000, "user:\(BlockedLookTests.ulla)")
        #expect(store.records.keys.contains(.signOff(presentity: "sip:rob@fabrikam.com", number: 1)))
        try bench.setMembers("rob@fabrikam.com", 32_000, version: 1, "-user:\(BlockedLookTests.ulla)")
        _ = try BlockedLookTests.poll(bench)
        #expect(!store.records.keys.contains(.signOff(presentity: "sip:rob@fabrikam.com", number: 1)))
        #expect(bench.gateway.numbers.tables.first { $0.name == "sign_offs" }?.entries == 0)
        #expect(store.records.keys.contains(.shownWatcher(presentity: "sip:rob@fabrikam.com", watcher: BlockedLookTests.ulla)))
    }
}

extension MemoryStore {
    /// Without who was shown presence, which outlives dialogs and publications.
    var livingRecords: Int {
        records.keys.count {
            if case .shownWatcher = $0 { return false }
            return true
        }
    }
}
