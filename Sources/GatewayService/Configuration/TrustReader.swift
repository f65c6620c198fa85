import FederationRouting
import PresenceGateway
import SIPCore
import Yams

/// Keys of a domain for its trusted peers, their assertions and the rights of its users.
struct TrustReader {
    let fields: [String: ConfigurationNode]

    func read(into domain: inout DomainConfiguration) {
        domain.federation.trust.peers =
            patterns("peers", as: PeerPattern.init, "is no address, no block such as 192.0.2.0/24, and no host name") ?? []
        if fields["peers"] != nil, domain.trust.peers.isEmpty, let peers = fields["peers"], peers.node.sequence?.isEmpty == true {
            peers.refuse("at least one is needed; without the key they are concluded from the route")
        }
        for name in ["edge", "asserts"] where domain.hosted { fields[name]?.refuse("is for domains with a route") }
        if let edge = fields["edge"], edge.bool() == true {
            if domain.side != .enterprise || domain.network != .sameEnterprise {
                edge.refuse("is for enterprise domains of network sameEnterprise: only our own edges are believed (MS-SIPRE 2.2.15)")
            }
            domain.federation.trust.isEdge = true
        }
        domain.federation.trust.asserts = fields["asserts"]?.bool() ?? false
        domain.federation.trust.rights = FederationRights(allow: rule("allow"), deny: rule("deny"))
        domain.federation.trust.limits = limits(domain)
    }

    private func patterns<Pattern>(
        _ name: String, in fields: [String: ConfigurationNode]? = nil, as make: (String) -> Pattern?, _ mistake: String
    ) -> [Pattern]? {
        guard let node = (fields ?? self.fields)[name], let elements = node.elements() else { return nil }
        return elements.compactMap { element in
            guard let text = element.string() else { return nil }
            if let pattern = make(text) { return pattern }
            element.refuse(mistake)
            return nil
        }
    }

    private func rule(_ name: String) -> FederationRights.Rule {
        guard let parts = fields[name]?.fields(["users", "from", "to"]) else { return FederationRights.Rule() }
        func users(_ key: String) -> [PartyPattern]? {
            patterns(
                key, in: parts, as: PartyPattern.init, "is none of *, example.org, *.example.org, alice@example.org, sales-*@example.org")
        }
        return FederationRights.Rule(users: users("users"), from: users("from"), to: users("to"))
    }

    private func limits(_ domain: DomainConfiguration) -> PartnerLimits? {
        guard let node = fields["limits"], let parts = node.fields(["messages-per-second", "watched-uris"]) else { return nil }
        if domain.hosted { node.refuse("is for domains with a route; users of this one have limits of their own") }
        return PartnerLimits(
            messagesPerSecond: parts["messages-per-second"]?.integer(1...1_000_000),
            watchedURIs: parts["watched-uris"]?.integer(0...100_000_000))
    }
}
