import SIPCore

/// The presence model of a domain.
public enum DomainSide: String, Hashable, Sendable, CaseIterable {
    /// Enhanced presence (MS-PRES).
    case enterprise
    /// PIDF and RPID (RFC 3863, RFC 4480).
    case simple
}

/// The network of a domain's users, a criterion of container resolution (MS-PRES 3.2.5.3).
public enum DomainNetwork: String, Hashable, Sendable, CaseIterable {
    /// Users of our own enterprise.
    case sameEnterprise
    /// Users of a federated enterprise.
    case federated
    /// Users of a public network.
    case publicCloud
}

/// The agreement with one domain: presence model, next hops, trust and rights.
///
/// A reference to immutable values: requests copy it often, and its values have many references to count.
public struct FederatedDomain: Hashable, Sendable {
    private struct Values: Hashable, Sendable {
        var side: DomainSide
        var isHosted: Bool
        var route: TransportAddress?
        var certificate: PeerExpectation?
        var hops: [ListedHop] = []
        var discovery: Discovery?
        var userRoutes: [UserRoute] = []
        var network: DomainNetwork
        var refusal: SIPStatus?
        var poolFQDN: String?
        var trust: DomainTrust
    }

    private var shared: SharedValues<Values>

    private var values: Values {
        _read { yield shared.values }
        set { shared.values = newValue }
    }

    /// The presence model of the domain.
    public var side: DomainSide {
        get { values.side }
        set { values.side = newValue }
    }
    /// Whether this node is the home server of the domain's users.
    public var isHosted: Bool {
        get { values.isHosted }
        set { values.isHosted = newValue }
    }
    /// The only next hop; takes precedence over ``hops`` and ``discovery``. Hosted and refused domains need none.
    public var route: TransportAddress? {
        get { values.route }
        set { values.route = newValue }
    }
    /// The names and rule for the certificate of its servers (RFC 5922); nil: the usual rule of ``side``.
    public var certificate: PeerExpectation? {
        get { values.certificate }
        set { values.certificate = newValue }
    }
    /// Several next hops; used if ``route`` is nil.
    public var hops: [ListedHop] {
        get { values.hops }
        set { values.hops = newValue }
    }
    /// How servers are located by DNS if no hop is configured; nil: not at all.
    public var discovery: Discovery? {
        get { values.discovery }
        set { values.discovery = newValue }
    }
    /// Next hops for single users; the first matching pattern decides.
    public var userRoutes: [UserRoute] {
        get { values.userRoutes }
        set { values.userRoutes = newValue }
    }
    /// The network of the domain's users.
    public var network: DomainNetwork {
        get { values.network }
        set { values.network = newValue }
    }
    /// Status with which every request to and from the domain is refused; nil: not refused.
    public var refusal: SIPStatus? {
        get { values.refusal }
        set { values.refusal = newValue }
    }
    /// FQDN of the pool in `resubscribe` for users of this domain (MS-PRES 3.4.5.1.3).
    public var poolFQDN: String? {
        get { values.poolFQDN }
        set { values.poolFQDN = newValue }
    }
    /// Peers of the domain, and their rights.
    public var trust: DomainTrust {
        _read { yield shared.values.trust }
        set { values.trust = newValue }
    }

    /// Creates an agreement; ``hops``, ``discovery`` and ``userRoutes`` are set afterwards.
    public init(
        side: DomainSide, isHosted: Bool = false, route: TransportAddress? = nil, certificate: PeerExpectation? = nil,
        network: DomainNetwork = .federated, refusal: SIPStatus? = nil, poolFQDN: String? = nil, trust: DomainTrust = DomainTrust()
    ) {
        shared = SharedValues(
            Values(
                side: side, isHosted: isHosted, route: route, certificate: certificate, network: network, refusal: refusal,
                poolFQDN: poolFQDN, trust: trust))
    }

    /// The next hop toward a user of the domain.
    ///
    /// - Parameters:
    ///   - host: the domain of the user, which may be one covered by `*`.
    ///   - user: the user part; nil: no user in particular, for example a pool.
    ///   - isSecure: whether only TLS is allowed (`sips`).
    ///   - locatesNames: whether host names of configured hops are resolved by the core; false leaves them to the
    ///     transport.
    /// - Returns: nil if no next hop is configured, or none with TLS although it is required.
    public func nextHop(toward host: String, user: String? = nil, isSecure: Bool = false, locatesNames: Bool = true) -> NextHop? {
        let special = user.flatMap { user in userRoutes.first { $0.pattern.matches(user) }?.hops }
        var configured = special ?? (route.map { [ListedHop($0)] } ?? hops)
        if isSecure { configured.removeAll { $0.address.transport != .tls } }
        if configured.count == 1, let address = configured.first?.address, address.isNumeric || !locatesNames { return .fixed(address) }
        if !configured.isEmpty { return .located(HopTarget(host, .listed(configured), isSecure: isSecure)) }
        guard special == nil, route == nil, hops.isEmpty, let discovery else { return nil }
        let lookup = side == .enterprise ? HopTarget.Lookup.enterprise : .standard(transport: nil, port: nil)
        return .located(HopTarget(host, lookup, isSecure: isSecure || discovery == .tls, allowsWeaker: discovery == .any))
    }

    /// Whether the servers of a domain are contacted over TLS only. This holds for domains that are covered by `*` and
    /// located by DNS: their later requests could not be authenticated without TLS, so a NOTIFY over our own connection
    /// would be refused.
    /// - Parameter entry: the name of this entry.
    public func needsTLS(as entry: String) -> Bool {
        let namesAddress = trust.peers.contains { if case .addresses = $0 { true } else { false } }
        return entry == RoutingTable.fallbackName && discovery != nil && !namesAddress
    }

    /// Whether any next hop is configured for a user, with TLS or without.
    func hasHop(for user: String?) -> Bool {
        route != nil || !hops.isEmpty || discovery != nil || user.map { user in userRoutes.contains { $0.pattern.matches(user) } } ?? false
    }

    /// An agreement that refuses every request with a status.
    public static func refused(_ status: SIPStatus = .forbidden) -> FederatedDomain { FederatedDomain(side: .simple, refusal: status) }
}
