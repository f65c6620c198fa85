import FederationRouting
import HTTPTransport
import PresenceGateway
import SIPCore

/// Certificate keys of a domain, kept until all domains are read.
struct CertificateClaim {
    enum Scope {
        /// A configured server, which must prove the first of the names.
        case host
        /// The servers that DNS names for the domain.
        case within
    }

    var domain: String
    var entry: ConfigurationNode
    var scope: Scope
    /// Names of which a server must prove one, in lower case; empty when each server proves its own.
    var names: [String]
    var rule: PeerNameRule
    /// Whether requests may use any connection that the domain's servers opened.
    var reuses: Bool
}

/// `tls` and the certificate keys of domains: own certificates, trusted roots, and names that partners must prove (RFC 5922).
extension ConfigurationReader {
    mutating func readTLS(_ tls: ConfigurationNode) {
        let known = ["certificate", "key", "trust", "names", "warn-days", "handshake-seconds", "handshakes"]
        guard let fields = tls.fields(known) else { return }
        let own = readPair(fields, of: tls)
        let trust = fields["trust"]?.string().map { path($0) }
        var names: [String: TLSFiles.Pair] = [:]
        for entry in fields["names"]?.entries() ?? [] {
            let name = entry.name.lowercased()
            guard Self.isDomainName(name) else {
                entry.keyNode.refuse("is no host name or domain name")
                continue
            }
            guard let fields = entry.value.fields(["certificate", "key"]) else { continue }
            if names[name] != nil { entry.keyNode.refuse("is given more than once (names compare without case)") }
            names[name] = readPair(fields, of: entry.value)
        }
        let days = fields["warn-days"]?.integer(0...3_650)
        let seconds = fields["handshake-seconds"]?.integer(1...300)
        let handshakes = fields["handshakes"]?.integer(1...1_000_000)
        guard let own else { return }
        var files = TLSFiles(own: own)
        files.names = names
        files.trust = trust
        if let days { files.warningTime = .seconds(days * 86_400) }
        if let seconds { files.handshakeTimeout = .seconds(seconds) }
        if let handshakes { files.maximumHandshakes = handshakes }
        configuration.tls = files
    }

    private func readPair(_ fields: [String: ConfigurationNode], of node: ConfigurationNode) -> TLSFiles.Pair? {
        for name in ["certificate", "key"] where fields[name] == nil {
            node.refuse("`\(name)` is missing: the path of a file in PEM form")
        }
        let certificate = fields["certificate"]?.string()
        let key = fields["key"]?.string()
        guard let certificate, let key else { return nil }
        return TLSFiles.Pair(certificate: path(certificate), key: path(key))
    }

    /// Reads `domains.NAME.trust`, `.certificate-names`, `.wildcards` and `.reuse`, and derives the names that each server of the domain
    /// must prove.
    ///
    /// Unless names are given, a server of an enterprise domain must prove its host name, and one of a SIMPLE domain must prove the domain
    /// (RFC 5922 7.1).
    mutating func readCertificateKeys(
        _ fields: [String: ConfigurationNode], of domain: inout DomainConfiguration, named name: String, entry: ConfigurationNode
    ) {
        let keys = ["trust", "certificate-names", "wildcards", "reuse"]
        if domain.hosted {
            for key in keys { fields[key]?.refuse("is for partners: this domain is hosted here") }
            return
        }
        let transports = Set(domain.configuredHops.map(\.address.transport))
        // Report an unreadable route as one mistake, not two.
        guard !transports.isEmpty || domain.discovery != nil else { return }
        guard transports.contains(.tls) || domain.discovery != nil else {
            for key in keys { fields[key]?.refuse("is for a route over TLS") }
            return
        }
        if transports.contains(.tls) || domain.discovery == .tls || domain.discovery != nil && domain.side == .enterprise {
            entriesOverTLS.append(entry)
        }
        if name == "*", domain.discovery != nil {
            for key in keys { fields[key]?.refuse("is for domains with a name, and for routes") }
            return
        }
        var rule = domain.side == .enterprise ? PeerNameRule.enterprise : .domain
        if let trust = fields["trust"] {
            if name == "*" {
                trust.refuse("is for domains with a name; the roots for all others are tls.trust")
            } else if let text = trust.string() {
                domainTrust[name] = path(text)
                rule.roots = name
            }
        }
        rule.allowsWildcards = fields["wildcards"]?.bool() ?? false
        let reuses = fields["reuse"]?.bool() ?? false
        var agreed = fields["certificate-names"].map(readCertificateNames) ?? []
        if fields["certificate-names"] == nil, domain.side == .simple, name != "*" { agreed = [name] }
        if domain.discovery != nil {
            certificateClaims.append(
                CertificateClaim(domain: name, entry: entry, scope: .within, names: agreed, rule: rule, reuses: reuses))
        }
        var names = agreed
        let hasNames = !agreed.isEmpty || fields["certificate-names"] != nil
        domain.changeConfiguredHops { key, address in
            guard address.transport == .tls else { return }
            var expected = agreed
            if !hasNames {
                guard !address.isNumeric else {
                    fields[key]?.refuse(
                        "names an address, which no certificate proves: name the host, or give `certificate-names` (RFC 5922 7.1)")
                    return
                }
                expected = [address.host.lowercased()]
                if !names.contains(expected[0]) { names += expected }
            }
            guard let first = expected.first else { return }
            address.provenName = first
            certificateClaims.append(
                CertificateClaim(domain: name, entry: entry, scope: .host, names: expected, rule: rule, reuses: reuses))
        }
        domain.federation.certificate = PeerExpectation(names, by: rule)
    }

    private func readCertificateNames(_ list: ConfigurationNode) -> [String] {
        let elements = list.elements() ?? []
        if elements.isEmpty { list.refuse("at least one name is needed, as in [ sip.example.com ]") }
        return elements.compactMap { element in
            guard let text = element.string()?.lowercased() else { return nil }
            guard Self.isDomainName(text), !TransportAddress.isNumeric(text) else {
                element.refuse("is no host name or domain name; no certificate proves anything else (RFC 5922 7.1)")
                return nil
            }
            return text
        }
    }

    /// Combines `tls` with the certificate keys of the domains, and reports contradictions.
    mutating func finishTLS(_ root: ConfigurationNode, tls: ConfigurationNode?) {
        let usesTLS = configuration.listeners.contains { $0.transport == .tls }
        guard configuration.tls != nil else {
            // Report an unreadable section as one mistake, not two.
            guard tls == nil else { return }
            if usesTLS { root.refuse("`tls` is missing: a listener with TLS needs { certificate: PATH, key: PATH, trust: PATH }") }
            for entry in entriesOverTLS { entry.refuse("a route over TLS needs `tls` at the highest level") }
            return
        }
        let servesDocuments = configuration.documents?.listeners.contains(where: \.isSecure) ?? false
        if !usesTLS, certificateClaims.isEmpty, entriesOverTLS.isEmpty {
            if !servesDocuments { tls?.refuse("nothing uses it: no listener and no route is over TLS") }
        } else if !usesTLS, problems.all.isEmpty {
            tls?.refuse("a route over TLS needs a listener with TLS: partners send requests of their own to it")
        }
        var owners: [String: CertificateClaim] = [:]
        for claim in certificateClaims {
            guard claim.scope == .host else {
                configuration.tls?.expectationsWithin[claim.domain] = PeerExpectation(
                    claim.names, by: claim.rule, reusesConnections: claim.reuses)
                continue
            }
            let isReused = configuration.tls?.expectations[claim.names[0]]?.reusesConnections ?? false
            configuration.tls?.expectations[claim.names[0]] = PeerExpectation(
                claim.names, by: claim.rule, reusesConnections: claim.reuses || isReused)
            if let other = owners[claim.names[0]], other.names != claim.names || other.rule != claim.rule {
                claim.entry.refuse(
                    "its server has to prove \(claim.names[0]), as that of \(other.domain), but by other names, roots or wildcards")
            }
            owners[claim.names[0]] = claim
        }
        configuration.tls?.domainTrust = domainTrust
        if configuration.tls?.trust == nil {
            for claim in certificateClaims where claim.rule.roots == PeerIdentity.commonRoots {
                claim.entry.refuse("has no roots: give `tls.trust` for all domains, or `trust` here")
            }
            if usesTLS, domainTrust.isEmpty {
                tls?.refuse("`trust` is missing: the path of the roots of partners' certificates in PEM form")
            }
        }
        if let other = configuration.domains["*"], other.refuse == nil, other.side == .enterprise {
            configuration.tls?.defaultRule = .enterprise
        }
        let closed = closedFederation
        configuration.tls?.clientExpectations = closed
    }

    /// Names of all partners with TLS, of which a client must prove one; nil when not all names are known, so that other certificates are
    /// accepted too.
    private var closedFederation: [PeerExpectation]? {
        let served = configuration.domains.filter { $0.value.refuse == nil }
        // The servers in an enterprise's DNS are known only at lookup.
        let isOpen = served.contains { name, domain in
            name == "*" || domain.hosted || domain.discovery != nil && domain.certificate?.names.isEmpty ?? true
        }
        // A certificate for the domain itself also identifies the partner, beside those of its servers.
        let domains = served.compactMap { name, domain in
            domain.certificate.flatMap { $0.names.contains(name) || $0.names.isEmpty ? nil : PeerExpectation([name], by: $0.rule) }
        }
        let known = served.values.compactMap(\.certificate) + served.values.compactMap(\.expectationOfPeers) + domains
        return isOpen || known.isEmpty ? nil : known
    }
}

extension DomainConfiguration {
    /// Configured next hops of the domain, including those of single users.
    fileprivate var configuredHops: [ListedHop] { (route.map { [ListedHop($0)] } ?? []) + hops + userRoutes.flatMap(\.hops) }

    /// Changes the address of each next hop; `key` is the key under which it is configured.
    fileprivate mutating func changeConfiguredHops(_ change: (_ key: String, inout TransportAddress) -> Void) {
        if var address = route {
            change("route", &address)
            federation.route = address
        }
        for index in hops.indices { change("routes", &federation.hops[index].address) }
        for place in userRoutes.indices {
            for index in userRoutes[place].hops.indices { change("users", &federation.userRoutes[place].hops[index].address) }
        }
    }

    /// Expectation for the names in `peers`, which the operator vouches for on either side.
    fileprivate var expectationOfPeers: PeerExpectation? {
        let names = trust.peers.compactMap { if case .name(let name) = $0 { name } else { nil } }
        guard !names.isEmpty else { return nil }
        var rule = certificate?.rule ?? (side == .enterprise ? .enterprise : .domain)
        rule.takesHostsBesideDomains = true
        return PeerExpectation(names, by: rule)
    }
}
