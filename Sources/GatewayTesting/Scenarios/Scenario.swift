import PresenceGateway
import SIPCore

/// Script of a whole conversation, played unchanged on the simulated network and on loopback sockets.
package struct Scenario: Sendable, CustomStringConvertible {
    /// Name in test results.
    package var name: String
    /// Whether it waits for expiries or timeouts, and so needs virtual time.
    package var needsVirtualTime: Bool
    /// Whether its outcome is the same on a lossy network.
    package var bearsLoss: Bool
    /// Whether its users leave static publications and memberships, which last until they are deleted (MS-PRES 2.2.2.1).
    package var leavesPresence: Bool
    /// Changes to the default configuration.
    package var configure: @Sendable (inout GatewayConfiguration) -> Void
    /// Actions and expectations.
    package var script: @Sendable (Conversation) async throws -> Void

    /// Creates a scenario; by default it needs no virtual time and no particular configuration.
    package init(
        _ name: String, needsVirtualTime: Bool = false, bearsLoss: Bool = false, leavesPresence: Bool = false,
        configure: @escaping @Sendable (inout GatewayConfiguration) -> Void = { _ in },
        script: @escaping @Sendable (Conversation) async throws -> Void
    ) {
        self.name = name
        self.needsVirtualTime = needsVirtualTime
        self.bearsLoss = bearsLoss
        self.leavesPresence = leavesPresence
        self.configure = configure
        self.script = script
    }

    /// Same as `name`.
    package var description: String { name }

    /// Plays the scenario; throws with the transcript when an expectation fails.
    /// - Parameter store: Store of the gateway; nil keeps state in memory only.
    package func play(on stage: any Stage, transport: TransportProtocol, store: (any GatewayStore)? = nil) async throws {
        let conversation = try await Conversation(on: stage, transport: transport, store: store, configure: configure)
        try await script(conversation)
        if stage is SimulatedStage {
            try await conversation.settles(leavingPresence: leavesPresence)
        } else {
            try await conversation.concludes()
        }
    }

    /// All scenarios.
    package static let all =
        simpleWatcherScenarios + batchScenarios + enhancedWatcherScenarios + refusalScenarios + hostedScenarios + requestScenarios
        + homeServerScenarios + ownDataScenarios + aggregationScenarios + listWatcherScenarios + publishingScenarios
}
