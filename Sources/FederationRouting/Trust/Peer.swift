import SIPCore

/// Who is at the other end of a message: what it has proved, and for which partner domains that suffices. Whatever it says of itself in
/// headers plays no part.
public struct Peer: Hashable, Sendable {
    /// What the rest is concluded from.
    public enum Proof: String, Hashable, Sendable {
        /// A certificate that leads to a trusted root (RFC 5922).
        case certificate
        /// Its address, where nothing is encrypted.
        case address
        /// It speaks over TLS and has shown no certificate.
        case none
    }

    /// As what it counts, by the domains that it may speak for.
    public enum Kind: String, Hashable, Sendable {
        case sameEnterprise, federated, publicCloud
        /// Nobody's server that is known here: a user of a hosted domain, or a stranger.
        case untrusted
    }

    public let proof: Proof
    /// Where it speaks from, without port.
    public let host: String
    public let identity: PeerIdentity?
    /// The entries of the configuration whose servers it belongs to, sorted; `*` when it speaks for every domain that has no entry.
    public let domains: [String]
    public let kind: Kind
    /// An edge of our own: it says of others where they come from (MS-SIPRE 2.2.15).
    public let isEdge: Bool
    /// Whether it may vouch for identities other than From (RFC 3325).
    public let isTrusted: Bool
    /// It belongs to a partner, or users of a hosted domain speak from there as `peers` says.
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

/// Whether a peer may speak for a domain.
public enum SpeakerVerdict: Hashable, Sendable {
    /// It is the server of a partner.
    case partner(Partner)
    /// A user of a domain that is hosted here: who he is, his credentials say.
    case user(domain: String)
    /// The domain is refused, or nobody configured it: routing has the answer.
    case unknown
    /// It may not, for a reason that an operator can read.
    case impostor(reason: String)

    /// The partner in whose name a message is taken.
    public struct Partner: Hashable, Sendable {
        /// The domain; of `*` the one that it has proved, or that its server spoke for.
        public var name: String
        /// The entry of the configuration: the domain's own, or `*`.
        public var entry: String
        /// Nobody configured it: it proved by its certificate that it is what it claims (MS-SIPRE: automatic federation).
        public var isDiscovered: Bool

        public init(name: String, entry: String, isDiscovered: Bool = false) {
            self.name = name
            self.entry = entry
            self.isDiscovered = isDiscovered
        }
    }

    public var partner: Partner? {
        if case .partner(let partner) = self { return partner }
        return nil
    }
}
