import ArgumentParser
import PresenceGateway
import SIPCore

struct RouteCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "route",
        abstract: "Say where the gateway would send requests for a URI, and why.",
        discussion: """
            EXAMPLES
              isthmus route sip:alice@example.org --config isthmus.yaml
            """)

    @Argument(help: "A SIP or pres URI with a domain.")
    var uri: String
    @OptionGroup var file: ConfigurationOption

    func run() throws {
        let configuration = try file.read().gateway(listeners: [])
        guard let host = SIPURI(uri)?.host, !host.isEmpty else {
            throw CommandFailure(.inputRefused, "\(uri): not a SIP or pres URI with a domain (RFC 3261 19.1, RFC 3859)")
        }
        Terminal.write(Self.decision(host: host, configuration) + "\n")
    }

    /// One line: the decision, then the entry of the configuration that made it.
    static func decision(host: String, _ configuration: GatewayConfiguration) -> String {
        let name = host.lowercased()
        guard let domain = configuration.domain(name) else {
            return "refuse 404 (no entry for \(name), and no \"*\")"
        }
        let entry = configuration.domains[name] == nil ? "*" : name
        if let status = domain.refuse { return "refuse \(status) (domains.\(entry).refuse)" }
        if domain.hosted { return "hosted, \(domain.side.rawValue) (domains.\(entry).hosted)" }
        guard let route = domain.route else { return "refuse 404 (domains.\(entry) has no route)" }
        return "\(route), \(domain.side.rawValue), \(domain.network.rawValue) (domains.\(entry).route)"
    }
}
