import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// Where the requests of a dialog go whose domain is looked up, or has several next hops.
@Suite struct LocatedDialogTests {
    private let edge = TransportAddress(.tls, "192.0.2.20", 5061, proving: "example.org")
    /// What example.org's servers show over TLS.
    private let certificate = PeerIdentity(
        dnsNames: ["sip.example.org"], sipDomains: ["example.org"], notAfter: 4_000_000_000, fingerprint: "example.org")

    private func bench(
        store: (any GatewayStore)? = nil,
        _ change: @escaping (inout DomainConfiguration) -> Void = { $0.federation.discovery = .neverWeaker }
    ) -> Bench {
        Bench(store: store) { configuration in
            configuration.listeners.append(TransportAddress(.tls, "192.0.2.1", 5061))
            configuration.naming = NamingConfiguration()
            var domain = DomainConfiguration(side: .simple)
            change(&domain)
            configuration.domains["example.org"] = domain
        }
    }

    private var overTLS: BenchNames {
        var names = BenchNames()
        names.srv("_sips._tcp.example.org", 5061, "sip.example.org")
        names.host("sip.example.org", "192.0.2.20")
        return names
    }

    /// A subscription toward example.org, answered from there with this Contact.
    private func subscribed(_ bench: Bench, _ names: BenchNames, at edge: TransportAddress, contact: String) throws {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        bench.resolve(names)
        let upstream = try bench.nextRequest(.subscribe, at: edge)
        let server = TransportAddress(edge.transport, edge.host, edge.port)
        bench.answer(upstream, 200, from: server, headers: [(.expires, "3600"), (.contact, contact)])
        let body = Bench.pidf("alice@example.org", activity: "busy")
        bench.send(
            "NOTIFY \(upstream.headers.contact?.uri.description ?? "") SIP/2.0\r\n"
                + "Via: SIP/2.0/\(edge.transport.rawValue.uppercased()) 192.0.2.20:5061;branch=z9hG4bKn1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:alice@example.org>;tag=far\(upstream.headers.fromTag ?? "")\r\nTo: \(upstream.headers.first(.from) ?? "")\r\n"
                + "Call-ID: \(upstream.headers.callID ?? "")\r\nCSeq: 1 NOTIFY\r\nContact: \(contact)\r\nEvent: presence\r\n"
                + "Subscription-State: active;expires=3600\r\nContent-Type: application/pidf+xml\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n" + body, from: server,
            proving: edge.transport == .tls ? certificate : nil)
        bench.clear()
    }

    @Test(
        "RFC 3263 4: a subscription over TLS is refreshed over TLS, whatever transport the Contact leaves open or names",
        arguments: [
            ("<sip:192.0.2.99>", TransportAddress(.tls, "192.0.2.99", 5061, proving: "example.org")),
            ("<sip:192.0.2.99:5062>", TransportAddress(.tls, "192.0.2.99", 5062, proving: "example.org")),
            ("<sip:192.0.2.99:5060;transport=tcp>", TransportAddress(.tls, "192.0.2.20", 5061, proving: "example.org")),
            ("<sip:pc.example.org>", TransportAddress(.tls, "192.0.2.66", 5061, proving: "pc.example.org")),
            ("<sip:pc.example.org;transport=udp>", TransportAddress(.tls, "192.0.2.20", 5061, proving: "example.org")),
        ])
    func upstream(contact: String, place: TransportAddress) throws {
        let bench = bench()
        var names = overTLS
        names.host("pc.example.org", "192.0.2.66")
        try subscribed(bench, names, at: edge, contact: contact)
        bench.pass(.seconds(3_590), resolving: names)
        #expect(try bench.nextRequest(.subscribe, at: place).headers.toTag != nil)
    }

    @Test("a Contact without transport is reached over the one by which its domain is known")
    func knownTransport() throws {
        let bench = bench()
        var names = BenchNames()
        names.srv("_sip._tcp.example.org", 5060, "sip.example.org")
        names.host("sip.example.org", "192.0.2.20")
        try subscribed(bench, names, at: TransportAddress(.tcp, "192.0.2.20", 5060), contact: "<sip:192.0.2.99>")
        bench.pass(.seconds(3_590))
        #expect(try bench.nextRequest(.subscribe, at: TransportAddress(.tcp, "192.0.2.99", 5060)).headers.toTag != nil)
    }

    @Test("after a restart a domain is looked up before anything goes to a Contact that may not be in TLS")
    func restarted() throws {
        let bench = bench(store: MemoryStore())
        try subscribed(bench, overTLS, at: edge, contact: "<sip:192.0.2.99>")
        try bench.restart()
        let asked = bench.pass(.seconds(60), resolving: overTLS)
        #expect(asked.contains(NameQuestion(.srv, "_sips._tcp.example.org")))
        #expect(try bench.nextRequest(.subscribe, at: edge).headers.toTag != nil)
        for transport in [TransportProtocol.udp, .tcp] {
            #expect(bench.isQuiet(at: TransportAddress(transport, "192.0.2.99", 5060)))
        }
    }

    @Test("an enterprise partner's server proves its own name: after a restart it is looked up, not taken for the domain")
    func restartedEnterprise() throws {
        let bench = bench(store: MemoryStore()) {
            $0 = DomainConfiguration(side: .enterprise, upstream: .pidf)
            $0.federation.discovery = .neverWeaker
        }
        var names = BenchNames()
        names.srv("_sipfederationtls._tcp.example.org", 5061, "sip.example.org")
        names.host("sip.example.org", "192.0.2.20")
        let edge = TransportAddress(.tls, "192.0.2.20", 5061, proving: "sip.example.org")
        try subscribed(bench, names, at: edge, contact: "<sip:192.0.2.20:5061;transport=tls>")
        try bench.restart()
        bench.pass(.seconds(60), resolving: names)
        #expect(try bench.nextRequest(.subscribe, at: edge).headers.toTag != nil)
        #expect(bench.isQuiet(at: TransportAddress(.tls, "192.0.2.20", 5061, proving: "example.org")))
    }

    @Test(
        "RFC 3261 26.2.2: a watcher who came over TLS, or asks for it by sips, is never notified in clear",
        arguments: [
            (TransportProtocol.tls, "sip:pc.example.org;transport=tcp", TransportAddress(.tls, "192.0.2.50", 5061, proving: "example.org")),
            (.tls, "sip:pc.example.org:5062", TransportAddress(.tls, "192.0.2.66", 5062, proving: "pc.example.org")),
            (.tls, "sip:pc.example.net", TransportAddress(.tls, "192.0.2.50", 5061, proving: "example.org")),
            (.udp, "sips:pc.example.net", TransportAddress(.tls, "192.0.2.50", 5061, proving: "example.org")),
        ])
    func watcher(came: TransportProtocol, contact: String, place: TransportAddress) throws {
        let bench = bench()
        var names = BenchNames()
        names.srv("_sip._tcp.example.org", 5060, "sip.example.org")
        names.host("sip.example.org", "192.0.2.40")
        names.host("example.org", "192.0.2.50")
        names.host("pc.example.org", "192.0.2.66")
        let client = TransportAddress(came, "192.0.2.77", 50_000)
        let subscribe = bench.subscribe("ann@example.org", to: "bob@fabrikam.com", via: client)
        bench.send(
            subscribe.replacingOccurrences(of: "<sip:192.0.2.77:50000>", with: "<\(contact)>"), from: client,
            proving: came == .tls ? certificate : nil)
        bench.resolve(names)
        #expect(try bench.nextRequest(.notify, at: place).headers.toTag != nil)
    }

    @Test("one of several next hops that the Contact names has the dialog: the others are not asked, however they are weighted")
    func listed() throws {
        let bench = bench {
            $0.federation.hops = [
                ListedHop(TransportAddress(.tcp, "a.example.org", 5060), priority: 10),
                ListedHop(TransportAddress(.tcp, "b.example.org", 5060), priority: 20),
                ListedHop(TransportAddress(.tcp, "b.example.org", 5080), priority: 30),
            ]
        }
        var names = BenchNames()
        names.host("a.example.org", "192.0.2.20")
        names.host("b.example.org", "192.0.2.21")
        try subscribed(
            bench, names, at: TransportAddress(.tcp, "192.0.2.20", 5060), contact: "<sip:B.example.org:5080;transport=tcp>")
        bench.pass(.seconds(3_590), resolving: names)
        #expect(try bench.nextRequest(.subscribe, at: TransportAddress(.tcp, "192.0.2.21", 5080)).headers.toTag != nil)
        #expect(bench.isQuiet(at: TransportAddress(.tcp, "192.0.2.20", 5060)))
    }
}
