import FederationRouting
import SIPCore
import Testing

@Suite struct HopLocatorTests {
    private func standard(
        _ host: String, _ transport: TransportProtocol? = nil, _ port: Int? = nil, isSecure: Bool = false
    ) -> HopTarget {
        HopTarget(host, .standard(transport: transport, port: port), isSecure: isSecure)
    }

    @Test("RFC 3263 4.1: an address is taken as it is, UDP for sip, TLS for sips, nobody is asked")
    func addresses() {
        var zone = Zone()
        #expect(zone.targets(standard("192.0.2.7")) == ["udp:192.0.2.7:5060"])
        #expect(zone.targets(standard("2001:db8::7")) == ["udp:[2001:db8::7]:5060"])
        #expect(zone.targets(standard("192.0.2.7", isSecure: true)) == ["tls:192.0.2.7:5061"])
        #expect(zone.targets(standard("192.0.2.7", .tcp, 5080)) == ["tcp:192.0.2.7:5080"])
        #expect(zone.asked.isEmpty)
    }

    @Test("RFC 3263 4.2: a host with a port is asked for addresses only")
    func port() {
        var zone = Zone()
        zone.host("sip.example.org", "192.0.2.7")
        zone.srv("_sip._udp.sip.example.org", [(1, 1, 5070, "other.example.org")])
        #expect(zone.targets(standard("sip.example.org", nil, 5080)) == ["udp:192.0.2.7:5080"])
        #expect(zone.asked == [NameQuestion(.a, "sip.example.org"), NameQuestion(.aaaa, "sip.example.org")])
    }

    @Test("RFC 3263 4.1: a named transport is looked up by its own SRV, without NAPTR; without SRV by the host, at the default port")
    func transport() {
        var zone = Zone()
        zone.srv("_sip._tcp.example.org", [(1, 1, 5070, "a.example.org")])
        zone.host("a.example.org", "192.0.2.7")
        zone.host("example.org", "192.0.2.9")
        zone.naptr("example.org", [(1, 1, "SIP+D2U", "_sip._udp.example.org")])
        #expect(zone.targets(standard("example.org", .tcp)) == ["tcp:192.0.2.7:5070"])
        #expect(zone.targets(standard("example.org", .tls)) == ["tls:192.0.2.9:5061"])
        #expect(!zone.asked.contains { $0.kind == .naptr })
    }

    @Test("RFC 3263 4.1: NAPTR chooses the transport, the lowest order first, then the preference; what nobody supports is skipped")
    func pointers() {
        var zone = Zone()
        zone.naptr(
            "example.org",
            [
                (50, 50, "SIP+D2U", "_sip._udp.example.org"), (20, 20, "SIP+D2T", "_sip._tcp.example.org"),
                (10, 10, "SIP+D2S", "_sip._sctp.example.org"), (20, 10, "E2U+SIP", "example.org"),
            ])
        zone.srv("_sip._tcp.example.org", [(1, 0, 5060, "tcp.example.org")])
        zone.srv("_sip._udp.example.org", [(1, 0, 5060, "udp.example.org")])
        zone.host("tcp.example.org", "192.0.2.1")
        zone.host("udp.example.org", "192.0.2.2")
        #expect(zone.targets(standard("example.org")) == ["tcp:192.0.2.1:5060", "udp:192.0.2.2:5060"])
    }

    @Test("RFC 3263 4.1: a NAPTR whose flag is not s is not followed")
    func flags() {
        var zone = Zone()
        zone.naptr("example.org", [(10, 10, "SIP+D2T", "elsewhere.example.org")], flags: "a")
        zone.srv("_sip._udp.example.org", [(1, 0, 5060, "udp.example.org")])
        zone.host("udp.example.org", "192.0.2.2")
        #expect(zone.targets(standard("example.org")) == ["udp:192.0.2.2:5060"])
    }

    @Test("RFC 3263 4.1: sips is never located without TLS, by NAPTR or by SRV")
    func secure() {
        var zone = Zone()
        zone.naptr("example.org", [(10, 10, "SIP+D2T", "_sip._tcp.example.org")])
        zone.srv("_sip._tcp.example.org", [(1, 0, 5060, "tcp.example.org")])
        zone.host("tcp.example.org", "192.0.2.1")
        zone.srv("_sips._tcp.example.org", [(1, 0, 5061, "tls.example.org")])
        zone.host("tls.example.org", "192.0.2.3")
        #expect(zone.targets(standard("example.org", isSecure: true)) == ["tls:192.0.2.3:5061"])
    }

    @Test("RFC 3263 4.1: without NAPTR each transport's SRV is asked; who offers TLS is not asked without it")
    func services() {
        var zone = Zone()
        zone.srv("_sip._tcp.example.org", [(1, 0, 5060, "tcp.example.org")])
        zone.srv("_sip._udp.example.org", [(1, 0, 5060, "udp.example.org")])
        zone.host("tcp.example.org", "192.0.2.1")
        zone.host("udp.example.org", "192.0.2.2")
        #expect(zone.targets(standard("example.org")) == ["tcp:192.0.2.1:5060", "udp:192.0.2.2:5060"])
        zone.srv("_sips._tcp.example.org", [(1, 0, 5061, "tls.example.org")])
        zone.host("tls.example.org", "192.0.2.3")
        #expect(zone.targets(standard("example.org")) == ["tls:192.0.2.3:5061"])
    }

    @Test("RFC 3263 4.2: without NAPTR and SRV the host itself is asked, UDP at 5060, TLS at 5061")
    func bare() {
        var zone = Zone()
        zone.host("example.org", "192.0.2.9")
        #expect(zone.targets(standard("example.org")) == ["udp:192.0.2.9:5060"])
        #expect(zone.targets(standard("example.org", isSecure: true)) == ["tls:192.0.2.9:5061"])
    }

    @Test("RFC 2782: the target . says that the service is not there, and nothing else is tried")
    func decidedlyAbsent() {
        var zone = Zone()
        zone.srv("_sip._udp.example.org", [(0, 0, 0, "")])
        zone.host("example.org", "192.0.2.9")
        guard case .failed(let failure) = zone.locate(standard("example.org")) else {
            Issue.record("found a server")
            return
        }
        #expect(failure.kind == .absent)
        #expect(failure.description.contains("example.org"))
    }

    @Test("RFC 3263 4.3: targets come by priority, with all their addresses, in turn of both families")
    func order() {
        var zone = Zone()
        zone.srv("_sip._udp.example.org", [(20, 0, 5062, "b.example.org"), (10, 0, 5061, "a.example.org")])
        zone.host("a.example.org", "192.0.2.1", "192.0.2.2", "2001:db8::1")
        zone.host("b.example.org", "192.0.2.3")
        let hopTarget = standard("example.org", .udp)
        #expect(
            zone.targets(hopTarget) == ["udp:192.0.2.1:5061", "udp:[2001:db8::1]:5061", "udp:192.0.2.2:5061", "udp:192.0.2.3:5062"])
        #expect(zone.targets(hopTarget, prefersIPv6: true).first == "udp:[2001:db8::1]:5061")
    }

    @Test("a target without addresses is left out, the others are used")
    func missingAddress() {
        var zone = Zone()
        zone.srv("_sip._udp.example.org", [(10, 0, 5060, "gone.example.org"), (20, 0, 5060, "b.example.org")])
        zone.set(.a, "gone.example.org", .noSuchName)
        zone.set(.aaaa, "gone.example.org", .noSuchName)
        zone.host("b.example.org", "192.0.2.3")
        #expect(zone.targets(standard("example.org", .udp)) == ["udp:192.0.2.3:5060"])
    }

    @Test("a DNS server that does not answer is no proof that nothing is there: the host itself is not tried")
    func silence() {
        var zone = Zone()
        zone.set(.srv, "_sip._udp.example.org", .failed(.timeout), nil)
        zone.host("example.org", "192.0.2.9")
        guard case .failed(let failure) = zone.locate(standard("example.org", .udp)) else {
            Issue.record("found a server")
            return
        }
        #expect(failure.kind == .unknown)
        #expect(failure.description.contains("no DNS server answered in time"))
    }

    @Test("RFC 1034 3.6.2: aliases that lead out of an answer are followed, circles are refused")
    func aliases() {
        var zone = Zone()
        zone.set(.srv, "_sip._udp.example.org", .alias("_sip._udp.example.net"), 20)
        zone.srv("_sip._udp.example.net", [(1, 0, 5060, "a.example.net")])
        zone.host("a.example.net", "192.0.2.4")
        guard case .found(let plan) = zone.locate(standard("example.org", .udp)) else {
            Issue.record("found no server")
            return
        }
        #expect(plan.servers.first?.addresses == [TransportAddress(.udp, "192.0.2.4", 5060)])
        #expect(plan.timeToLive == .seconds(20))
        zone.set(.srv, "_sip._udp.example.net", .alias("_sip._udp.example.org"))
        #expect(zone.targets(standard("example.org", .udp)) == ["example.org: the aliases (CNAME) lead in a circle"])
    }

    @Test("a plan holds as long as the shortest of its answers")
    func lifetime() {
        var zone = Zone()
        zone.srv("_sip._udp.example.org", [(1, 0, 5060, "a.example.org")], timeToLive: 200)
        zone.host("a.example.org", "192.0.2.4", timeToLive: 30)
        zone.set(.aaaa, "a.example.org", .noData, 90)
        guard case .found(let plan) = zone.locate(standard("example.org", .udp)) else {
            Issue.record("found no server")
            return
        }
        #expect(plan.timeToLive == .seconds(30))
    }

    @Test("an enterprise partner is found by _sipfederationtls._tcp alone, and its server proves its own name")
    func enterprise() {
        var zone = Zone()
        zone.srv("_sipfederationtls._tcp.fabrikam.com", [(0, 0, 5061, "sip.fabrikam.com")])
        zone.host("sip.fabrikam.com", "192.0.2.8")
        let hopTarget = HopTarget("Fabrikam.com", .enterprise)
        guard case .found(let plan) = zone.locate(hopTarget) else {
            Issue.record("found no server")
            return
        }
        #expect(plan.servers.flatMap(\.addresses) == [TransportAddress(.tls, "192.0.2.8", 5061, proving: "sip.fabrikam.com")])
        #expect(zone.asked.first == NameQuestion(.srv, "_sipfederationtls._tcp.fabrikam.com"))
        #expect(!zone.asked.contains { $0.kind == .naptr })
    }

    @Test("an enterprise server outside the partner's domain is refused, also one whose name only ends alike")
    func foreignTarget() {
        for host in ["sip.example.com", "notfabrikam.com"] {
            var zone = Zone()
            zone.srv("_sipfederationtls._tcp.fabrikam.com", [(0, 0, 5061, host)])
            zone.host(host, "192.0.2.8")
            guard case .failed(let failure) = zone.locate(HopTarget("fabrikam.com", .enterprise)) else {
                Issue.record("found \(host)")
                continue
            }
            #expect(failure.kind == .notAllowed)
            #expect(failure.description.contains(host))
        }
    }

    @Test("RFC 5922 4: a standard TLS server proves the domain that was asked for, whatever its own name is")
    func provenName() {
        var zone = Zone()
        zone.srv("_sips._tcp.example.org", [(0, 0, 5061, "sip.hoster.example.net")])
        zone.host("sip.hoster.example.net", "192.0.2.8")
        guard case .found(let plan) = zone.locate(standard("example.org")) else {
            Issue.record("found no server")
            return
        }
        #expect(plan.servers.flatMap(\.addresses) == [TransportAddress(.tls, "192.0.2.8", 5061, proving: "example.org")])
    }

    @Test("listed hops: names are looked up, addresses are taken, by priority; a name is what its peer proves")
    func listed() {
        var zone = Zone()
        zone.host("edge1.fabrikam.com", "192.0.2.1")
        let hopTarget = HopTarget(
            "fabrikam.com",
            .listed([
                ListedHop(TransportAddress(.tls, "192.0.2.2", 5061, proving: "edge2.fabrikam.com"), priority: 20),
                ListedHop(TransportAddress(.tls, "edge1.fabrikam.com", 5061), priority: 10),
            ]))
        guard case .found(let plan) = zone.locate(hopTarget) else {
            Issue.record("found no server")
            return
        }
        var random = TokenGenerator(seed: 1)
        #expect(
            plan.targets(using: &random) == [
                TransportAddress(.tls, "192.0.2.1", 5061, proving: "edge1.fabrikam.com"),
                TransportAddress(.tls, "192.0.2.2", 5061, proving: "edge2.fabrikam.com"),
            ])
    }

    @Test("a domain that names ever more servers costs a bounded number of questions")
    func bounds() {
        var zone = Zone()
        zone.srv("_sip._udp.example.org", (0..<400).map { (UInt16($0), 0, 5060, "h\($0).example.org") })
        for number in 0..<400 { zone.host("h\(number).example.org", "192.0.2.\(number % 250)") }
        #expect(zone.targets(standard("example.org", .udp)).count == 16)
        #expect(zone.asked.count <= 64)
    }
}
