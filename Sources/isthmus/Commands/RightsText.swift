import FederationRouting
import GatewayService
import PresenceGateway
import SIPCore

/// Text of `isthmus route --from`: the watcher's rights, the servers that may speak for its domain, and the limits.
struct RightsText {
    let configuration: ProgramConfiguration
    let table: RoutingTable

    init(_ configuration: ProgramConfiguration) {
        self.configuration = configuration
        table = configuration.routingTable
    }

    /// Returns indented lines, each with a line end.
    func lines(watcher: SIPURI, presentity: SIPURI) -> String {
        let user = table.identities.identity(of: watcher).uri
        let other = table.identities.identity(of: presentity).uri
        var lines = ["from \(user):"]
        guard let (name, domain) = table.entry(for: user.domainKey), domain.refusal == nil else {
            let refusal = table.entry(for: user.domainKey)?.domain.refusal
            let why = refusal == nil ? "not configured" : "refused"
            lines.append("  refused \((refusal ?? .forbidden).rawValue): \(user.domainKey) is \(why)")
            return lines.map { $0 + "\n" }.joined()
        }
        lines.append("  rights   " + rights(user, other))
        lines += speakers(of: user.domainKey, name, domain).map { "  speaks   " + $0 }
        lines.append("  limits   " + limits(of: name, domain))
        return lines.map { $0 + "\n" }.joined()
    }

    private func rights(_ watcher: SIPURI, _ presentity: SIPURI) -> String {
        if let refusal = table.rightsRefusal(watcher: watcher, presentity: presentity) { return "refused 403: \(refusal.reason)" }
        if watcher.domainKey == presentity.domainKey { return "may watch: within one domain nobody asks" }
        let grounds = table.rightsGrounds(watcher: watcher, presentity: presentity)
        return "may watch: " + (grounds.isEmpty ? "neither domain restricts it" : grounds.joined(separator: ", "))
    }

    private func speakers(of domain: String, _ name: String, _ entry: FederatedDomain) -> [String] {
        let speakers = PeerTable(table).speakers(for: domain)
        var lines: [String] = []
        if entry.isHosted {
            lines.append(
                speakers.isAnywhere
                    ? "from anywhere but the servers of partners, and signs in where a listener asks for it"
                    : "only from the `peers` of \(name)")
        }
        if !speakers.addresses.isEmpty {
            lines.append("over UDP and TCP from \(speakers.addresses.map(\.description).joined(separator: ", "))")
        }
        if !speakers.hopTargets.isEmpty {
            lines.append("over UDP and TCP from where the DNS leads: \(speakers.hopTargets.map(\.description).joined(separator: "; "))")
        }
        if !speakers.names.isEmpty {
            lines.append("over TLS with a certificate of \(speakers.names.joined(separator: " or "))")
        }
        return lines
    }

    private func limits(of name: String, _ domain: FederatedDomain) -> String {
        if domain.isHosted { return "those of this node: the domain is hosted here" }
        guard let limits = configuration.domains[name]?.trust.limits ?? (name == RoutingTable.fallbackName ? .discovered : nil) else {
            return "those of this node"
        }
        let rate = limits.messagesPerSecond.map { "\($0) messages a second" }
        let uris = limits.watchedURIs.map { "\($0) watched URIs" }
        return [rate, uris].compactMap(\.self).joined(separator: ", ") + " for all users of the domain together"
    }
}
