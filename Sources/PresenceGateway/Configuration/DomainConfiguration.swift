import EnhancedPresence
import FederationRouting
import PresenceDocuments
import PresenceRules
import SIPCore

/// Configuration of one domain.
///
/// A reference to immutable values: requests copy it often, and its values have many references to count.
public struct DomainConfiguration: Hashable, Sendable {
    private struct Values: Hashable, Sendable {
        var federation: FederatedDomain
        var profile: DomainProfile?
        var isLossless: Bool
        var categories: Set<CategoryName> = []
        var upstream: UpstreamFormat?
        var partial = true
        var lists: UpstreamLists?
        var requiresRegistration: Bool
        var unruled: UnruledHandling?
        var publish = false
        var publishAs = PublishForm.automatic
        var forms = IdentityTable.Forms()
        var expires: GatewayTiming.ExpiryRange?
        var whenLost = LostPresence.stale
        var keepAlive: TimeSpan?
        var credentials: PartnerCredentials?
    }

    private var shared: SharedValues<Values>

    private var values: Values {
        _read { yield shared.values }
        set { shared.values = newValue }
    }

    /// Agreement with the domain: presence model, next hops, network, peers and rights.
    package var federation: FederatedDomain {
        _read { yield shared.values.federation }
        set { values.federation = newValue }
    }
    /// Profile of PIDF written to the domain. By default, enterprise partners get the one tuple of MS-PRES 2.2.2.8, others RFC 4480, which
    /// the SIMPLE clients of hosted users read.
    package var profile: DomainProfile {
        get { values.profile ?? (side == .enterprise && !hosted ? .rpidDraft : .rpid) }
        set { values.profile = newValue }
    }
    /// Names of categories that its users may publish besides those of ``CategoryName/registered`` (MS-PRES 3.2.5.4).
    package var categories: Set<CategoryName> {
        get { values.categories }
        set { values.categories = newValue }
    }
    /// For enterprise domains: the form that is tried first; nil: batches inside the own enterprise, else categories.
    package var upstream: UpstreamFormat? {
        get { values.upstream }
        set { values.upstream = newValue }
    }
    /// For simple domains: whether partial notifications are requested (RFC 5263), with full documents as fallback.
    package var partial: Bool {
        get { values.partial }
        set { values.partial = newValue }
    }
    /// For simple domains: the list that subscribes to all presentities of a batch watcher at once; nil: one subscription each.
    package var lists: UpstreamLists? {
        get { values.lists }
        set { values.lists = newValue }
    }
    /// Whether PIDF sent to the domain has the extension that preserves exact enterprise values.
    package var lossless: Bool {
        get { values.isLossless }
        set { values.isLossless = newValue }
    }
    /// For hosted enterprise domains: whether endpoint-bound instances require a registered endpoint (MS-PRES 3.2.5.4).
    package var requiresRegistration: Bool {
        get { values.requiresRegistration }
        set { values.requiresRegistration = newValue }
    }
    /// For domains that are not hosted: whether their users may publish through this gateway in the other model: by SERVICE for a simple
    /// domain, by PUBLISH for an enterprise domain.
    package var publish: Bool {
        get { values.publish }
        set { values.publish = newValue }
    }
    /// For enterprise domains with ``publish``: the instances that relayed publications are written as.
    package var publishAs: PublishForm {
        get { values.publishAs }
        set { values.publishAs = newValue }
    }
    /// Forms of its users' URIs besides `sip:user@domain`.
    package var forms: IdentityTable.Forms {
        get { values.forms }
        set { values.forms = newValue }
    }
    /// Expiry range granted to its watchers and requested from it; nil: the range of its side in ``GatewayTiming``.
    package var expires: GatewayTiming.ExpiryRange? {
        get { values.expires }
        set { values.expires = newValue }
    }
    /// For hosted simple domains: handling of watchers that no presence rule of the presentity matches; nil: the default, `block`.
    package var unruled: UnruledHandling? {
        get { values.unruled }
        set { values.unruled = newValue }
    }
    /// Presence shown while the domain is lost.
    package var whenLost: LostPresence {
        get { values.whenLost }
        set { values.whenLost = newValue }
    }
    /// Interval of OPTIONS to its next hop; zero: never; nil: 60 s while something is subscribed there (15 s while it is down).
    package var keepAlive: TimeSpan? {
        get { values.keepAlive }
        set { values.keepAlive = newValue }
    }
    /// Credentials for its servers' challenges; nil: none.
    package var credentials: PartnerCredentials? {
        get { values.credentials }
        set { values.credentials = newValue }
    }

    /// Creates a domain; the other properties have their defaults.
    public init(
        side: DomainSide, hosted: Bool = false, route: TransportAddress? = nil, network: DomainNetwork = .federated,
        profile: DomainProfile? = nil, upstream: UpstreamFormat? = nil, lossless: Bool = false, poolFqdn: String? = nil,
        requiresRegistration: Bool = false, refuse: Int? = nil, unruled: UnruledHandling? = nil
    ) {
        let federation = FederatedDomain(
            side: side, isHosted: hosted, route: route, network: network, refusal: refuse.map { SIPStatus(rawValue: $0) },
            poolFQDN: poolFqdn)
        shared = SharedValues(
            Values(
                federation: federation, profile: profile, isLossless: lossless, upstream: upstream,
                requiresRegistration: requiresRegistration, unruled: unruled))
    }

    /// The agreement for the routing table; a refused domain has no other part of it.
    var federated: FederatedDomain { federation.refusal.map { .refused($0) } ?? federation }

    /// Next hop toward a user of the domain; nil: none.
    func nextHop(toward host: String, user: String?, isSecure: Bool, locatesNames: Bool) -> NextHop? {
        if let route, userRoutes.isEmpty, !locatesNames || route.isNumeric, !isSecure || route.transport == .tls { return .fixed(route) }
        return federated.nextHop(toward: host, user: user, isSecure: isSecure, locatesNames: locatesNames)
    }

    /// Handling of watchers that no presence rule matches; nil: rules do not decide about this domain's presentities.
    var unruledHandling: UnruledHandling? { hosted && side == .simple ? unruled ?? .block : nil }

    /// Creates a domain for which every request is refused with a status.
    package static func refused(_ status: Int) -> DomainConfiguration {
        DomainConfiguration(side: .simple, refuse: status)
    }
}

/// The parts of the agreement, by the names of the configuration.
extension DomainConfiguration {
    /// Presence model of the domain.
    package var side: DomainSide { federation.side }

    /// Whether this gateway is the home server of the domain's users.
    package var hosted: Bool { federation.isHosted }

    /// Next hop toward a domain that is not hosted.
    package var route: TransportAddress? { federation.route }

    /// Names and rule for its servers' certificates (RFC 5922); nil: the default of ``side``.
    package var certificate: PeerExpectation? { federation.certificate }

    /// Several next hops in place of ``route``.
    package var hops: [ListedHop] { federation.hops }

    /// Discovery of its servers, if no hop is configured; nil: none.
    package var discovery: Discovery? { federation.discovery }

    /// Next hops of single users; the first matching pattern decides.
    package var userRoutes: [UserRoute] { federation.userRoutes }

    /// Network of its users, for container resolution.
    package var network: DomainNetwork { federation.network }

    /// Pool GRUU of the domain: a hint for batch watchers (MS-PRES 3.4.5.1.3.1), and the first target of the gateway's own batches.
    package var poolFqdn: String? { federation.poolFQDN }

    /// Peers of the domain, and their rights.
    package var trust: DomainTrust { federation.trust }

    /// Status with which every request to and from the domain is refused (400 to 699); nil: not refused.
    package var refuse: Int? { federation.refusal?.rawValue }
}

extension GatewayConfiguration {
    /// Sets the trust of all domains that have the default one and are not refused, for test networks; nil changes nothing.
    public mutating func trust(_ trust: DomainTrust?) {
        guard let trust else { return }
        for (name, domain) in domains where domain.trust == DomainTrust() && domain.refuse == nil {
            domains[name]?.federation.trust = trust
        }
    }
}
