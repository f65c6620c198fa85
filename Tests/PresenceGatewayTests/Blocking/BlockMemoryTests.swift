import EnhancedPresence
import SIPCore
import Testing

@testable import PresenceGateway

/// The bounds of what is remembered for blocks, and what happens at them.
@Suite struct BlockMemoryTests {
    static let start = Instant(secondsSince1970: 1_700_000_000)

    static func watcher(_ number: Int) -> PresenceAddress { PresenceAddress("w\(number)@contoso.com") }

    @Test("when there is no room the watcher noted first and not blocked is forgotten, of its own presentity only")
    func watchers() {
        var memory = BlockMemory(bounds: .init(watchers: 4, signOffs: 2, watchersPerPresentity: 3))
        for number in 0..<3 { #expect(memory.noteShown(Self.watcher(number), at: "a", Self.start) == [Self.watcher(number)]) }
        #expect(memory.signOff("a", for: [Self.watcher(0)], at: Self.start) == 1)
        #expect(memory.noteShown(Self.watcher(3), at: "a", Self.start) == [Self.watcher(3), Self.watcher(1)])
        #expect(memory.standing(of: Self.watcher(0), at: "a") == .signedOff(1) && memory.standing(of: Self.watcher(1), at: "a") == nil)
        #expect(memory.watcherCount == 3 && memory.forgotten == 1)
        // The table is full, and the presentity has no entry that could make room.
        #expect(memory.noteShown(Self.watcher(0), at: "b", Self.start).count == 1)
        #expect(memory.noteShown(Self.watcher(0), at: "c", Self.start).isEmpty)
        #expect(memory.watcherCount == 4 && memory.forgotten == 2)
    }

    @Test("a watcher that is shown presence again is noted no more than once a day")
    func precision() {
        var memory = BlockMemory(bounds: .init(watchers: 10, signOffs: 2))
        #expect(memory.noteShown(Self.watcher(0), at: "a", Self.start).count == 1)
        #expect(memory.noteShown(Self.watcher(0), at: "a", Self.start + .seconds(86_399)).isEmpty)
        #expect(memory.noteShown(Self.watcher(0), at: "a", Self.start + .seconds(86_400)).count == 1)
        #expect(memory.watcherCount == 1)
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
            default: _ = memory.noteShown(watcher, at: presentity, now)
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
