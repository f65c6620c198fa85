import FederationRouting
import GatewayService
import NameResolution
import PresenceGateway
import SIPCore

/// Looks up the servers of a next hop as the gateway does.
struct HopLookup {
    private let resolver: NameResolver
    private let naming: NamingConfiguration

    /// Creates a resolver with the options of the configuration.
    /// - Throws: `CommandFailure` (input refused) when the resolver cannot be created.
    init(_ configuration: ProgramConfiguration) throws(CommandFailure) {
        do { resolver = try NameResolver(options: configuration.names) } catch { throw CommandFailure(.inputRefused, "dns: \(error)") }
        naming = configuration.core.naming
    }

    func stop() { resolver.stop() }

    /// Looks up the servers of a next hop.
    /// - Throws: `HopFailure` when there is no server.
    func plan(of hopTarget: HopTarget) async throws(HopFailure) -> HopPlan {
        var locator = HopLocator(hopTarget, prefersIPv6: naming.prefersIPv6)
        while true {
            switch locator.step() {
            case .ask(let questions):
                for (question, answer) in await answers(to: questions) { locator.receive(answer, to: question) }
            case .found(let plan): return plan
            case .failed(let failure): throw failure
            }
        }
    }

    private func answers(to questions: [NameQuestion]) async -> [(NameQuestion, NameAnswer)] {
        await withTaskGroup(of: (NameQuestion, NameAnswer).self) { group in
            for question in questions {
                group.addTask {
                    await withCheckedContinuation { continuation in
                        resolver.ask(question) { continuation.resume(returning: (question, $0)) }
                    }
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
    }
}
