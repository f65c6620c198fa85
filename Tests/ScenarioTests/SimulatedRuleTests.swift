import GatewayTesting
import Testing

/// Each rule of the store is needed: without it the simulation finds a violation within 60 seeds, with it none in the same world.
@Suite("A simulated world without a rule of its store") struct SimulatedRuleTests {
    private static let seeds: ClosedRange<UInt64> = 1...60

    @Test(
        "has a violation: nothing is answered before its commit, an unknown outcome is read, a given-up connection commits nothing later",
        arguments: SimulatedRule.allCases)
    func violation(rule: SimulatedRule) async {
        for seed in Self.seeds {
            await Task.yield()
            guard Simulation.violation(seed: seed, without: rule) != nil else { continue }
            let fault = Simulation.violation(seed: seed, without: nil)
            #expect(fault == nil, "seed \(seed): \(fault ?? "")")
            return
        }
        Issue.record("no violation without \(rule) in \(Self.seeds.count) seeds")
    }
}
