import ArgumentParser
import FederationRouting
import GatewayService
import PresenceGateway
import SIPCore

struct RouteCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "route",
        abstract: "Say where the gateway would send requests for a URI, and why.",
        discussion: """
            With --dns the servers are looked up now, as the gateway would, and printed in the order in which one request tries them. With
            --from it says whether that user may watch this one and by which entry of `allow` and `deny`, by what the servers that speak for
            him are known, and which limits his domain has.

            EXAMPLES
              isthmus route sip:alice@example.org --config isthmus.yaml
              isthmus route sip:bob@fabrikam.com --dns --config isthmus.yaml
              isthmus route sip:bob@fabrikam.com --from sip:alice@example.org --config isthmus.yaml
              isthmus route tel:+1-425-555-0100 --config isthmus.yaml
            """)

    @Argument(help: "A sip, sips, pres, im or tel URI.")
    var uri: String
    @Flag(help: "Ask the Domain Name System for the servers.")
    var dns = false
    @Option(help: ArgumentHelp("A watcher: print its rights and limits.", valueName: "uri"))
    var from: String?
    @OptionGroup var file: ConfigurationOption

    func run() async throws {
        let configuration = try file.read()
        let table = configuration.routingTable
        let uri = try Self.read(uri)
        let watcher = try from.map { try Self.read($0.contains(":") ? $0 : "sip:\($0)") }
        let identity = table.identities.identity(of: uri).uri
        let name = identity.description == uri.description ? "" : "\(identity): "
        let decision = table.decide(uri)
        Terminal.write("\(name)\(decision)\n")
        if let watcher { Terminal.write(RightsText(configuration).lines(watcher: watcher, presentity: uri)) }
        guard dns, case .forward(_, .located(let hopTarget)) = decision.outcome else { return }
        Terminal.write(try await Self.servers(of: hopTarget, configuration))
    }

    private static func read(_ text: String) throws -> SIPURI {
        guard let uri = SIPURI(text), !uri.host.isEmpty || uri.scheme == .tel else {
            throw CommandFailure(.inputRefused, "\(text): not a SIP, pres, im or tel URI (RFC 3261 19.1, RFC 3859, RFC 3860, RFC 3966)")
        }
        return uri
    }

    /// Servers found by DNS now, one line each.
    private static func servers(of hopTarget: HopTarget, _ configuration: ProgramConfiguration) async throws -> String {
        let lookup = try HopLookup(configuration)
        defer { lookup.stop() }
        do throws(HopFailure) {
            return text(of: try await lookup.plan(of: hopTarget), limit: configuration.core.naming.targetsPerRequest)
        } catch {
            throw CommandFailure(.unreachable, "cannot be located: \(error)")
        }
    }

    private static func text(of plan: HopPlan, limit: Int) -> String {
        var random = SystemRandomNumberGenerator()
        var lines: [String] = []
        for address in plan.targets(using: &random) {
            guard let server = plan.servers.first(where: { $0.addresses.contains(address) }) else { continue }
            let lifetime = server.timeToLive.map { "TTL \($0.seconds) s" } ?? "for good"
            let proof = address.provenName.map { ", proves \($0)" } ?? ""
            let mark = lines.count < limit ? "\(lines.count + 1)." : "not tried:"
            lines.append("  \(mark) \(address)\(proof), \(lifetime), by \(server.reason)\n")
        }
        return lines.joined()
    }
}
