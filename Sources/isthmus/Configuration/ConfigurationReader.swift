import Administration
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Storage
import Yams

/// Reads a configuration file (YAML) into a `ProgramConfiguration`, or into all of its mistakes.
///
/// Unknown keys are mistakes, and so is what this version cannot do yet: nothing that is written is silently ignored.
struct ConfigurationReader {
    private static let unsupported = "is not supported in this version"

    /// Where relative paths start: empty, or ends with a slash.
    let folder: String
    private var configuration = ProgramConfiguration()
    private let problems = ConfigurationProblems()
    /// What domains claim besides their own names, in the order of the file.
    var claims: [NameClaim] = []

    /// - Parameter file: The name for the mistakes, and where paths in the text start; nothing is read from it here.
    static func read(_ text: String, file: String) throws(ConfigurationError) -> ProgramConfiguration {
        var reader = ConfigurationReader(folder: file.lastIndex(of: "/").map { String(file[...$0]) } ?? "")
        let root: Node?
        do {
            root = try Yams.compose(yaml: text)
        } catch {
            throw ConfigurationError(file: file, problems: [syntaxProblem(error)])
        }
        guard let root else {
            let problem = ConfigurationProblem(
                line: 1, column: 1, key: "", value: nil, rule: "the file is empty; `listen` and `domains` are needed")
            throw ConfigurationError(file: file, problems: [problem])
        }
        reader.readRoot(ConfigurationNode(node: root, key: "", problems: reader.problems))
        guard reader.problems.all.isEmpty else { throw ConfigurationError(file: file, problems: reader.problems.all) }
        return reader.configuration
    }

    /// What the parser of YAML could not read, as a mistake with its place.
    static func syntaxProblem(_ error: any Error) -> ConfigurationProblem {
        func problem(_ mark: Mark?, _ rule: String) -> ConfigurationProblem {
            ConfigurationProblem(line: mark?.line ?? 1, column: mark?.column ?? 1, key: "", value: nil, rule: rule)
        }
        switch error as? YamlError {
        case .scanner(_, let text, let mark, _), .parser(_, let text, let mark, _), .composer(_, let text, let mark, _):
            return problem(mark, "not valid YAML: \(text)")
        case .duplicatedKeysInMapping(let names, let context):
            return problem(context.mark, "key given more than once: \(Set(names).sorted().joined(separator: ", "))")
        case .reader(let text, _, _, _):
            return problem(nil, "not valid YAML: \(text)")
        default:
            return problem(nil, "not valid YAML: \(error)")
        }
    }

    // MARK: Sections

    private mutating func readRoot(_ root: ConfigurationNode) {
        let known = [
            "node", "listen", "tls", "store", "directory", "domains", "limits", "timing", "transport", "mappings", "admin",
            "tls-dsk",
        ]
        guard let fields = root.fields(known) else { return }
        if let node = fields["node"] { readNode(node) }
        if let tls = fields["tls"] { tls.refuse("TLS \(Self.unsupported)") }
        if let store = fields["store"] { readStore(store) }
        // Before the domains, whose own times differ from it.
        if let timing = fields["timing"] { readTiming(timing) }
        if let domains = fields["domains"] { readDomains(domains) } else { root.refuse("`domains` is missing: nobody could be reached") }
        if let node = fields["node"] { checkShards(node) }
        // After the domains: whether users must sign in depends on whether any are hosted.
        if let listen = fields["listen"] {
            readListen(listen, hasDirectory: fields["directory"] != nil, hasTLSDSK: fields["tls-dsk"] != nil)
        } else {
            root.refuse("`listen` is missing: at least one listener is needed")
        }
        if let directory = fields["directory"] { readDirectory(directory) }
        if let tlsDSK = fields["tls-dsk"] { readTLSDSK(tlsDSK) }
        if let limits = fields["limits"] { readLimits(limits) }
        if let transport = fields["transport"] { readTransport(transport) }
        if let mappings = fields["mappings"] { configuration.mappingsDirectory = mappings.string() }
        if let admin = fields["admin"] { readAdmin(admin) }
    }

    private mutating func readNode(_ node: ConfigurationNode) {
        guard let fields = node.fields(["name", "advertised", "shards", "list-server", "epid"]) else { return }
        if let name = fields["name"]?.string() { configuration.nodeName = name }
        configuration.advertisedHost = fields["advertised"]?.string()
        if let shards = fields["shards"]?.integer(1...256) { configuration.shards = shards }
        if let epid = fields["epid"], let text = epid.string() {
            if (1...16).contains(text.utf8.count), text.utf8.allSatisfy({ (48...57).contains($0) || (97...102).contains($0 | 0x20) }) {
                configuration.publisherEPID = text
            } else {
                epid.refuse("is not 1 to 16 hexadecimal digits (MS-SIPRE 2.2.1)")
            }
        }
        guard let server = fields["list-server"], let text = server.string() else { return }
        guard let uri = SIPURI(text), uri.scheme == .sip || uri.scheme == .sips, uri.user?.isEmpty == false else {
            return server.refuse("is no sip: or sips: URI with a user; as in sip:lists@example.org")
        }
        configuration.listServer = uri
        if configuration.shards > 1 {
            server.refuse("goes with one shard in this version: the presentities of a list may be anywhere")
        }
    }

    /// A batch of a user's client is served by the user's shard, which knows nothing of users on the others.
    private func checkShards(_ node: ConfigurationNode) {
        let homes = configuration.domains.filter { $0.value.hosted && $0.value.side == .enterprise }.keys.sorted()
        guard configuration.shards > 1, let home = homes.first else { return }
        node.refuse("more than one shard cannot be the home of \(home) in this version: its users subscribe to each other in batches")
    }

    private mutating func readListen(_ listen: ConfigurationNode, hasDirectory: Bool, hasTLSDSK: Bool) {
        guard let elements = listen.elements() else { return }
        if elements.isEmpty { listen.refuse("at least one listener is needed") }
        let hosted = configuration.domains.filter(\.value.hosted).keys.min()
        for element in elements {
            guard let listener = ListenerReader(element) else { continue }
            let address = listener.address
            if address.transport == .tls {
                listener.node.refuse("TLS \(Self.unsupported)")
            } else if address.port != 0, configuration.listeners.contains(address) {
                listener.node.refuse("is listed twice")
            } else {
                configuration.listeners.append(address)
                configuration.listenerAuthentication.append(
                    listener.authentication(hosted: hosted, hasDirectory: hasDirectory, hasTLSDSK: hasTLSDSK))
            }
        }
    }

    private mutating func readTLSDSK(_ tlsDSK: ConfigurationNode) {
        guard let fields = tlsDSK.fields(["certificate", "key", "client-ca", "sts-uri"]) else { return }
        let paths = ["certificate", "key", "client-ca"].map { fields[$0]?.string().map { path($0) } }
        for (name, value) in zip(["certificate", "key", "client-ca"], paths) where value == nil && fields[name] == nil {
            tlsDSK.refuse("`\(name)` is missing: the path of a file in PEM form")
        }
        var service: String?
        if let field = fields["sts-uri"], let text = field.string() {
            let isURI =
                text.hasPrefix("https://")
                && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
            if isURI { service = text } else { field.refuse("must be an https URI") }
        }
        guard let certificate = paths[0], let key = paths[1], let authority = paths[2] else { return }
        configuration.tlsDSK = TLSDSKFiles(certificate: certificate, key: key, clientAuthority: authority, certificateService: service)
    }

    private mutating func readStore(_ store: ConfigurationNode) {
        guard let fields = store.fields(["memory", "sqlite", "synchronous", "megabytes", "on-stop", "postgresql"]) else { return }
        fields["postgresql"]?.refuse("storage in PostgreSQL \(Self.unsupported); use store: { sqlite: PATH }")
        if let memory = fields["memory"], memory.bool() == false { memory.refuse("leave it out, and give a path as sqlite") }
        guard let sqlite = fields["sqlite"] else {
            for name in ["synchronous", "megabytes", "on-stop"] { fields[name]?.refuse("goes with sqlite only") }
            return
        }
        fields["memory"]?.refuse("a store is in memory or in SQLite, not both")
        guard let path = sqlite.string() else { return }
        var chosen = ProgramConfiguration.Store(path: path)
        if let synchronous = fields["synchronous"]?.choice(SQLiteStore.Synchronous.self) { chosen.options.synchronous = synchronous }
        if let megabytes = fields["megabytes"]?.integer(1...1_048_576) { chosen.options.maximumBytes = megabytes << 20 }
        if let onStop = fields["on-stop"]?.choice(StopPolicy.self) { chosen.onStop = onStop }
        configuration.store = chosen
    }

    /// A path of the file, which starts where the file is.
    func path(_ text: String) -> String { text.hasPrefix("/") ? text : folder + text }

    private mutating func readDirectory(_ directory: ConfigurationNode) {
        guard let fields = directory.fields(["file", "ldap"]) else { return }
        switch (fields["file"], fields["ldap"]) {
        case (let file?, nil): configuration.directory = file.string().map { .file(path($0)) }
        case (nil, let ldap?): configuration.directory = readLDAP(ldap).map(DirectorySource.ldap)
        case (nil, nil) where directory.node.mapping?.isEmpty != true: break
        default: directory.refuse("needs `file` or `ldap`, and not both")
        }
        if configuration.directoryDomains.isEmpty { directory.refuse("is for hosted domains, and there is none") }
    }

    private mutating func readDomains(_ domains: ConfigurationNode) {
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
            "watcher-list", "pool-fqdn", "refuse", "discover", "udp-only", "publish",
            "aliases", "schemes", "numbers", "expires", "when-lost",
        ]
        guard let fields = entry.fields(known) else { return nil }
        fields["discover"]?.refuse("discovery by DNS \(Self.unsupported); give a route")
        if let refuse = fields["refuse"] {
            if fields.count > 1 { refuse.refuse("stands alone: a refused domain has no other keys") }
            return refuse.integer(400...699).map(DomainConfiguration.refused)
        }
        if fields["discover"] != nil { return nil }
        guard let sideNode = fields["side"] else {
            entry.refuse("`side` is missing: enterprise or simple")
            return nil
        }
        guard let side = sideNode.choice(DomainSide.self) else { return nil }
        var domain = DomainConfiguration(side: side)
        let hosted = fields["hosted"].map { $0.bool() }
        domain.hosted = hosted == true
        domain.requiresRegistration = domain.hosted && side == .enterprise
        if let registration = fields["registration"] {
            enum Registration: String, CaseIterable { case required, optional }
            if !domain.requiresRegistration { registration.refuse("is for hosted enterprise domains") }
            domain.requiresRegistration = registration.choice(Registration.self) == .required
        }
        if let route = fields["route"], let next = route.address() {
            if next.transport == .tls {
                route.refuse("TLS \(Self.unsupported)")
            } else if next.port == 0 {
                route.refuse("a route needs a port")
            }
            domain.route = next
        }
        // Users of the house count as such unless told otherwise.
        if domain.hosted, side == .enterprise { domain.network = .sameEnterprise }
        if let network = fields["network"]?.choice(SourceNetwork.self) { domain.network = network }
        if let profile = fields["profile"]?.choice(DomainProfile.self) { domain.profile = profile }
        if let upstream = fields["upstream"] {
            if side != .enterprise { upstream.refuse("is for enterprise domains; a simple domain is always asked for PIDF") }
            if let format = upstream.choice(UpstreamFormat.self) { domain.upstream = format }
        }
        readForms(fields, of: &domain, named: name)
        if let expires = fields["expires"] {
            domain.expires = readRange(
                expires, standard: side == .enterprise ? configuration.timing.enterprise : configuration.timing.simple)
        }
        if let lost = fields["when-lost"] {
            if domain.hosted { lost.refuse("is for domains with a route: what is hosted here cannot be lost") }
            if let choice = lost.choice(LostPresence.self) { domain.whenLost = choice }
        }
        if let lossless = fields["lossless"]?.bool() { domain.lossless = lossless }
        if let publish = fields["publish"] {
            if domain.hosted { publish.refuse("is for domains that are not hosted: users of this one may publish anyway") }
            domain.publish = publish.bool() ?? false
        }
        StandardDomainReader(fields: fields).read(into: &domain)
        domain.poolFqdn = fields["pool-fqdn"]?.string()
        if domain.hosted, let route = fields["route"] { route.refuse("a hosted domain has no route: this gateway is its home server") }
        // A `hosted` that could not be read is one mistake, not two.
        if !domain.hosted, hosted != .some(nil), fields["route"] == nil {
            entry.refuse("needs `route`, or `hosted: true`, or `refuse`")
        }
        if let only = fields["udp-only"], let value = only.bool(), value {
            if let route = domain.route, route.transport == .udp {
                configuration.transport.datagramOnlyPeers.insert(route)
            } else {
                only.refuse("is for domains with a route over UDP")
            }
        }
        return domain
    }

    private mutating func readLimits(_ limits: ConfigurationNode) {
        let paths: [(String, WritableKeyPath<GatewayLimits, Int>)] = [
            ("subscriptions-per-watcher", \.subscriptionsPerWatcher), ("subscriptions-per-presentity", \.subscriptionsPerPresentity),
            ("subscriptions", \.subscriptions), ("watched-resources", \.watchedResources),
            ("upstream-subscriptions", \.upstreamSubscriptions), ("pending-output", \.pendingOutput),
            ("body-bytes", \.bodyBytes), ("transactions", \.transactions),
            ("presentities", \.presentities), ("registrations", \.registrations), ("registrations-per-user", \.registrationsPerUser),
            ("publications-per-presentity", \.publicationsPerPresentity), ("publication-bytes", \.publicationBytes),
            ("category-bytes", \.categoryBytes), ("members-per-user", \.membersPerUser),
            ("resources-per-batch", \.resourcesPerBatch), ("categories-per-subscription", \.categoriesPerSubscription),
            ("subscribers-per-user", \.subscribersPerUser), ("context-bytes-per-user", \.contextBytesPerUser),
            ("delegates-per-user", \.delegatesPerUser), ("contacts-per-user", \.contactsPerUser), ("groups-per-user", \.groupsPerUser),
            ("directory-search-results", \.directorySearchResults), ("journal-entries", \.journalEntries),
            ("publication-bridges", \.publicationBridges),
        ]
        let signIn: [(String, WritableKeyPath<AuthenticationLimits, Int>)] = [
            ("authentication-failures", \.failures), ("security-associations", \.associations),
            ("security-associations-per-user", \.associationsPerUser), ("digest-nonces", \.nonces),
            ("tls-handshakes", \.handshakes), ("tls-handshakes-per-address", \.handshakesPerSource),
        ]
        guard let fields = limits.fields(paths.map(\.0) + signIn.map(\.0)) else { return }
        for (name, path) in paths {
            if let value = fields[name]?.integer(1...100_000_000) { configuration.limits[keyPath: path] = value }
        }
        for (name, path) in signIn {
            if let value = fields[name]?.integer(1...100_000_000) { configuration.authenticationLimits[keyPath: path] = value }
        }
        // What the gateway would answer with 413 must reach it.
        configuration.transport.maximumBodyBytes = max(configuration.transport.maximumBodyBytes, configuration.limits.bodyBytes * 2)
    }

    private mutating func readTiming(_ timing: ConfigurationNode) {
        let ranges: [(String, WritableKeyPath<GatewayTiming, GatewayTiming.ExpiryRange>)] = [
            ("enterprise-expires", \.enterprise), ("simple-expires", \.simple), ("publication-expires", \.publication),
            ("registration-expires", \.registration),
        ]
        let spans: [(String, WritableKeyPath<GatewayTiming, TimeSpan>)] = [
            ("notify-spacing-ms", \.notifySpacing), ("first-notify-ms", \.firstNotifyGrace), ("poll-wait-ms", \.pollWait),
            ("retry-minimum-ms", \.retryMinimum), ("retry-maximum-ms", \.retryMaximum), ("stale-after-ms", \.staleAfter),
            ("connection-grace-ms", \.connectionGrace), ("restart-grace-ms", \.restartGrace), ("overload-late-ms", \.overloadLateness),
            ("restore-pace-ms", \.restorePace), ("publish-wait-ms", \.publishWait),
        ]
        guard let fields = timing.fields(ranges.map(\.0) + spans.map(\.0) + ["retry-after-s"]) else { return }
        for (name, path) in ranges {
            guard let node = fields[name] else { continue }
            configuration.timing[keyPath: path] = readRange(node, standard: configuration.timing[keyPath: path])
        }
        for (name, path) in spans {
            if let value = fields[name]?.integer(0...86_400_000) { configuration.timing[keyPath: path] = .milliseconds(value) }
        }
        if let value = fields["retry-after-s"]?.integer(1...86_400) { configuration.timing.retryAfter = value }
    }

    /// Seconds, each of which defaults to that of `standard`.
    private func readRange(_ node: ConfigurationNode, standard: GatewayTiming.ExpiryRange) -> GatewayTiming.ExpiryRange {
        var range = standard
        guard let parts = node.fields(["minimum", "default", "maximum"]) else { return range }
        let seconds = 1...31_536_000
        if let value = parts["minimum"]?.integer(seconds) { range.minimum = value }
        if let value = parts["default"]?.integer(seconds) { range.standard = value }
        if let value = parts["maximum"]?.integer(seconds) { range.maximum = value }
        if !(range.minimum <= range.standard && range.standard <= range.maximum) {
            node.refuse("must rise: minimum \(range.minimum), default \(range.standard), maximum \(range.maximum)")
        }
        return range
    }

    private mutating func readTransport(_ transport: ConfigurationNode) {
        enum LargeRequests: String, CaseIterable { case tcp, udp }
        let known = ["idle-s", "connect-ms", "queue-bytes", "header-bytes", "connections", "large-udp-requests"]
        guard let fields = transport.fields(known) else { return }
        if let value = fields["idle-s"]?.integer(1...604_800) { configuration.transport.idleTimeout = .seconds(value) }
        if let value = fields["connect-ms"]?.integer(1...600_000) { configuration.transport.connectTimeout = .milliseconds(value) }
        if let value = fields["queue-bytes"]?.integer(65_536...1_073_741_824) { configuration.transport.maximumQueuedBytes = value }
        if let value = fields["header-bytes"]?.integer(1_024...1_048_576) { configuration.transport.maximumHeaderBytes = value }
        if let value = fields["connections"]?.integer(1...10_000_000) { configuration.transport.maximumConnections = value }
        if fields["large-udp-requests"]?.choice(LargeRequests.self) == .udp { configuration.transport.largestDatagramRequest = nil }
    }

    private mutating func readAdmin(_ admin: ConfigurationNode) {
        guard let fields = admin.fields(["http", "inspect", "socket"]) else { return }
        let inspects = fields["inspect"].map { $0.bool() ?? false } ?? false
        if let http = fields["http"], let text = http.string() {
            do {
                let (host, port) = try TransportAddress.parseHostPort(text[...], defaultPort: nil)
                let address = AdministrationAddress.http(host: host, port: port)
                if inspects, !address.isLocal {
                    fields["inspect"]?.refuse(
                        "shows who watches whom to everybody who reaches \(text); only on loopback, else use `socket`")
                }
                configuration.admin.append(.init(address: address, inspects: inspects))
            } catch {
                http.refuse("\(error.rule); as in 127.0.0.1:8080")
            }
        } else {
            fields["inspect"]?.refuse("goes with `http`; a socket always shows who watches whom")
        }
        if let socket = fields["socket"]?.string() { configuration.admin.append(.init(address: .socket(path(socket)), inspects: true)) }
    }
}
