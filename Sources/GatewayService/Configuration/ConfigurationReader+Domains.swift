import FederationRouting
import PresenceGateway
import PresenceRules
import SIPCore
import SIPTransport

/// `domains`: the served domains.
extension ConfigurationReader {
    mutating func readDomains(_ domains: ConfigurationNode) {
        guard let entries = domains.entries() else { return }
        if entries.isEmpty { domains.refuse("at least one domain is needed") }
        for entry in entries {
            let name = entry.name.lowercased()
            guard name == "*" || Self.isDomainName(name) else {
                entry.keyNode.refuse("is neither a domain name nor \"*\"")
                continue
            }
            guard configuration.domains[name] == nil else {
                entry.keyNode.refuse("is given more than once (names compare without case)")
                continue
            }
            if let domain = readDomain(entry.value, named: name) { configuration.domains[name] = domain }
        }
        checkClaims(domains: Set(entries.map { $0.name.lowercased() }))
    }

    private mutating func readDomain(_ entry: ConfigurationNode, named name: String) -> DomainConfiguration? {
        let known = [
            "side", "hosted", "registration", "route", "network", "profile", "upstream", "lossless", "partial", "list-service",
            "watcher-list", "pool-fqdn", "refuse", "discover", "routes", "users", "udp-only", "publish", "publish-as",
            "aliases", "schemes", "numbers", "expires", "when-lost", "trust", "certificate-names", "wildcards", "reuse",
            "peers", "edge", "asserts", "allow", "deny", "limits", "keep-alive", "categories", "credentials", "unruled",
        ]
        guard let fields = entry.fields(known) else { return nil }
        if let refuse = fields["refuse"] {
            if fields.count > 1 { refuse.refuse("stands alone: a refused domain has no other keys") }
            return refuse.integer(400...699).map(DomainConfiguration.refused)
        }
        guard let sideNode = fields["side"] else {
            entry.refuse("`side` is missing: enterprise or simple")
            return nil
        }
        guard let side = sideNode.choice(DomainSide.self) else { return nil }
        var domain = DomainConfiguration(side: side)
        let hosted = fields["hosted"].map { $0.bool() }
        domain.federation.isHosted = hosted == true
        domain.requiresRegistration = domain.hosted && side == .enterprise
        if let registration = fields["registration"] {
            enum Registration: String, CaseIterable { case required, optional }
            if !domain.requiresRegistration { registration.refuse("is for hosted enterprise domains") }
            domain.requiresRegistration = registration.choice(Registration.self) == .required
        }
        // Report an unreadable `hosted` as one mistake, not two.
        if hosted != .some(nil) { RouteReader(fields: fields, isNamed: name != "*").read(into: &domain, at: entry) }
        readCertificateKeys(fields, of: &domain, named: name, entry: entry)
        // Hosted users belong to the own enterprise by default.
        if domain.hosted, side == .enterprise { domain.federation.network = .sameEnterprise }
        if let network = fields["network"]?.choice(DomainNetwork.self) { domain.federation.network = network }
        if let profile = fields["profile"]?.choice(DomainProfile.self) { domain.profile = profile }
        if let upstream = fields["upstream"] {
            if side != .enterprise { upstream.refuse("is for enterprise domains; a simple domain is always asked for PIDF") }
            if let format = upstream.choice(UpstreamFormat.self) { domain.upstream = format }
        }
        readForms(fields, of: &domain, named: name)
        if let categories = fields["categories"] { domain.categories = readCategories(categories) }
        if let expires = fields["expires"] {
            domain.expires = readRange(
                expires, standard: side == .enterprise ? configuration.core.timing.enterprise : configuration.core.timing.simple)
        }
        if let lost = fields["when-lost"] {
            if domain.hosted { lost.refuse("is for domains with a route: what is hosted here cannot be lost") }
            if let choice = lost.choice(LostPresence.self) { domain.whenLost = choice }
        }
        if let unruled = fields["unruled"] {
            if !domain.hosted || side != .simple { unruled.refuse("is for hosted simple domains") }
            domain.unruled = unruled.choice(UnruledHandling.self)
        }
        if let lossless = fields["lossless"]?.bool() { domain.lossless = lossless }
        if let publish = fields["publish"] {
            if domain.hosted { publish.refuse("is for domains that are not hosted: users of this one may publish anyway") }
            domain.publish = publish.bool() ?? false
        }
        if let form = fields["publish-as"] {
            if side != .enterprise || !domain.publish { form.refuse("is for enterprise domains with `publish: true`") }
            if let choice = form.choice(PublishForm.self) { domain.publishAs = choice }
        }
        StandardDomainReader(fields: fields).read(into: &domain)
        TrustReader(fields: fields).read(into: &domain)
        if let keepAlive = fields["keep-alive"] {
            if domain.hosted || name == "*" { keepAlive.refuse("is for domains with a name that live elsewhere") }
            domain.keepAlive = keepAlive.isZero ? .zero : keepAlive.integer(10...3_600).map(TimeSpan.seconds)
        }
        if let credentials = fields["credentials"] {
            if domain.hosted || name == "*" { credentials.refuse("is for domains with a name that live elsewhere") }
            configuration.credentials[name] = CredentialsFile(credentials) { path($0) }
        }
        domain.federation.poolFQDN = fields["pool-fqdn"]?.string()
        if let only = fields["udp-only"], let value = only.bool(), value {
            if let route = domain.route, route.transport == .udp {
                configuration.transport.datagramOnlyPeers.insert(route)
            } else {
                only.refuse("is for domains with a route over UDP")
            }
        }
        return domain
    }
}
