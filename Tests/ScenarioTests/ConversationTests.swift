import GatewayTesting
import SIPCore
import Testing

/// Every scripted conversation on the simulated network; the interop suite plays the same scripts on loopback sockets.
@Suite struct ConversationTests {
    @Test func thereAreConversations() { #expect(Scenario.all.count >= 50) }

    @Test("over UDP", arguments: Scenario.all)
    func overUDP(scenario: Scenario) async throws {
        try await scenario.play(on: SimulatedStage(seed: 11), transport: .udp)
    }

    @Test("over TCP", arguments: Scenario.all)
    func overTCP(scenario: Scenario) async throws {
        try await scenario.play(on: SimulatedStage(seed: 12), transport: .tcp)
    }

    @Test("over a bad path", arguments: Scenario.all.filter(\.bearsLoss), 1...6)
    func overABadPath(scenario: Scenario, seed: Int) async throws {
        try await scenario.play(on: SimulatedStage(seed: UInt64(seed), conditions: .poor), transport: .udp)
    }
}
