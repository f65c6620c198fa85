import PresenceGateway
import SIPCore

/// A domain's keys about certificates, kept until every domain is read.
struct CertificateClaim {
    var domain: String
    var entry: ConfigurationNode
    /// Any of them proves the domain's servers; in lower case.
    var names: [String]
    var rule: PeerNameRule
}

/// `tls`, and what domains say of certificates: who we are, whom we trust, and what partners have to prove (RFC 5922).
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

    /// `domains.NAME.trust`, `.certificate-names`, `.wildcards`, and what has to be proved at its route.
    ///
    /// An enterprise partner's server proves its own host name, a standard one its domain (RFC 5922 7.1), unless names are given.
    mutating func readCertificateKeys(
        _ fields: [String: ConfigurationNode], of domain: inout DomainConfiguration, named name: String, entry: ConfigurationNode
    ) {
        for key in ["trust", "certificate-names", "wildcards"] where domain.hosted {
            fields[key]?.refuse("is for partners: this domain is hosted here")
        }
        for key in ["trust", "certificate-names", "wildcards"] where domain.route.map({ $0.transport != .tls }) ?? false {
            fields[key]?.refuse("is for a route over TLS")
        }
        guard !domain.hosted, let route = domain.route, route.transport == .tls else { return }
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
        var names: [String] = []
        if let list = fields["certificate-names"] {
            let elements = list.elements() ?? []
            if elements.isEmpty { list.refuse("at least one name is needed, as in [ sip.example.com ]") }
            for element in elements {
                guard let text = element.string()?.lowercased() else { continue }
                guard Self.isDomainName(text), !PeerIdentity.isAddress(text) else {
                    element.refuse("is no host name or domain name; no certificate proves anything else (RFC 5922 7.1)")
                    continue
                }
                names.append(text)
            }
        } else if domain.side == .simple, name != "*" {
            names = [name]
        } else if PeerIdentity.isAddress(route.host) {
            fields["route"]?.refuse(
                "names an address, which no certificate proves: name the host, or give `certificate-names` (RFC 5922 7.1)")
        } else {
            names = [route.host.lowercased()]
        }
        guard let first = names.first else { return }
        domain.route?.provenName = first
        domain.certificate = PeerExpectation(names, by: rule)
        certificateClaims.append(CertificateClaim(domain: name, entry: entry, names: names, rule: rule))
    }

    /// Joins what `tls` and the domains say, and refuses what does not go together.
    mutating func finishTLS(_ root: ConfigurationNode, tls: ConfigurationNode?) {
        let usesTLS = configuration.listeners.contains { $0.transport == .tls }
        guard configuration.tls != nil else {
            // A section that could not be read is one mistake, not two.
            guard tls == nil else { return }
            if usesTLS { root.refuse("`tls` is missing: a listener with TLS needs { certificate: PATH, key: PATH, trust: PATH }") }
            for claim in certificateClaims { claim.entry.refuse("a route over TLS needs `tls` at the highest level") }
            return
        }
        if !usesTLS, certificateClaims.isEmpty {
            tls?.refuse("nothing uses it: no listener and no route is over TLS")
        } else if !usesTLS, problems.all.isEmpty {
            tls?.refuse("a route over TLS needs a listener with TLS: partners send requests of their own to it")
        }
        var owners: [String: CertificateClaim] = [:]
        for claim in certificateClaims {
            configuration.tls?.expectations[claim.names[0]] = PeerExpectation(claim.names, by: claim.rule)
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

    /// What all partners are known by, if they all are: then no other certificate is taken at all.
    private var closedFederation: [PeerExpectation]? {
        let served = configuration.domains.values.filter { $0.refuse == nil }
        let known = served.compactMap(\.certificate)
        let isOpen = served.contains { $0.hosted } || configuration.domains["*"].map { $0.refuse == nil } ?? false
        return isOpen || known.count != served.count ? nil : known
    }
}
