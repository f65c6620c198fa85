import SIPCore

/// The partner domains of this node, by exact name, else `*`; other domains are refused. Performs no lookups.
public struct RoutingTable: Hashable, Sendable {
    /// The name of the entry for domains without an own entry.
    public static let fallbackName = "*"

    private var domains: [String: FederatedDomain] = [:]
    /// The configured forms of user URIs.
    public var identities: IdentityTable
    /// Whether the core resolves host names of configured hops; false leaves them to the transport.
    public var locatesNames = false

    /// Creates a table; names are compared ignoring case and a final dot.
    public init(_ domains: [String: FederatedDomain] = [:], identities: IdentityTable = IdentityTable()) {
        self.identities = identities
        for (name, domain) in domains { self[name] = domain }
    }

    /// The entry with exactly this name, ignoring case and a final dot.
    public subscript(name: String) -> FederatedDomain? {
        get { domains[Self.key(name)] }
        set { domains[Self.key(name)] = newValue }
    }

    /// The names of all entries, sorted.
    public var names: [String] { domains.keys.sorted() }

    /// The entry that applies to a domain, with its name; nil if the domain has none and there is no `*`.
    public func entry(for host: String) -> (name: String, domain: FederatedDomain)? {
        let key = Self.key(host)
        if key != Self.fallbackName, let domain = domains[key] { return (key, domain) }
        if let (partner, domain) = anonymousPartner(ofHost: key) { return (partner, domain) }
        return domains[Self.fallbackName].map { (Self.fallbackName, $0) }
    }

    /// Returns the partner of the host of an anonymous user (``AnonymousUser``).
    private func anonymousPartner(ofHost host: String) -> (name: String, domain: FederatedDomain)? {
        guard let partner = AnonymousUser.partner(ofHost: host), let domain = domains[partner], !domain.isHosted else { return nil }
        return (partner, domain)
    }

    /// Decides where a request for a URI is sent (RFC 3261 16.5), whatever form of the user's URI it uses.
    ///
    /// - Returns: 416 for a scheme without a domain or one that the domain does not accept, 404 for a number outside all prefixes,
    ///   403 for a domain without an entry, the configured status for a refused domain, 404 for a domain without a route, 480 if TLS
    ///   is required and no hop has it.
    public func decide(_ uri: SIPURI) -> RouteDecision {
        let identity = identities.identity(of: uri)
        var decision = decide(uri, as: identity.uri)
        if !identity.reason.isEmpty { decision.reason = "\(identity.reason); \(decision.reason)" }
        return decision
    }

    /// The refusal of requests for a URI, as ``decide(_:)`` finds it, without the reason; nil: they are served.
    /// - Parameter canonical: canonical form of the URI.
    public func refusal(of uri: SIPURI, as canonical: SIPURI) -> SIPStatus? {
        if canonical.scheme.hasHost {
            let host = Self.key(canonical.host)
            if identities.accepts(uri.scheme, for: host), let domain = domains[host], host != Self.fallbackName, domain.refusal == nil,
                domain.isHosted
            {
                return nil
            }
        }
        guard case .refuse(let status) = decide(uri, as: canonical).outcome else { return nil }
        return status
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
        case .located(let hopTarget):
            if case .listed(let hops) = hopTarget.lookup {
                how = "with the \(hops.count == 1 ? "route" : "routes") \(hopTarget)"
            } else {
                how = "and located by \(hopTarget)"
            }
        }
        return RouteDecision(outcome: .forward(domain, to: hop), rule: name, reason: "\(matched) \(how)")
    }

    private static func key(_ host: String) -> String { SIPURI(host: host).domainKey }
}
