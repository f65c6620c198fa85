import FederationRouting
import SIPCore

/// Answers to the border; the requirements that are missing here have defaults.
extension PortAnswers: BorderPorts {
    func domainAsked(inDialogOf request: SIPRequest) -> String? { flows.upstream.domainAsked(inDialogOf: request) }

    func hasSubscriptions(atDomain name: String) -> Bool { flows.upstream.hasSubscriptions(atDomain: name) }

    func subscribedServers(ofDomain name: String, at hop: NextHop) -> [TransportAddress] {
        flows.upstream.subscribedServers(ofDomain: name, at: hop)
    }

    var unverifiedByDomain: [String: (count: Int, since: Instant)] { flows.upstream.unverifiedByDomain }

    func sampleSubscriptions(ofDomain name: String, at now: Instant) { flows.upstream.sampleSubscriptions(ofDomain: name, at: now) }

    func partnerChanged(_ partner: String, isUp: Bool, at now: Instant) {
        flows.upstream.verifier.partnerChanged(partner, isUp: isUp, at: now)
    }

    func serverIsDown(_ server: TransportAddress, at now: Instant) { flows.upstream.verifier.serverIsDown(server, at: now) }

    func watchConnection(_ connection: ConnectionID?, ofDomain name: String) {
        flows.upstream.verifier.watchConnection(connection, ofDomain: name)
    }
}
