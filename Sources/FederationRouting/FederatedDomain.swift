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
    /// The one next hop toward the domain; not needed if hosted or refused.
    public var route: TransportAddress?
    /// What its servers prove over TLS (RFC 5922), as far as it is agreed; nil: what its side usually proves.
    public var certificate: PeerExpectation?
    /// Several next hops, instead of one.
    public var hops: [ListedHop] = []
    /// Its servers are looked up, where no hop is configured; nil: they are not.
    public var discovery: Discovery?
    /// Users with hops of their own; the first pattern that fits decides.
    public var userRoutes: [UserRoute] = []
    public var network: Network
    /// Name of the PIDF profile to be written toward the domain, such as `rpid`.
    public var profile: String
    /// Everything to and from the domain is refused with this status.
    public var refusal: SIPStatus?
    /// The pool that is named in `resubscribe` for users of this domain (MS-PRES 3.4.5.1.3).
    public var poolFQDN: String?
    /// By what its servers are known; empty: by its route, and by certificates that prove the domain. Of a hosted domain: from where its
    /// users speak; empty: from everywhere but the servers of partners.
    public var peers: [PeerPattern]
    /// Its servers are the edge of our own enterprise, and say of others where they come from (MS-SIPRE 2.2.15).
    public var isEdge: Bool
    /// Identities are asserted in both directions (RFC 3325).
    public var assertsIdentities: Bool
    /// Who of its users and of others may have to do with each other.
    public var rights: FederationRights

    public init(
        side: Side, isHosted: Bool = false, route: TransportAddress? = nil, certificate: PeerExpectation? = nil,
        network: Network = .federated, profile: String = "rpid",
        refusal: SIPStatus? = nil, poolFQDN: String? = nil, peers: [PeerPattern] = [], isEdge: Bool = false,
        assertsIdentities: Bool = false, rights: FederationRights = FederationRights()
    ) {
        self.side = side
        self.isHosted = isHosted
        self.route = route
        self.certificate = certificate
        self.network = network
        self.profile = profile
        self.refusal = refusal
        self.poolFQDN = poolFQDN
        self.peers = peers
        self.isEdge = isEdge
        self.assertsIdentities = assertsIdentities
        self.rights = rights
    }

    /// The next hop toward a user of the domain.
    ///
    /// - Parameters:
    ///   - host: the user's domain, which may be one of those that `*` covers.
    ///   - user: nil: nobody of the domain in particular, such as a pool.
    ///   - isSecure: nothing but TLS will do (`sips`).
    ///   - locatesNames: a configured host that is a name is looked up here; else it is left to the transport.
    /// - Returns: nil: none is configured, or none with TLS where that is asked for.
    public func nextHop(toward host: String, user: String? = nil, isSecure: Bool = false, locatesNames: Bool = true) -> NextHop? {
        let special = user.flatMap { user in userRoutes.first { $0.pattern.matches(user) }?.hops }
        var configured = special ?? (route.map { [ListedHop($0)] } ?? hops)
        if isSecure { configured.removeAll { $0.address.transport != .tls } }
        if configured.count == 1, let address = configured.first?.address, address.isNumeric || !locatesNames { return .fixed(address) }
        if !configured.isEmpty { return .located(HopGoal(host, .listed(configured), isSecure: isSecure)) }
        guard special == nil, route == nil, hops.isEmpty, let discovery else { return nil }
        let way = side == .enterprise ? HopGoal.Way.enterprise : .standard(transport: nil, port: nil)
        return .located(HopGoal(host, way, isSecure: isSecure || discovery == .tls, allowsWeaker: discovery == .any))
    }

    /// Whether the servers of a domain may be asked over TLS alone: of those that only `*` covers nobody could say later that a request
    /// without TLS comes from them, so that a NOTIFY over our own connection would be refused.
    /// - Parameter entry: the name of this entry.
    public func needsTLS(as entry: String) -> Bool {
        let namesAddress = peers.contains { if case .addresses = $0 { true } else { false } }
        return entry == RoutingTable.fallbackName && discovery != nil && !namesAddress
    }

    /// Whether any next hop is configured for a user, TLS or not.
    func hasHop(for user: String?) -> Bool {
        route != nil || !hops.isEmpty || discovery != nil || user.map { user in userRoutes.contains { $0.pattern.matches(user) } } ?? false
    }

    /// A domain with which nothing is exchanged.
    public static func refused(_ status: SIPStatus = .forbidden) -> FederatedDomain { FederatedDomain(side: .simple, refusal: status) }
}
