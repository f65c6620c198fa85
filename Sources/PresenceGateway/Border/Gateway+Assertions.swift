import FederationRouting
import SIPCore

/// Assertions about the sender in requests to trusting domains.
extension Gateway {
    /// Asserts the sender to a partner that accepts it (RFC 3325 9.1, RFC 5876), and its network to the servers of our own enterprise
    /// (MS-SIPRE 2.2.15).
    /// - Parameters:
    ///   - user: the authenticated user: the watcher of a SUBSCRIBE, the presentity of a NOTIFY or a publication.
    ///   - domain: destination of the request; nil adds nothing.
    ///   - isPrivate: whether the user requests privacy outside the trust domain (RFC 3325 9.3).
    func assertIdentity(for user: SIPURI, on request: inout SIPRequest, toward domain: DomainConfiguration?, isPrivate: Bool = false) {
        guard let domain, !domain.hosted, AnonymousUser.partner(ofHost: user.domainKey) == nil else { return }
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

extension RequestScreening {
    /// The sender of a request: the identity asserted by a trusted neighbour (RFC 3325 9.1), else From. Other assertions were removed
    /// before.
    static func sender(of request: SIPRequest) throws(Refusal) -> SIPURI {
        guard let from = request.headers.from?.uri else { throw .badRequest("RFC 3261 20.20: From cannot be read") }
        let anonymous = try Self.anonymousSender(request.headers, from: from)
        guard let asserted = request.headers.assertedIdentities.lazy.map(\.uri).first(where: \.scheme.hasHost) else {
            return anonymous ?? from
        }
        if let anonymous, Self.hidesIdentity(request.headers) { return anonymous }
        // The upstream SUBSCRIBE names the watcher, so a watcher that must not be named cannot be served.
        if Self.hidesIdentity(request.headers), asserted.aorKey != from.aorKey {
            throw Refusal(SIPStatus(rawValue: 433), "RFC 5079 5: a watcher that hides its identity is not served")
        }
        return asserted
    }

    /// Whether Privacy hides the sender's identity from untrusted networks (RFC 3323 4.2, RFC 3325 9.3).
    static func hidesIdentity(_ headers: SIPHeaders) -> Bool {
        headers.values(.privacy).flatMap { $0.split { $0 == ";" || $0 == "," } }
            .contains { ["id", "user", "header"].contains($0.filter { $0 != " " }.lowercased()) }
    }

    /// The network that an edge server of our enterprise marked in a request; nil: none.
    static func markedNetwork(_ headers: SIPHeaders) -> DomainNetwork? {
        var mark = headers.first(.msSourceNetwork)?.lowercased()
        if mark == nil, let trust = headers.first(.msEdgeProxyMessageTrust) {
            let part = trust.split(separator: ";").first { $0.filter { $0 != " " }.lowercased().hasPrefix("ms-source-network=") }
            mark = part.map { String($0.drop { $0 != "=" }.dropFirst()).lowercased() }
        }
        switch mark.map({ $0.filter { $0 != " " } }) {
        case "publiccloud": return .publicCloud
        case "federation": return .federated
        default: return nil
        }
    }
}
