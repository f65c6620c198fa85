import SIPCore

/// Decides which peer may send for which domain.
///
///     over TLS        the certificate decides (RFC 5922); a peer without one is no partner's server
///     over UDP, TCP   the address decides: `peers`, else the addresses of the domain's routes without TLS, or those its names resolve to
///     hosted domains  credentials decide; a partner's server may not send for our users unless `peers` lists it
///
/// Performs no lookups; resolved names are stored in ``located``.
public struct PeerTable: Hashable, Sendable {
    private struct Entry: Hashable {
        var name: String
        var domain: FederatedDomain
        var blocks: [AddressBlock]
        /// Hosts that send for the entry, besides servers that prove the domain itself.
        var hosts: [String]
        var rule: PeerNameRule

        init(_ name: String, _ domain: FederatedDomain) {
            self.name = name
            self.domain = domain
            var blocks: [AddressBlock] = []
            var hosts: [String] = []
            for pattern in domain.trust.peers {
                switch pattern {
                case .addresses(let block): blocks.append(block)
                case .name(let host): hosts.append(host)
                }
            }
            rule = domain.certificate?.rule ?? (domain.side == .enterprise ? .enterprise : .domain)
            let routes = domain.isHosted ? [] : domain.configuredRoutes
            if blocks.isEmpty { blocks = routes.filter { $0.transport != .tls }.flatMap { PeerTable.blocks(of: $0.host) } }
            // The host of an enterprise route is the partner's access edge server; RFC 5922 requires the domain itself.
            if hosts.isEmpty, domain.side == .enterprise || name == RoutingTable.fallbackName { hosts = routes.map(\.host) }
            self.blocks = blocks
            self.hosts = hosts
        }

        func isProved(by identity: PeerIdentity) -> Bool {
            if domain.certificate?.verdict(on: identity).isProved == true { return true }
            if hosts.contains(where: { identity.proves($0, by: hostRule).isProved }) { return true }
            return name != RoutingTable.fallbackName && identity.proves(name, by: rule).isProved
        }

        /// The rule for hosts named by the operator, which are accepted for both sides.
        private var hostRule: PeerNameRule {
            var rule = rule
            rule.takesHostsBesideDomains = true
            return rule
        }
    }

    private let routes: RoutingTable
    private let partners: [Entry]
    private let hosted: [String: Entry]
    /// The located servers of partners that are known by name only.
    public var located = LocatedServers()

    /// Creates a table from the routes; refused domains get no entry.
    public init(_ routes: RoutingTable) {
        self.routes = routes
        var partners: [Entry] = []
        var hosted: [String: Entry] = [:]
        for name in routes.names {
            guard let domain = routes[name], domain.refusal == nil else { continue }
            let entry = Entry(name, domain)
            if domain.isHosted { hosted[name] = entry } else { partners.append(entry) }
            if routes.locatesNames { located.add(name, domain) }
        }
        self.partners = partners
        self.hosted = hosted
    }

    /// The address blocks of a route's host that are known without a lookup.
    private static func blocks(of host: String) -> [AddressBlock] {
        host == "localhost" ? AddressBlock.loopback : AddressBlock(host).map { [$0] } ?? []
    }

    /// Identifies the peer that sends from an address.
    /// - Parameter domains: the domains with a server at that address, from ``located``.
    public func peer(at remote: TransportAddress, proving identity: PeerIdentity?, locatedIn domains: [String] = []) -> Peer {
        let isEncrypted = remote.transport == .tls
        let proof: Peer.Proof = isEncrypted ? (identity == nil ? .none : .certificate) : .address
        let known = partners.filter { entry in
            isEncrypted
                ? identity.map(entry.isProved) ?? false
                : entry.blocks.contains { $0.contains(remote.host) } || domains.contains(entry.name)
        }
        return Peer(
            proof: proof, host: remote.host, identity: isEncrypted ? identity : nil, domains: known.map(\.name), kind: Self.kind(of: known),
            isEdge: known.contains { $0.domain.trust.isEdge && $0.domain.network == .sameEnterprise },
            isTrusted: known.contains { $0.domain.network == .sameEnterprise || $0.domain.trust.asserts },
            isNamed: !known.isEmpty
                || !isEncrypted && hosted.values.contains { $0.blocks.contains { $0.contains(remote.host) } })
    }

    /// The least trusted network of the entries: a server that also sends for federated domains is not part of our
    /// enterprise.
    private static func kind(of known: [Entry]) -> Peer.Kind {
        let networks = Set(known.map(\.domain.network))
        if networks.contains(.publicCloud) { return .publicCloud }
        if networks.contains(.federated) { return .federated }
        return networks.contains(.sameEnterprise) ? .sameEnterprise : .untrusted
    }

    /// Checks whether a peer may send for a user: the URI of From, or of the remote party of a dialog.
    /// - Parameter usersSignIn: whether senders from hosted domains are challenged for credentials on this listener.
    public func verdict(on peer: Peer, speakingFor uri: SIPURI, usersSignIn: @autoclosure () -> Bool) -> SpeakerVerdict {
        let domain =
            uri.scheme.hasHost ? routes.identities.domain(uri.domainKey) : routes.identities.identity(of: uri).uri.domainKey
        guard let (name, entry) = routes.entry(for: domain), entry.refusal == nil, !domain.isEmpty else { return .unknown }
        if entry.isHosted { return verdict(on: peer, speakingForUsersOf: name, usersSignIn: usersSignIn) }
        let isKnown = peer.domains.contains(name)
        let proves = name == RoutingTable.fallbackName && peer.identity.map { $0.proves(domain, by: rule(of: name)).isProved } ?? false
        guard isKnown || proves else { return .unauthorized(reason: reason(peer, name, domain)) }
        return .partner(
            .init(name: name == RoutingTable.fallbackName ? domain : name, entry: name, isDiscovered: proves && !isKnown))
    }

    private func verdict(on peer: Peer, speakingForUsersOf name: String, usersSignIn: () -> Bool) -> SpeakerVerdict {
        guard let entry = hosted[name] else { return .unknown }
        if !entry.domain.trust.peers.isEmpty {
            let isNamed =
                peer.identity.map(entry.isProved) ?? (peer.proof == .address && entry.blocks.contains { $0.contains(peer.host) })
            return isNamed
                ? .user(domain: name) : .unauthorized(reason: "\(peer.host) is not among the peers of \(name), which is hosted here")
        }
        let isPartner = !peer.domains.isEmpty && (peer.proof == .certificate || !usersSignIn())
        return isPartner
            ? .unauthorized(
                reason: "the server of \(peer.domains.joined(separator: ", ")) does not speak for users of \(name), hosted here")
            : .user(domain: name)
    }

    /// Whether a host may receive requests of a dialog with the remote URI: the peer itself, an address or name of the
    /// domain's servers, or a name inside the domain. Any host is accepted for hosted domains, because their users choose
    /// their own Contact.
    public func isAddress(_ host: String, of uri: SIPURI, beside peer: Peer, at now: Instant) -> Bool {
        let asked = routes.identities.domain(uri.domainKey)
        let domain = AnonymousUser.partner(ofHost: asked) ?? asked
        guard let (name, agreement) = routes.entry(for: domain), !agreement.isHosted, let entry = partners.first(where: { $0.name == name })
        else { return true }
        if TransportAddress.isNumeric(host) {
            let own = AddressBlock(peer.host)
            return host == peer.host || own?.contains(host) == true || entry.blocks.contains { $0.contains(host) }
                || located.domains(of: host, at: now).contains(name)
        }
        return host == domain || host.hasSuffix("." + domain) || entry.hosts.contains(host)
            || agreement.configuredRoutes.contains { $0.host == host }
            || entry.domain.trust.peers.contains(.name(host)) || peer.identity?.names(by: .enterprise).contains(host) == true
    }

    /// The hop targets to look up before a peer without TLS can be checked for a user's domain; empty if nothing is missing.
    public func unlocated(speakingFor uri: SIPURI, at now: Instant) -> [HopTarget] {
        guard !located.isEmpty else { return [] }
        let identity = routes.identities.identity(of: uri).uri
        return located.unlocated(uri.scheme.hasHost ? routes.identities.domain(uri.domainKey) : identity.domainKey, at: now)
    }

    /// The accepted senders for one domain, for an operator.
    public struct Speakers: Hashable, Sendable {
        /// Accepted addresses without TLS.
        public var addresses: [AddressBlock] = []
        /// Hop targets with accepted addresses without TLS.
        public var hopTargets: [HopTarget] = []
        /// Accepted names over TLS; the peer must prove one of them.
        public var names: [String] = []
        /// Whether users of a hosted domain may send from any address.
        public var isAnywhere = false
    }

    /// The accepted senders for a domain; empty if it is refused or has no entry.
    public func speakers(for host: String) -> Speakers {
        var speakers = Speakers()
        guard let (name, domain) = routes.entry(for: host), domain.refusal == nil else { return speakers }
        speakers.isAnywhere = domain.isHosted && domain.trust.peers.isEmpty
        guard !speakers.isAnywhere, let entry = hosted[name] ?? partners.first(where: { $0.name == name }) else { return speakers }
        speakers.addresses = entry.blocks
        speakers.hopTargets = located.hopTargets(of: name)
        speakers.names = (domain.certificate?.names ?? []) + entry.hosts.filter { !TransportAddress.isNumeric($0) }
        if !domain.isHosted { speakers.names.append(routes.identities.domain(SIPURI(host: host).domainKey)) }
        var seen: Set<String> = []
        speakers.names.removeAll { !seen.insert($0).inserted }
        return speakers
    }

    /// Whether an address belongs to a partner of the peer, so that a request of the peer may be answered there.
    public func isServer(_ host: String, beside peer: Peer) -> Bool {
        host == peer.host || partners.contains { entry in peer.domains.contains(entry.name) && entry.blocks.contains { $0.contains(host) } }
    }

    /// Whether an address belongs to a server of a partner: by `peers`, by its routes without TLS, or by its resolved
    /// names.
    public func isServer(_ host: String, of partner: String, at now: Instant) -> Bool {
        guard let (name, _) = routes.entry(for: partner) else { return false }
        return located.domains(of: host, at: now).contains(name)
            || partners.contains { $0.name == name && $0.blocks.contains { $0.contains(host) } }
    }

    private func rule(of name: String) -> PeerNameRule { partners.first { $0.name == name }?.rule ?? .domain }

    private func reason(_ peer: Peer, _ name: String, _ domain: String) -> String {
        switch peer.proof {
        case .certificate:
            let why = peer.identity?.proves(domain, by: rule(of: name)).description ?? ""
            return "\(peer.host) may not speak for \(domain): \(why)"
        case .none:
            return "\(peer.host) may not speak for \(domain): it showed no certificate"
        case .address:
            let entry = partners.first { $0.name == name }
            let blocks = ((entry?.blocks ?? []) + located.addresses(of: name)).map(\.description).joined(separator: ", ")
            return blocks.isEmpty
                ? "\(peer.host) may not speak for \(domain), whose servers prove themselves by certificates, or by addresses in `peers`"
                : "\(peer.host) may not speak for \(domain), whose servers are \(blocks)"
        }
    }
}

extension FederatedDomain {
    /// All configured next hops, those of single users included.
    fileprivate var configuredRoutes: [TransportAddress] {
        (route.map { [$0] } ?? []) + hops.map(\.address) + userRoutes.flatMap { $0.hops.map(\.address) }
    }
}
