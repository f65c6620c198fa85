import FederationRouting
import SIPCore

/// Who may speak for a domain, and what its servers are believed.
public struct DomainTrust: Hashable, Sendable {
    /// By what its servers are known: addresses count where nothing is encrypted, names over TLS. Empty: the address of a plain route; a
    /// certificate of the domain itself, or of the host of an enterprise route. Of a hosted domain: from where its users speak; empty:
    /// from everywhere but the servers of partners.
    public var peers: [PeerPattern] = []
    /// Of a domain in the own enterprise: its servers are edges, and say of others where they come from (MS-SIPRE 2.2.15).
    public var isEdge = false
    /// Identities are asserted to its servers, and taken from them (RFC 3325).
    public var asserts = false
    /// Who of its users and of others may have to do with each other.
    public var rights = FederationRights()
    /// What it may ask of this node; nil: ``FederationRouting/PartnerLimits/discovered`` where nobody agreed on it, else as much as all.
    public var limits: PartnerLimits?

    public init() {}

    /// - Parameter peers: addresses, blocks and names as ``FederationRouting/PeerPattern`` reads them; nil when one is none of these.
    public init?(peers: String...) {
        for text in peers {
            guard let pattern = PeerPattern(text) else { return nil }
            self.peers.append(pattern)
        }
    }
}

extension GatewayConfiguration {
    /// Gives all domains that say nothing of their peers the same: for worlds in which everybody lives in one network.
    public mutating func trust(_ trust: DomainTrust?) {
        guard let trust else { return }
        for (name, domain) in domains where domain.trust == DomainTrust() && domain.refuse == nil { domains[name]?.trust = trust }
    }
}
