import Administration
import FederationRouting
import Foundation
import NameResolution
import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport
import Storage
import Testing

@testable import GatewayService

@Suite struct ConfigurationReaderTests {
    static let example = """
        node:    { name: edge1.example.net, list-server: "sip:lists@example.org" }
        listen:  [ { address: "udp:127.0.0.1:5060", authentication: none }, { address: "tcp:[::1]:0", authentication: none } ]
        store:   { memory: true }
        directory: { file: users.yaml }
        domains:
          contoso.com:  { side: enterprise, hosted: true }
          Fabrikam.com: { side: enterprise, route: "tcp:sip.fabrikam.com", network: publicCloud, upstream: msrtc }
          example.org:  { side: simple, route: "udp:127.0.0.1:5080", network: federated, profile: rpid-draft, udp-only: true }
          "*":          { refuse: 403 }
        limits:  { subscriptions-per-watcher: 7, body-bytes: 1000 }
        timing:  { simple-expires: { minimum: 10, default: 20, maximum: 30 }, poll-wait-ms: 250 }
        transport: { idle-s: 60, large-udp-requests: udp }
        admin:   { http: "127.0.0.1:8080" }
        """

    @Test("every section of an example becomes values") func example() throws {
        let configuration = try ConfigurationReader.read(Self.example, file: "x.yaml")
        #expect(configuration.node.name == "edge1.example.net")
        #expect(configuration.listeners == [TransportAddress(.udp, "127.0.0.1", 5060), TransportAddress(.tcp, "::1", 0)])
        #expect(
            configuration.domains["contoso.com"]
                == DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise, requiresRegistration: true))
        #expect(
            configuration.domains["fabrikam.com"]
                == DomainConfiguration(
                    side: .enterprise, route: TransportAddress(.tcp, "sip.fabrikam.com", 5060), network: .publicCloud, upstream: .msrtc))
        #expect(configuration.domains["contoso.com"]?.upstream == nil)
        #expect(configuration.domains["example.org"]?.profile == .rpidDraft)
        #expect(configuration.domains["*"]?.refuse == 403)
        #expect(configuration.transport.datagramOnlyPeers == [TransportAddress(.udp, "127.0.0.1", 5080)])
        #expect(configuration.transport.largestDatagramRequest == nil)
        #expect(configuration.transport.idleTimeout == .seconds(60))
        #expect(configuration.core.limits.subscriptionsPerWatcher == 7)
        #expect(configuration.core.timing.simple == .init(minimum: 10, standard: 20, maximum: 30))
        #expect(configuration.core.timing.pollWait == .milliseconds(250))
        #expect(configuration.core.timing.notifySpacing == .seconds(5))
        #expect(configuration.core.listServer?.description == "sip:lists@example.org")
        #expect(configuration.directory == .file("users.yaml"))
        #expect(configuration.directoryDomains == ["contoso.com"])
        #expect(configuration.admin == [.init(address: .http(host: "127.0.0.1", port: 8080), inspects: false)])
    }

    @Test("several shards may be the home of an enterprise domain, and have the list server") func shards() throws {
        let configuration = try ConfigurationReader.read(
            "node: { shards: 4, list-server: \"sip:lists@example.org\" }\nlisten: [ { address: \"udp:a:5060\", authentication: none } ]\n"
                + "domains: { contoso.com: { side: enterprise, hosted: true } }", file: "x")
        #expect(configuration.node.shards == 4 && configuration.core.listServer?.description == "sip:lists@example.org")
    }

    @Test("routes, users' routes, discovery and DNS servers become values") func locating() throws {
        let text = """
            listen: [ "udp:a:5060", "tls:a:5061" ]
            tls: { certificate: own.pem, key: own.key, trust: roots.pem }
            domains:
              example.org:
                side: simple
                routes: [ "tcp:192.0.2.1:5060", { to: "tcp:edge.example.org:5062", priority: 20, weight: 60 } ]
                users: { "lab-*": { route: "udp:192.0.2.3:5060" } }
              example.com: { side: enterprise, discover: true }
              "*": { side: simple, discover: tls }
            dns: { servers: [ "127.0.0.1:5353", "2001:db8::53" ], timeout-ms: 500, tries: 3, ipv6-first: true, hosts: false, stale-s: 0 }
            """
        let configuration = try ConfigurationReader.read(text, file: "x.yaml")
        let domain = try #require(configuration.domains["example.org"])
        #expect(
            domain.hops == [
                ListedHop(TransportAddress(.tcp, "192.0.2.1", 5060)),
                ListedHop(TransportAddress(.tcp, "edge.example.org", 5062), priority: 20, weight: 60),
            ])
        #expect(domain.userRoutes == [UserRoute(UserPattern("lab-*"), [ListedHop(TransportAddress(.udp, "192.0.2.3", 5060))])])
        #expect(configuration.domains["example.com"]?.discovery == .neverWeaker)
        #expect(configuration.domains["*"]?.discovery == .tls)
        #expect(configuration.names.servers == ["127.0.0.1:5353", "[2001:db8::53]:53"])
        #expect(configuration.names.hostsFile == nil)
        #expect(configuration.core.naming.prefersIPv6)
        let table = configuration.routingTable
        func outcome(_ uri: String) throws -> RouteDecision.Outcome { table.decide(try #require(SIPURI(uri))).outcome }
        guard case .forward(_, .fixed(let lab)) = try outcome("sip:lab-1@example.org"),
            case .forward(_, .located(let partner)) = try outcome("sip:x@example.com"),
            case .forward(_, .located(let anybody)) = try outcome("sip:x@anywhere.example")
        else {
            Issue.record("not routed")
            return
        }
        #expect(lab.host == "192.0.2.3")
        #expect(partner == HopTarget("example.com", .enterprise))
        #expect(anybody == HopTarget("anywhere.example", .standard(transport: nil, port: nil), isSecure: true))
    }

    @Test("who watches whom is shown on a socket, and over HTTP on the loopback where that is asked for") func inspection() throws {
        let text = "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nadmin: "
        let both = try ConfigurationReader.read(
            text + "{ http: \"[::1]:8080\", inspect: true, socket: run/a.sock }", file: "/etc/isthmus/x.yaml")
        #expect(
            both.admin == [
                .init(address: .http(host: "::1", port: 8080), inspects: true),
                .init(address: .socket("/etc/isthmus/run/a.sock"), inspects: true),
            ])
        #expect(both.admin.map(\.address.description) == ["http:[::1]:8080", "unix:/etc/isthmus/run/a.sock"])
        let alone = try ConfigurationReader.read(text + "{ socket: a.sock }", file: "x.yaml")
        #expect(alone.admin == [.init(address: .socket("a.sock"), inspects: true)])
        for (admin, rule) in [
            ("{ http: \"0.0.0.0:8080\", inspect: true }", "only on loopback, else use `socket`"),
            ("{ inspect: true, socket: a.sock }", "goes with `http`"), ("{ http: \"127.0.0.1:1\", inspect: yes }", "must be true or false"),
        ] {
            let error = #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(text + admin, file: "x") }
            #expect(error?.lines.count == 1)
            #expect(error?.lines.first?.contains(rule) == true, "\(admin)")
        }
    }

    @Test("TLS-DSK has three files, which start where the configuration is, and perhaps a service that issues certificates")
    func tlsDSK() throws {
        let text =
            "listen: [ { address: \"udp:a:5060\", authentication: tls-dsk } ]\ndomains: { a: { side: enterprise, hosted: true } }\n"
            + "directory: { file: u.yaml }\ntls-dsk: { certificate: c.pem, key: /k.pem, client-ca: ca.pem, sts-uri: \"https://a.example/s\" }"
        let configuration = try ConfigurationReader.read(text, file: "etc/isthmus.yaml")
        #expect(
            configuration.signIn.tlsDSK
                == TLSDSKFiles(
                    certificate: "etc/c.pem", key: "/k.pem", clientAuthority: "etc/ca.pem", certificateService: "https://a.example/s"))
        #expect(configuration.listenerAuthentication.map(\.schemes) == [.tlsDSK])
    }

    @Test("the event loop is late from 100 ms on, or never; a listener for any offers certificates", arguments: [0, 100])
    func lateness(_ value: Int) throws {
        let text =
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: enterprise, hosted: true } }\ndirectory: { file: u.yaml }\n"
            + "timing: { overload-late-ms: \(value) }\ntls-dsk: { certificate: c, key: k, client-ca: a }"
        let configuration = try ConfigurationReader.read(text, file: "x")
        #expect(configuration.core.timing.overloadLateness == .milliseconds(value))
        #expect(configuration.signIn.tlsDSK != nil)
    }

    @Test("what needs a restart stays as it was when the file is read anew, and is named") func fixed() throws {
        let started = try ConfigurationReader.read(Self.example, file: "x")
        var same = started
        #expect(same.keepFixed(of: started).isEmpty)
        var other = started
        other.node.name = "edge2.example.net"
        other.listeners.removeLast()
        other.signIn.limits.failures = 3
        other.core.limits.bodyBytes = 2_000
        #expect(other.keepFixed(of: started) == ["node.name", "listen", "limits of sign-in"])
        #expect(other.core.limits.bodyBytes == 2_000)
        other.core.limits.bodyBytes = started.core.limits.bodyBytes
        #expect(other == started)
    }

    @Test("a node that is given no name goes by the machine's, so that two nodes differ") func nodeName() throws {
        let text = "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }"
        #expect(try ConfigurationReader.read(text, file: "x").node.name == MachineName.current)
        #expect(try ConfigurationReader.read(text + "\nnode: { name: Edge2 }", file: "x").node.name == "Edge2")
        var system = utsname()
        uname(&system)
        let name = withUnsafeBytes(of: &system.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #expect(MachineName.current == MachineName.hostName(name))
        #expect(MachineName.hostName("EDGE2.example.net") == "edge2.example.net")
        for name in ["", "two words", "edge_1", ".example.net"] { #expect(MachineName.hostName(name) == "localhost") }
    }

    @Test("users of a far domain may publish over this node where the domain says so, under an epid that can be chosen") func publish()
        throws
    {
        func read(_ node: String, _ domain: String) throws -> ProgramConfiguration {
            try ConfigurationReader.read(
                "node: { name: a \(node) }\nlisten: [ \"udp:a:5060\" ]\ndomains: { a: { \(domain) } }\n"
                    + "limits: { publication-bridges: 5 }\ntiming: { publish-wait-ms: 900 }", file: "x")
        }
        let far = "side: simple, route: \"udp:b:5060\""
        #expect(try read("", far).domains["a"]?.publish == false)
        let open = try read(", epid: 0A1b", far + ", publish: true")
        #expect(open.domains["a"]?.publish == true)
        #expect(open.node.publisherEPID == "0A1b")
        #expect(open.core.limits.publicationBridges == 5)
        #expect(open.core.timing.publishWait == .milliseconds(900))
        #expect(open.gateway(listeners: open.listeners, logLevel: .info).publisherEPID == "0A1b")
        #expect(throws: ConfigurationError.self) { try read(", epid: xyz", far) }
        #expect(throws: ConfigurationError.self) { try read("", "side: simple, hosted: true, publish: true") }
        let enterprise = "side: enterprise, route: \"udp:b:5060\", publish: true"
        #expect(try read("", enterprise).domains["a"]?.publishAs == .automatic)
        #expect(try read("", enterprise + ", publish-as: user-state").domains["a"]?.publishAs == .userState)
        #expect(try read("", enterprise + ", publish-as: aggregate-state").domains["a"]?.publishAs == .aggregateState)
        #expect(throws: ConfigurationError.self) { try read("", enterprise + ", publish-as: device-state") }
        #expect(throws: ConfigurationError.self) { try read("", far + ", publish: true, publish-as: user-state") }
        #expect(throws: ConfigurationError.self) { try read("", "side: enterprise, route: \"udp:b:5060\", publish-as: user-state") }
    }

    @Test("a store in SQLite has a path, how much a commit survives, and how large it may grow") func store() throws {
        let text = "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nstore: "
        let short = try #require(try ConfigurationReader.read(text + "{ sqlite: x.db }", file: "x").store)
        #expect(short.path == "x.db")
        #expect(short.options.synchronous == .normal)
        #expect(short.options.maximumBytes == nil)
        let long = try #require(try ConfigurationReader.read(text + "{ sqlite: x.db, synchronous: full, megabytes: 2 }", file: "x").store)
        #expect(long.options.synchronous == .full)
        #expect(long.options.maximumBytes == 2 << 20)
        #expect(try ConfigurationReader.read(text + "{ memory: true }", file: "x").store == nil)
    }

    @Test("a domain's users may have other names, and the domain its own times") func names() throws {
        let text =
            "listen: [ \"udp:a:5060\" ]\ndomains:\n  contoso.com: { side: enterprise, route: \"udp:b:5060\", aliases: [IM.contoso.com], "
            + "schemes: [pres, im], numbers: [ \"+1-425-555\" ], expires: { default: 1200, minimum: 1200 }, when-lost: pending }"
        let domain = try #require(try ConfigurationReader.read(text, file: "x").domains["contoso.com"])
        #expect(domain.forms == .init(aliases: ["im.contoso.com"], schemes: [.pres, .im], numbers: ["+1425555"]))
        #expect(domain.expires == .init(minimum: 1_200, standard: 1_200, maximum: 43_200))
        #expect(domain.whenLost == .pending)
    }

    @Test(
        "what would name users of two domains at once is a mistake of the later one",
        arguments: [
            ("aliases: [im.contoso.com]", "aliases.1", "is claimed by a.example already"),
            ("aliases: [a.example]", "aliases.1", "is a domain of its own"),
            ("numbers: [ \"+1425\" ]", "numbers.1", "is claimed by a.example already"), ("numbers: [ \"555\" ]", "numbers.1", "RFC 3966"),
            ("aliases: [ \"-x\" ]", "aliases.1", "is no domain name"), ("schemes: [ tel ]", "schemes.1", "must be one of sips, pres, im"),
            ("when-lost: never", "when-lost", "must be one of pending, stale, offline"),
        ])
    func claims(keys: String, key: String, rule: String) throws {
        let text =
            "listen: [ \"udp:a:5060\" ]\ndomains:\n  a.example: { side: simple, route: \"udp:b:5060\", aliases: [im.contoso.com], numbers: "
            + "[ \"+1425\" ] }\n  b.example: { side: simple, route: \"udp:b:5060\", \(keys) }"
        let error = #expect(throws: ConfigurationError.self) { try ConfigurationReader.read(text, file: "x") }
        #expect(error?.lines.count == 1)
        #expect(error?.lines.first?.contains("domains.b.example.\(key)") == true && error?.lines.first?.contains(rule) == true)
    }

    /// One mistake per line: the text, its position, and a part of the report.
    static let mistakes: [(text: String, position: String, part: String)] = [
        ("listen: []\ndomains: { a: { refuse: 403 } }", "1:9", "at least one listener"),
        (
            "node: { list-server: \"sip:example.org\" }\nlisten: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }", "1:22",
            "URI with a user"
        ),
        ("listen: [ \"udp:127.0.0.1:70000\" ]\ndomains: { a: { refuse: 403 } }", "1:11", "port must be a number"),
        ("listen: [ \"udp:::1:5060\" ]\ndomains: { a: { refuse: 403 } }", "1:11", "brackets"),
        ("listen: [ \"tls:127.0.0.1:5061\" ]\ndomains: { a: { refuse: 403 } }", "1:1", "`tls` is missing: a listener with TLS needs"),
        ("listen: [ \"udp:a:5060\" ]", "1:1", "`domains` is missing"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { b.example: { side: simple, hosted: true } }", "1:11",
            "hosted domain b.example must sign in"
        ),
        ("listen: [ { address: \"udp:a:5060\" } ]\ndomains: { a: { side: simple, hosted: true } }", "1:11", "authentication: none }"),
        ("listen: [ { address: \"udp:a:5060\", authentication: ntlm } ]\ndomains: { a: { refuse: 403 } }", "1:11", "needs a `directory`"),
        (
            "listen: [ { address: \"udp:a:5060\", authentication: no } ]\ndomains: { a: { refuse: 403 } }", "1:52",
            "none, ntlm, digest, tls-dsk, any"
        ),
        (
            "listen: [ { address: \"udp:a:5060\", authentication: tls-dsk } ]\ndomains: { a: { side: enterprise, hosted: true } }\n"
                + "directory: { file: u.yaml }", "1:11", "needs `tls-dsk: {"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ntls-dsk: { certificate: c.pem, client-ca: ca.pem }", "3:10",
            "`key` is missing"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\n"
                + "tls-dsk: { certificate: c, key: k, client-ca: a, sts-uri: \"http://a\" }", "3:59", "must be an https URI"
        ),
        (
            "listen: [ { address: \"udp:a:5060\", authentication: ntlm } ]\ndomains: { a: { side: enterprise, hosted: true } }\n"
                + "directory: { file: u.yaml }\ntls-dsk: { certificate: c, key: k, client-ca: a }", "4:10", "no listener offers it"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, hosted: true } }\n"
                + "directory: { file: u.yaml }\ntls-dsk: { certificate: c, key: k, client-ca: a }", "4:10", "no listener offers it"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ntiming: { overload-late-ms: 99 }", "3:29",
            "must be 0, which is never, or at least 100"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nnode: { name: \"edge 1\" }", "3:15", "is no host name"),
        ("listen: [ { authentication: none } ]\ndomains: { a: { refuse: 403 } }", "1:11", "`address` is missing"),
        (
            "listen: [ { address: \"udp:a:5060\", authentication: none, digest-algorithms: [ MD4 ] } ]\ndomains: { a: { refuse: 403 } }",
            "1:79", "MD5, SHA-256"
        ),
        (
            "listen: [ { address: \"udp:a:5060\", authentication: none, digest-status: 402 } ]\ndomains: { a: { refuse: 403 } }",
            "1:73", "401, 407"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple } }", "2:15", "needs `route`"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: both, hosted: true } }", "2:23", "enterprise, simple"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, hosted: yes } }", "2:39", "true or false"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: enterprise, route: \"udp:b:1\", partial: true } }", "2:62",
            "simple domains that are not hosted"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, route: \"udp:b:1\", list-service: \"lists\" } }", "2:63",
            "must be a sip or sips URI"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\n"
                + "domains: { a: { side: simple, route: \"udp:b:1\", list-service: \"sip:l@a\", watcher-list: \"sip:{user}@a\" } }",
            "2:88", "excludes `list-service`"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 200 } }", "2:25", "from 400 to 699"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403, side: simple } }", "2:25", "stands alone"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { discover: true } }", "2:15", "`side` is missing"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, discover: maybe } }", "2:41", "true, any, tls"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, discover: false } }", "2:41", "leave it out"),
        (
            "listen: [ { address: \"udp:a:5060\", authentication: none } ]\ndomains: { a: { side: simple, hosted: true, discover: true } }",
            "2:55",
            "hosted domain has no route"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, route: \"udp:b:1\", discover: true } }", "2:59", "excludes `route`"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, routes: [] } }", "2:39", "at least one route"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, routes: [ { priority: 1 } ] } }", "2:41", "`to` is missing"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, routes: [ \"udp:b:1\", \"tls:b:1\" ] } }", "2:52",
            "with and without TLS"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, routes: [ { to: \"udp:b:1\", weight: 65536 } ] } }", "2:66",
            "from 0 to 65535"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, route: \"udp:b:1\", users: { x@a: { route: \"udp:c:1\" } } } }",
            "2:58",
            "no pattern of a user part"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: simple, route: \"udp:b:1\", users: { x: {} } } }", "2:61",
            "`route` or `routes`"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { \"*\": { side: simple, discover: true, users: { x: { route: \"udp:c:1\" } } } }",
            "2:56",
            "named domain"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ndns: { servers: [ dns.example.org ] }", "3:19",
            "address of a DNS server"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ndns: { servers: [ 192.0.2.1, 192.0.2.2, 192.0.2.3, 192.0.2.4, 192.0.2.5 ] }",
            "3:17", "at most 4"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ndns: { tries: 0 }", "3:15", "from 1 to 10"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a b: { refuse: 403 } }", "2:12", "neither a domain name"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ncolour: red", "3:1", "unknown key"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nstore: { postgresql: x }", "3:22", "not supported in this version"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nstore: { sqlite: x.db, synchronous: off }", "3:37", "normal, full"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nstore: { sqlite: x.db, memory: true }", "3:32", "not both"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nstore: { synchronous: full }", "3:23", "sqlite only"),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nadmin: { http: \"8080\" }", "3:16", "has no port"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nadmin: { http: \"127.0.0.1:1\", recall: 9 }", "3:39",
            "goes with `inspect: true`"
        ),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\nadmin: { socket: a.sock, recall: 2000000000 }", "3:34",
            "from 0 to 67108864"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { refuse: 403 } }\ndirectory: { file: u.yaml }", "3:12", "hosted domains"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: enterprise, hosted: true } }\ndirectory: { users: [] }", "3:14",
            "unknown key"
        ),
        ("listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: enterprise, hosted: true } }\ndirectory: {}", "3:12", "needs `file` or `ldap`"),
        (
            "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: enterprise, hosted: true } }\n"
                + "directory: { ldap: { url: \"ldap://a:389\", base: \"dc=a\", bind-dn: \"cn=b\" } }", "3:66",
            "needs `password-file`"
        ),
        ("listen: [ \"udp:a:5060\" ]\nlisten: [ \"udp:a:5060\" ]", "1:1", "more than once"),
        ("listen: [ \"udp:a:5060\"", "2:1", "not valid YAML"),
        ("", "1:1", "empty"),
        ("- a", "1:1", "must be a mapping"),
    ]

    @Test("a mistake is reported with its line, column and rule", arguments: mistakes)
    func mistake(text: String, position: String, part: String) throws {
        let error = try #require(throws: ConfigurationError.self) { try ConfigurationReader.read(text, file: "x.yaml") }
        #expect(error.lines.count == 1)
        #expect(error.lines[0].hasPrefix("x.yaml:\(position):"), "\(error.lines[0])")
        #expect(error.lines[0].contains(part), "\(error.lines[0])")
    }

    @Test("the file of users stands beside the configuration file unless its path is absolute")
    func directoryPath() throws {
        let text = "listen: [ \"udp:a:5060\" ]\ndomains: { a: { side: enterprise, hosted: true } }\ndirectory: { file: PATH }"
        for (path, read) in [("users.yaml", "/etc/isthmus/users.yaml"), ("/srv/users.yaml", "/srv/users.yaml")] {
            let configuration = try ConfigurationReader.read(
                text.replacingOccurrences(of: "PATH", with: path), file: "/etc/isthmus/isthmus.yaml")
            #expect(configuration.directory == .file(read))
        }
    }

    @Test("names of categories become values; what is registered already, or is no name, is a mistake") func categories() throws {
        let text = """
            listen: [ { address: "udp:127.0.0.1:5060", authentication: none } ]
            domains: { contoso.com: { side: enterprise, hosted: true, categories: [ shiftPlan, LIST ] } }
            """
        let configuration = try ConfigurationReader.read(text.replacingOccurrences(of: "LIST", with: "desk.plan"), file: "x.yaml")
        #expect(configuration.domains["contoso.com"]?.categories == ["shiftPlan", "desk.plan"])
        for name in ["note", "\"two words\"", "9to5"] {
            let error = try #require(throws: ConfigurationError.self) {
                try ConfigurationReader.read(text.replacingOccurrences(of: "LIST", with: name), file: "x.yaml")
            }
            #expect(error.problems.count == 1, "\(name)")
        }
    }

    @Test("all mistakes are reported, in the order of the file") func allMistakes() throws {
        let text = """
            node: { nam: x }
            listen: [ "sctp:1", "udp:127.0.0.1:5060" ]
            domains: { a: { side: simple }, b: { refuse: 1 } }
            limits: { body-bytes: -1 }
            """
        let error = try #require(throws: ConfigurationError.self) { try ConfigurationReader.read(text, file: "x.yaml") }
        #expect(error.problems.count == 5)
        #expect(error.lines.map { $0.split(separator: ":")[1] } == ["1", "2", "3", "3", "4"])
        #expect(error.problems.map(\.key).contains("domains.b.refuse"))
    }
}
