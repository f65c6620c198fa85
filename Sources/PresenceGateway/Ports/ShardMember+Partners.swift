import FederationRouting
import SIPCore

/// Partners and next hops by the shared settings alone.
extension ShardMember {
    /// The partner of a domain; nil: the domain is hosted here, or not served.
    func partnerName(ofDomain domain: String) -> String? {
        guard let (name, entry) = routes.entry(for: domain), entry.refusal == nil, !entry.isHosted else { return nil }
        return name == RoutingTable.fallbackName ? domain : name
    }

    /// The partner of a user; nil: the user's domain is hosted here, or not served.
    func partnerName(of user: SIPURI) -> String? {
        partnerName(ofDomain: configuration.canonical(user).domainKey)
    }

    /// The domains that belong to a partner.
    func domains(ofPartner partner: String, among names: some Sequence<String>) -> [String] {
        // A domain covered by `"*"` only is a partner of its own.
        if let (name, _) = routes.entry(for: partner), name == RoutingTable.fallbackName { return [partner] }
        return names.filter { partnerName(ofDomain: $0) == partner }
    }

    /// Next hop toward a user of another domain; nil: none.
    func hop(toward uri: SIPURI) -> NextHop? {
        let user = configuration.identities.identity(of: uri).uri
        return configuration.domain(user.domainKey).flatMap { hop(toward: user, in: $0) }
    }

    func hop(toward user: SIPURI, in domain: DomainConfiguration, isSecure: Bool = false) -> NextHop? {
        var isSecure = isSecure || user.isSecure
        if !isSecure, domain.discovery != nil, let (name, entry) = routes.entry(for: user.domainKey) { isSecure = entry.needsTLS(as: name) }
        return domain.nextHop(
            toward: user.domainKey, user: user.decodedUser, isSecure: isSecure, locatesNames: configuration.naming != nil)
    }

    /// Whether a domain is one that ``assertIdentity(for:on:toward:isPrivate:)`` adds header fields for.
    func mayAssertIdentity(toward domain: DomainConfiguration?) -> Bool {
        guard let domain, !domain.hosted else { return false }
        return domain.trust.asserts || domain.side == .enterprise && domain.network == .sameEnterprise
    }

    /// Asserts the sender to a partner that accepts it (RFC 3325 9.1, RFC 5876), and its network to the servers of our own enterprise
    /// (MS-SIPRE 2.2.15).
    /// - Parameters:
    ///   - user: the authenticated user: the watcher of a SUBSCRIBE, the presentity of a NOTIFY or a publication.
    ///   - domain: destination of the request; nil adds nothing.
    ///   - isPrivate: whether the user requests privacy outside the trust domain (RFC 3325 9.3).
    func assertIdentity(for user: SIPURI, on request: inout SIPRequest, toward domain: DomainConfiguration?, isPrivate: Bool = false) {
        guard let domain, mayAssertIdentity(toward: domain), AnonymousUser.partner(ofHost: user.domainKey) == nil else { return }
        if domain.trust.asserts {
            request.headers.set(.pAssertedIdentity, "<\(user.addressOfRecord())>")
            if isPrivate { request.headers.set(.privacy, "id") }
        }
        guard domain.side == .enterprise, domain.network == .sameEnterprise,
            let (name, home) = routes.entry(for: configuration.canonical(user).domainKey), home.network != .sameEnterprise
        else { return }
        let network = home.network == .publicCloud ? "publiccloud" : "federation"
        let kind =
            home.network == .publicCloud
            ? "AuthorizedServer" : name == RoutingTable.fallbackName ? "AutoFederation" : "DirectPartner"
        request.headers.set(
            .msEdgeProxyMessageTrust,
            "ms-source-type=\(kind);ms-ep-fqdn=\(configuration.nodeName);ms-source-verified-user=verified;ms-source-network=\(network)")
        request.headers.set(.msSourceNetwork, network)
    }
}
