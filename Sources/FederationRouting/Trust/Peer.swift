import SIPCore

/// The remote end of a connection: its proof of identity, and the partner domains it may send for. Header fields of a
/// message have no influence.
public struct Peer: Hashable, Sendable {
    /// The evidence for the other properties.
    public enum Proof: String, Hashable, Sendable {
        /// A certificate that chains to a trusted root (RFC 5922).
        case certificate
        /// The remote address, without TLS.
        case address
        /// TLS without a client certificate.
        case none
    }

    /// The network of the peer, derived from the domains it may send for.
    public enum Kind: String, Hashable, Sendable {
        case sameEnterprise, federated, publicCloud
        /// No known server: a user of a hosted domain, or an unknown peer.
        case untrusted
    }

    /// The evidence for the other properties.
    public let proof: Proof
    /// The remote address without port.
    public let host: String
    /// The names in the certificate; nil without TLS or without a certificate.
    public let identity: PeerIdentity?
    /// The configuration entries of the partners that this peer is a server of, sorted; includes `*` for a server that
    /// sends for every domain without an own entry.
    public let domains: [String]
    /// The network of the peer.
    public let kind: Kind
    /// Whether the peer is an edge server of our own enterprise, which states the network of other domains' users (MS-SIPRE
    /// 2.2.15).
    public let isEdge: Bool
    /// Whether the peer may assert identities other than From (RFC 3325).
    public let isTrusted: Bool
    /// Whether the peer belongs to a partner, or is listed in `peers` of a hosted domain.
    public let isNamed: Bool

    init(
        proof: Proof, host: String, identity: PeerIdentity?, domains: [String], kind: Kind, isEdge: Bool = false, isTrusted: Bool = false,
        isNamed: Bool = false
    ) {
        self.proof = proof
        self.host = host
        self.identity = identity
        self.domains = domains
        self.kind = kind
        self.isEdge = isEdge
        self.isTrusted = isTrusted
        self.isNamed = isNamed
    }
}

/// The result of checking whether a peer may send for a domain.
public enum SpeakerVerdict: Hashable, Sendable {
    /// The peer is a server of this partner.
    case partner(Partner)
    /// The sender may be a user of a hosted domain; credentials decide which one.
    case user(domain: String)
    /// The domain is refused or has no entry; routing refuses the request.
    case unknown
    /// The peer may not send for the domain; the reason is for an operator.
    case unauthorized(reason: String)

    /// The partner to which a message is attributed.
    public struct Partner: Hashable, Sendable {
        /// The domain; for the entry `*` the domain proved or sent for.
        public var name: String
        /// The configuration entry: the domain's own, or `*`.
        public var entry: String
        /// Whether the domain has no entry and the peer proved it by certificate (MS-SIPRE: automatic federation).
        public var isDiscovered: Bool

        /// Creates a partner.
        public init(name: String, entry: String, isDiscovered: Bool = false) {
            self.name = name
            self.entry = entry
            self.isDiscovered = isDiscovered
        }
    }

    /// The partner; nil for the other results.
    public var partner: Partner? {
        if case .partner(let partner) = self { return partner }
        return nil
    }
}
