/// The servers that may send for a domain, and the header fields accepted from them.
public struct DomainTrust: Hashable, Sendable {
    /// Addresses (without TLS) and certificate names (with TLS) of its servers; empty: the addresses of routes without TLS, and
    /// certificates for the domain or for the host of an enterprise route. For a hosted domain: the peers from which its users send;
    /// empty: every peer but the servers of partners.
    public var peers: [PeerPattern] = []
    /// Whether its servers are edge servers of our own enterprise, which state the network of other domains' users (MS-SIPRE 2.2.15).
    public var isEdge = false
    /// Whether asserted identities are sent to its servers and accepted from them (RFC 3325).
    public var asserts = false
    /// Restrictions on watching between its users and other domains.
    public var rights = FederationRights()
    /// Limits of its requests; nil: ``PartnerLimits/discovered`` for partners found by automatic federation, none for
    /// others.
    public var limits: PartnerLimits?

    /// Creates the default trust: no peers, no edge servers, no asserted identities and no restrictions.
    public init() {}

    /// Creates trust in peers: addresses, blocks and names as in ``PeerPattern``; nil if one cannot be parsed.
    public init?(peers: String...) {
        for text in peers {
            guard let pattern = PeerPattern(text) else { return nil }
            self.peers.append(pattern)
        }
    }
}
