import ArgumentParser
import FederationRouting
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
        let table = try file.read().routingTable
        guard let uri = SIPURI(uri), !uri.host.isEmpty else {
            throw CommandFailure(.inputRefused, "\(uri): not a SIP or pres URI with a domain (RFC 3261 19.1, RFC 3859)")
        }
        Terminal.write("\(table.decide(uri))\n")
    }
}

extension ProgramConfiguration {
    /// The table by which the gateway itself decides.
    var routingTable: RoutingTable { gateway(listeners: listeners, logLevel: .error).routes }
}
