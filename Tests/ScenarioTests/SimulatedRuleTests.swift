import GatewayTesting
import Testing

/// Each rule of the store and of the mailboxes is needed: without it the simulation finds a violation within 400 seeds, with it none in the
/// same world.
///
/// The ids of watches are left out: a watcher has to leave and come back while a view is under way to it, which 200 seeds do not show. The test
/// of WatchesBetweenShardsTests for late views shows what the ids are for.
@Suite("A simulated world without a rule of its store or its mailboxes") struct SimulatedRuleTests {
    private static let seeds: ClosedRange<UInt64> = 1...400

    @Test(
        "has a violation: nothing is answered before its commit, an unknown outcome is read, a given-up connection commits nothing later; envelopes are in order, views are numbered, and leave after their commit",
        arguments: SimulatedRule.allCases)
    func violation(rule: SimulatedRule) async {
        for seed in Self.seeds {
            await Task.yield()
            guard Simulation.violation(seed: seed, of: rule, isMissing: true) != nil else { continue }
            let fault = Simulation.violation(seed: seed, of: rule, isMissing: false)
            #expect(fault == nil, "seed \(seed): \(fault ?? "")")
            return
        }
        Issue.record("no violation without \(rule) in \(Self.seeds.count) seeds")
    }
}
