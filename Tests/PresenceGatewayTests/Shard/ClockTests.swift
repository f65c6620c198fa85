import PresenceGateway
import SIPCore
import Testing

/// A clock that is wrong at the start of a process, and set right while it runs or before the next, changes no lifetime.
@Suite struct ClockTests {
    private let words = HostedPresentityTests()

    /// A gateway that holds a publication, a category and a watcher, each for an hour, and has kept them.
    private func bench() throws -> Bench {
        let bench = Bench(store: MemoryStore())
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com"), expires: 3_600)
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        words.service(
            bench, "rob@fabrikam.com",
            words.publication("note", "<note xmlns=\"http://schemas.microsoft.com/2006/09/sip/note\"/>", expire: "time\" expires=\"3600"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        _ = try RestoreTests().watch(bench)
        return bench
    }

    /// What lives: publications of both kinds, and dialogs.
    private func alive(_ bench: Bench) -> [Int] { [bench.gateway.counts.publications, bench.gateway.counts.watcherDialogs] }

    /// Everything lives for so long yet, and ends then.
    private func expect(_ bench: Bench, endsIn seconds: Int, _ location: SourceLocation = #_sourceLocation) {
        #expect(alive(bench) == [2, 1], sourceLocation: location)
        bench.pass(.seconds(seconds - 1))
        #expect(alive(bench) == [2, 1], sourceLocation: location)
        bench.pass(.seconds(2))
        #expect(bench.gateway.counts.publications == 0, sourceLocation: location)
        // The last NOTIFY waits for its answer, which does not come (RFC 3261 17.1.2, Timer F).
        bench.pass(.seconds(33))
        #expect(alive(bench) == [0, 0], sourceLocation: location)
    }

    @Test(
        "what was kept by a clock that was ahead lives no longer after a restart than it was granted", arguments: [3 * 3_600, 400 * 86_400])
    func ahead(_ seconds: Int) throws {
        let bench = try bench()
        bench.pass(.seconds(600))
        try bench.restart(after: .seconds(-seconds))
        // The newest commit, by which the next process knows the clock, has what the watcher was notified of, 30 s after the NOTIFY.
        expect(bench, endsIn: 3_570)
    }

    @Test(
        "a clock that is set while the gateway runs changes no lifetime, in this process or the next",
        arguments: [-400 * 86_400, -3 * 3_600, 3 * 3_600, 400 * 86_400])
    func setWhileRunning(_ seconds: Int) throws {
        for restarts in [0, 1, 2] {
            let bench = try bench()
            bench.pass(.seconds(600))
            bench.gateway.receive(wallClock: bench.now + .seconds(seconds), at: bench.now)
            bench.sort()
            bench.pass(.seconds(100))
            bench.gateway.receive(wallClock: bench.now + .seconds(seconds), at: bench.now)
            bench.sort()
            #expect(bench.gateway.counters.clockSteps == 1)
            for restart in 0..<restarts { try bench.restart(after: .seconds(restart == 0 ? seconds + 50 : 50)) }
            expect(bench, endsIn: 2_900 - 50 * restarts)
        }
    }

    @Test(
        "a node that starts three hours early on what was kept, and is restarted at the right time after its clock was set, ends nothing early"
    )
    func startedEarly() throws {
        let bench = try bench()
        try bench.restart(after: .seconds(100 - 3 * 3_600))
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        bench.pass(.seconds(100))
        bench.gateway.receive(wallClock: bench.now + .seconds(3 * 3_600), at: bench.now)
        bench.sort()
        try bench.restart(after: .seconds(3 * 3_600 + 100))
        // The time between the first two processes is not known: their clocks contradict each other.
        expect(bench, endsIn: 3_400)
    }

    @Test("a clock that goes a little faster or slower was not set")
    func drift() throws {
        let bench = try bench()
        for milliseconds in [-900, 0, 900] {
            bench.gateway.receive(wallClock: bench.now + .milliseconds(milliseconds), at: bench.now)
        }
        #expect(bench.gateway.counters.clockSteps == 0)
    }
}
