import FederationRouting
import SIPCore

/// Checks that every request passes before its method is handled, in the order of RFC 3261 8.2 and 16.3.
final class RequestScreening {
    let configuration: GatewayConfiguration
    let routes: RoutingTable
    let directory: HostedDirectory

    init(configuration: GatewayConfiguration, routes: RoutingTable, directory: HostedDirectory = HostedDirectory()) {
        self.configuration = configuration
        self.routes = routes
        self.directory = directory
    }

    /// Watcher and presentity of a request, after the checks.
    struct Parties {
        /// Address of record in From, without parameters.
        var watcher: SIPURI
        var watcherKey: String
        var watcherDomain: DomainConfiguration
        private(set) var presentity: SIPURI
        private(set) var presentityKey: String
        var presentityDomain: DomainConfiguration
        /// The presentity as the request names it; documents about it use this form.
        var entity: SIPURI
        /// Max-Forwards for the upstream request.
        var maxForwards: Int

        /// Sets the presentity of a request that names several.
        mutating func name(_ presentity: SIPURI, key: String) {
            self.presentity = presentity
            presentityKey = key
        }
    }

    static let understoodTags: Set<String> = [
        "eventlist", "adhoclist", "categorylist", "ms-benotify", "ms-piggyback-first-notify", "com.microsoft.autoextend", "gruu-10",
        "ms-forking", "timer", "gruu",
    ]

    /// Checks that need only the message; throws the first refusal.
    func check(_ request: SIPRequest) throws(Refusal) {
        let scheme = request.uri.scheme
        guard scheme == .sip || request.method == .options && scheme.hasHost || isTaken(request.uri) else {
            throw Refusal(.unsupportedURIScheme, "RFC 3261 8.2.2.1: the Request-URI's scheme is not taken here")
        }
        if let hops = request.headers.maxForwards, hops == 0, request.headers.toTag == nil, request.method != .options {
            throw .tooManyHops
        }
        let unknown = (request.headers.require + request.headers.proxyRequire).filter { tag in
            !Self.understoodTags.contains(tag.lowercased())
                && !(tag.lowercased() == ListRequest.tag && (isList(request) || request.headers.toTag != nil))
        }
        if !unknown.isEmpty { throw .badExtension(unknown) }
        if request.body.count > configuration.limits.bodyBytes { throw .bodyTooLarge }
        if !request.body.isEmpty {
            guard let type = request.headers.contentType else {
                throw .badRequest("RFC 3261 20.15: a body needs a Content-Type", errorID: 4013)
            }
            if type.essence == "application/pkcs7-mime" || type.essence == "multipart/signed" {
                throw Refusal(.undecipherable, "RFC 3261 21.4.30: encrypted or signed bodies cannot be read here")
            }
        }
    }

    private func isTaken(_ uri: SIPURI) -> Bool {
        if uri.scheme == .tel { return routes.identities.hasNumbers }
        return uri.scheme.hasHost && routes.identities.accepts(uri.scheme, for: routes.identities.domain(uri.domainKey))
    }

    /// Throws 482 if the request has passed this node and was not retargeted since (RFC 3261 16.3, item 4): a lower Via has a sent-by of
    /// this node. Hop marks detect the same unless they were removed.
    /// - Parameter places: sent-by values of this node.
    func checkVia(_ request: SIPRequest, addresses: Set<String>) throws(Refusal) {
        guard request.headers.toTag == nil, request.headers.vias.dropFirst().contains(where: { addresses.contains($0.sentBy) }),
            let to = request.headers.to?.uri, routes.identities.identity(of: to).key == routes.identities.identity(of: request.uri).key
        else { return }
        throw .loop
    }

    /// Watcher and presentity; throws 403 or 404 for refused or unknown domains, and for a URI without a user.
    func parties(_ request: SIPRequest, presentity: SIPURI? = nil) throws(Refusal) -> Parties {
        let sender = try Self.sender(of: request)
        let asked = presentity ?? request.uri
        let from = routes.identities.identity(of: sender).uri
        let presentity = routes.identities.identity(of: asked).uri
        guard presentity.user?.isEmpty == false else {
            throw Refusal(.notFound, "RFC 3856 6.4: the Request-URI names no user", errorID: 4007)
        }
        guard AnonymousUser.partner(ofHost: presentity.domainKey) == nil else {
            throw Refusal(.notFound, "RFC 3323 4.1.1.3: the Request-URI names nobody", errorID: 4007)
        }
        if let status = routes.refusal(of: asked, as: presentity) {
            throw Refusal(status, "the presentity's domain is not served here", errorID: 4005)
        }
        guard let presentityDomain = configuration.domain(presentity.domainKey) else {
            throw .forbidden("the presentity's domain is not configured", errorID: 4005)
        }
        guard var watcherDomain = configuration.domain(from.domainKey) else {
            throw .forbidden("the sender's domain is not configured", errorID: 1_002)
        }
        if let status = watcherDomain.refuse {
            throw Refusal(SIPStatus(rawValue: status), "the sender's domain is refused by configuration", errorID: 1_002)
        }
        try checkUser(presentity, of: presentityDomain)
        if watcherDomain.hosted, watcherDomain.side == .enterprise, directory.has(from.aorKey) == false {
            throw .forbidden("the sender is no user of its domain", errorID: 2004)
        }
        if !watcherDomain.hosted, let network = Self.markedNetwork(request.headers) { watcherDomain.federation.network = network }
        return Parties(
            watcher: from.addressOfRecord(), watcherKey: from.aorKey, watcherDomain: watcherDomain,
            presentity: presentity.addressOfRecord(), presentityKey: presentity.aorKey, presentityDomain: presentityDomain,
            entity: asked.entityForm,
            maxForwards: min(max((request.headers.maxForwards ?? 70) - 1, 0), 254))
    }

    /// Whether a SUBSCRIBE is sent to the list server (RFC 5367).
    func isList(_ request: SIPRequest) -> Bool {
        guard let server = configuration.listServer, request.method == .subscribe else { return false }
        return request.headers.toTag == nil && request.uri.aorKey == server.aorKey
    }

    /// Side that decides the form of a response: enterprise for SERVICE, which only enterprise clients send; else that of the sender's
    /// domain, simple if it is unknown.
    func side(of request: SIPRequest) -> DomainSide { side(of: request.method, request.headers) }

    /// The same, from headers that a response has in common with its request.
    func side(of method: SIPMethod?, _ headers: SIPHeaders) -> DomainSide {
        if method == .service { return .enterprise }
        return headers.from.flatMap { configuration.domain(of: $0.uri) }?.side ?? .simple
    }
}

/// Mark of a request that a gateway has handled: one token per node and presentity, so that a presence subscription that comes back to
/// the node is refused although each hop writes Via, Call-ID and branch of its own.
struct HopMark {
    static let header: SIPHeaderName = "Isthmus-Hop"
    static let limit = 16

    let token: String
    private let node: String
    /// Mark of this node's batches; a SUBSCRIBE with it was caused by one of them.
    private var batchToken: String { PresenceDigest(of: node).hex }

    init(node: String, presentity: String) {
        var digest = PresenceDigest(of: node)
        digest.add("|".utf8)
        digest.add(presentity.utf8)
        token = digest.hex
        self.node = node
    }

    /// Creates the mark of a batch, which names any number of presentities.
    init(node: String) {
        token = PresenceDigest(of: node).hex
        self.node = node
    }

    /// Removes this mark and the node's batch mark from a list of marks.
    func others(in loopMarkers: String) -> String {
        let batchToken = batchToken
        return loopMarkers.split(separator: ",").map { $0.filter { $0 != " " } }.filter { $0 != token && $0 != batchToken }
            .joined(separator: ", ")
    }

    /// Marks for the upstream request; throws 482 if this mark is present already, 483 if there are ``limit`` marks.
    func passOn(_ headers: SIPHeaders) throws(Refusal) -> String {
        guard headers.contains(Self.header) else { return token }
        var loopMarkers: [String] = []
        for line in headers.values(Self.header) {
            for mark in line.split(separator: ",") { loopMarkers.append(String(mark.filter { $0 != " " })) }
        }
        if loopMarkers.contains(token) || loopMarkers.contains(batchToken) { throw .loop }
        if loopMarkers.count >= Self.limit { throw .tooManyHops }
        return (loopMarkers + [token]).joined(separator: ", ")
    }
}
