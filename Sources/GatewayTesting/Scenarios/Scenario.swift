import PresenceGateway
import SIPCore

/// A whole conversation as a script, played unchanged on the simulated network and on loopback sockets.
public struct Scenario: Sendable, CustomStringConvertible {
    public var name: String
    /// It waits for expiries or timeouts, which only virtual time can.
    public var needsVirtualTime: Bool
    /// Its outcome is the same however bad the path is.
    public var bearsLoss: Bool
    /// Its users leave static publications and memberships behind, which live until they are deleted (MS-PRES 2.2.2.1).
    public var leavesPresence: Bool
    public var configure: @Sendable (inout GatewayConfiguration) -> Void
    public var script: @Sendable (Conversation) async throws -> Void

    public init(
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

    public var description: String { name }

    /// Plays it; throws with the whole conversation when it does not go as written.
    /// - Parameter store: the gateway's; nil: none.
    public func play(on stage: any Stage, transport: TransportProtocol, store: (any GatewayStore)? = nil) async throws {
        let conversation = try await Conversation(on: stage, transport: transport, store: store, configure: configure)
        try await script(conversation)
        if stage is SimulatedStage {
            try await conversation.settles(leavingPresence: leavesPresence)
        } else {
            try await conversation.concludes()
        }
    }

    public static let all =
        simpleWatcherScenarios + batchScenarios + enhancedWatcherScenarios + refusalScenarios + hostedScenarios + requestScenarios
        + homeServerScenarios + ownDataScenarios + aggregationScenarios + listWatcherScenarios + publishingScenarios
}
