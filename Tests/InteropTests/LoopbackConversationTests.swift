import GatewayTesting
import SIPCore
import Testing

extension RealSockets {
    /// Scripted conversations without virtual time, unchanged, on real sockets.
    @Suite struct LoopbackConversationTests {
        private static let scenarios = Scenario.all.filter { !$0.needsVirtualTime }

        @Test func thereAreConversations() { #expect(Self.scenarios.count >= 20) }

        @Test("over UDP", arguments: scenarios)
        func overUDP(scenario: Scenario) async throws {
            try await play(scenario, .udp)
        }

        @Test("over TCP", arguments: scenarios)
        func overTCP(scenario: Scenario) async throws {
            try await play(scenario, .tcp)
        }

        private func play(_ scenario: Scenario, _ transport: TransportProtocol) async throws {
            let stage = LoopbackStage(seed: 5)
            do {
                try await scenario.play(on: stage, transport: transport)
            } catch {
                await stage.finish()
                throw error
            }
            await stage.finish()
        }
    }
}
