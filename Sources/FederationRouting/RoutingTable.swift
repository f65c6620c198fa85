import SIPCore

/// The partner domains of this node: an exact name, else `*`, else refused. Decides; looks nothing up.
public struct RoutingTable: Hashable, Sendable {
    /// The entry for every domain that has none.
    public static let fallbackName = "*"

    private var domains: [String: FederatedDomain] = [:]
    /// Which URIs name one user.
    public var identities: IdentityTable
    /// Configured hosts that are names are looked up by the core; else they are left to the transport.
    public var locatesNames = false

    public init(_ domains: [String: FederatedDomain] = [:], identities: IdentityTable = IdentityTable()) {
        self.identities = identities
        for (name, domain) in domains { self[name] = domain }
    }

    /// The entry with exactly this name, without regard to case and to a final dot.
    public subscript(name: String) -> FederatedDomain? {
        get { domains[Self.key(name)] }
        set { domains[Self.key(name)] = newValue }
    }

    /// Names of all entries, sorted.
    public var names: [String] { domains.keys.sorted() }

    /// The entry that speaks for a domain, with its name.
    public func entry(for host: String) -> (name: String, domain: FederatedDomain)? {
        let key = Self.key(host)
        if key != Self.fallbackName, let domain = domains[key] { return (key, domain) }
        if let (partner, domain) = anonymousPartner(ofHost: key) { return (partner, domain) }
        return domains[Self.fallbackName].map { (Self.fallbackName, $0) }
    }

    /// The partner whose anonymous user has this host (``AnonymousUser``).
    private func anonymousPartner(ofHost host: String) -> (name: String, domain: FederatedDomain)? {
        guard let partner = AnonymousUser.partner(ofHost: host), let domain = domains[partner], !domain.isHosted else { return nil }
        return (partner, domain)
    }

    /// Where a request for this URI goes (RFC 3261 16.5 for a node that knows its partners), whichever form of its user's names it is.
    ///
    /// - Returns: 416 for a scheme without a domain, or one that the domain does not take; 404 for a number of nobody; 403 for a domain
    ///   that nobody agreed on, 404 for one without a route.
    public func decide(_ uri: SIPURI) -> RouteDecision {
        let identity = identities.identity(of: uri)
        var decision = decide(uri, as: identity.uri)
        if !identity.reason.isEmpty { decision.reason = "\(identity.reason); \(decision.reason)" }
        return decision
    }

    private func decide(_ uri: SIPURI, as canonical: SIPURI) -> RouteDecision {
        guard canonical.scheme.hasHost else {
            if uri.scheme == .tel, identities.hasNumbers {
                let reason = "no domain has this number (RFC 3966 5)"
                return RouteDecision(outcome: .refuse(.notFound), rule: "", reason: reason)
            }
            let reason = "\(uri.scheme.rawValue): names no domain (RFC 3261 8.2.2.1)"
            return RouteDecision(outcome: .refuse(.unsupportedURIScheme), rule: "", reason: reason)
        }
        let host = Self.key(canonical.host)
        guard identities.accepts(uri.scheme, for: host) else {
            let reason = "\(uri.scheme.rawValue): is not among the schemes of \(host) (RFC 3261 8.2.2.1)"
            return RouteDecision(outcome: .refuse(.unsupportedURIScheme), rule: host, reason: reason)
        }
        guard let (name, domain) = entry(for: host) else {
            return RouteDecision(outcome: .refuse(.forbidden), rule: "", reason: "\(host) is not configured, and there is no \"*\"")
        }
        let matched = name == Self.fallbackName ? "\(host) is covered by \"*\"" : "\(host) is configured"
        if let refusal = domain.refusal {
            return RouteDecision(outcome: .refuse(refusal), rule: name, reason: "\(matched) and refused")
        }
        if domain.isHosted { return RouteDecision(outcome: .local(domain), rule: name, reason: "\(matched) and hosted here") }
        let user = canonical.user.flatMap { _ in canonical.decodedUser ?? canonical.user }
        let isSecure = uri.isSecure || domain.needsTLS(as: name)
        guard let hop = domain.nextHop(toward: host, user: user, isSecure: isSecure, locatesNames: locatesNames) else {
            guard domain.hasHop(for: user) else {
                return RouteDecision(outcome: .refuse(.notFound), rule: name, reason: "\(matched), but has no route")
            }
            let reason = "\(matched), but its route is not TLS, which sips demands (RFC 3261 26.2.2)"
            return RouteDecision(outcome: .refuse(.temporarilyUnavailable), rule: name, reason: reason)
        }
        let how: String
        switch hop {
        case .fixed(let route): how = "with the route \(route)"
        case .located(let goal):
            if case .listed(let hops) = goal.way {
                how = "with the \(hops.count == 1 ? "route" : "routes") \(goal)"
            } else {
                how = "and located by \(goal)"
            }
        }
        return RouteDecision(outcome: .forward(domain, to: hop), rule: name, reason: "\(matched) \(how)")
    }

    private static func key(_ host: String) -> String { SIPURI(host: host).domainKey }
}
