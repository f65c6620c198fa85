import SIPCore

/// What is agreed with one partner domain: who serves it, by which route, and as what its users count.
public struct FederatedDomain: Hashable, Sendable {
    /// The presence model that the domain speaks.
    public enum Side: String, Hashable, Sendable, CaseIterable {
        /// MS-PRES.
        case enterprise
        /// PIDF and RPID.
        case simple
    }

    /// As what users of the domain count when a container is looked for (MS-PRES 3.2.5.3).
    public enum Network: String, Hashable, Sendable, CaseIterable {
        case sameEnterprise, federated, publicCloud
    }

    public var side: Side
    /// Whether this node is the home server of the domain's users.
    public var isHosted: Bool
    /// The next hop toward the domain; not needed if hosted or refused.
    public var route: TransportAddress?
    /// What its servers prove over TLS (RFC 5922), as far as it is agreed; nil: what its side usually proves.
    public var certificate: PeerExpectation?
    public var network: Network
    /// Name of the PIDF profile to be written toward the domain, such as `rpid`.
    public var profile: String
    /// Everything to and from the domain is refused with this status.
    public var refusal: SIPStatus?
    /// The pool that is named in `resubscribe` for users of this domain (MS-PRES 3.4.5.1.3).
    public var poolFQDN: String?

    public init(
        side: Side, isHosted: Bool = false, route: TransportAddress? = nil, certificate: PeerExpectation? = nil,
        network: Network = .federated, profile: String = "rpid",
        refusal: SIPStatus? = nil, poolFQDN: String? = nil
    ) {
        self.side = side
        self.isHosted = isHosted
        self.route = route
        self.certificate = certificate
        self.network = network
        self.profile = profile
        self.refusal = refusal
        self.poolFQDN = poolFQDN
    }

    /// A domain with which nothing is exchanged.
    public static func refused(_ status: SIPStatus = .forbidden) -> FederatedDomain { FederatedDomain(side: .simple, refusal: status) }
}
