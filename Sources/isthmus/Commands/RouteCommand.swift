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
              isthmus route tel:+1-425-555-0100 --config isthmus.yaml
            """)

    @Argument(help: "A sip, sips, pres, im or tel URI.")
    var uri: String
    @OptionGroup var file: ConfigurationOption

    func run() throws {
        let table = try file.read().routingTable
        guard let uri = SIPURI(uri), !uri.host.isEmpty || uri.scheme == .tel else {
            throw CommandFailure(.inputRefused, "\(uri): not a SIP, pres, im or tel URI (RFC 3261 19.1, RFC 3859, RFC 3860, RFC 3966)")
        }
        let identity = table.identities.identity(of: uri).uri
        let name = identity.description == uri.description ? "" : "\(identity): "
        Terminal.write("\(name)\(table.decide(uri))\n")
    }
}

extension ProgramConfiguration {
    /// The table by which the gateway itself decides.
    var routingTable: RoutingTable { gateway(listeners: listeners, logLevel: .error).routes }

    /// Which URIs name one user.
    var identities: IdentityTable { routingTable.identities }
}
