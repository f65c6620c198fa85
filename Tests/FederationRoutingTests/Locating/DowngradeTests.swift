import FederationRouting
import SIPCore
import Testing

/// What an answer that does not come may not do: lead from TLS into the clear.
@Suite struct DowngradeTests {
    private let hopTarget = HopTarget("example.org", .standard(transport: nil, port: nil))

    /// A domain with servers for TLS and for TCP, by NAPTR or by SRV alone.
    private func zone(naptr: Bool) -> Zone {
        var zone = Zone()
        if naptr {
            zone.naptr(
                "example.org", [(10, 10, "SIPS+D2T", "_sips._tcp.example.org"), (20, 10, "SIP+D2T", "_sip._tcp.example.org")])
        }
        zone.srv("_sips._tcp.example.org", [(1, 0, 5061, "tls.example.org")])
        zone.srv("_sip._tcp.example.org", [(1, 0, 5060, "tcp.example.org")])
        zone.host("tls.example.org", "192.0.2.3")
        zone.host("tcp.example.org", "192.0.2.1")
        return zone
    }

    @Test(
        "RFC 3263 4.1: an answer that fails on the way to TLS is no leave to go on in clear: nothing is found, and it is not known why",
        arguments: [
            (false, NameQuestion(.srv, "_sips._tcp.example.org")), (false, NameQuestion(.a, "tls.example.org")),
            (false, NameQuestion(.naptr, "example.org")), (true, NameQuestion(.srv, "_sips._tcp.example.org")),
            (true, NameQuestion(.a, "tls.example.org")),
        ])
    func failing(naptr: Bool, question: NameQuestion) {
        for reason in [NameFailure.serverFailure, .timeout] {
            var zone = zone(naptr: naptr)
            #expect(zone.targets(hopTarget) == ["tls:192.0.2.3:5061"])
            zone.set(question.kind, question.name, .failed(reason), nil)
            if question.kind == .naptr { zone.set(.srv, "_sips._tcp.example.org", .noSuchName) }
            guard case .failed(let failure) = zone.locate(hopTarget) else {
                Issue.record("found \(zone.targets(hopTarget)) without \(question)")
                continue
            }
            #expect(failure.kind == .unknown)
        }
    }

    @Test("one family of addresses that fails leaves the other, still in TLS")
    func oneFamily() {
        var zone = zone(naptr: false)
        zone.set(.aaaa, "tls.example.org", .failed(.timeout), nil)
        #expect(zone.targets(hopTarget) == ["tls:192.0.2.3:5061"])
    }

    @Test("what fails beside the way to TLS takes nothing away; behind what the domain prefers, only where its order counts")
    func besides() {
        var zone = zone(naptr: false)
        zone.set(.srv, "_sips._tcp.example.org", .noSuchName)
        zone.set(.srv, "_sip._udp.example.org", .failed(.serverFailure), nil)
        #expect(zone.targets(hopTarget) == ["tcp:192.0.2.1:5060"])
        zone.naptr("example.org", Self.clearFirst)
        zone.set(.srv, "_sips._tcp.example.org", .failed(.serverFailure), nil)
        #expect(zone.targets(goalInItsOrder) == ["tcp:192.0.2.1:5060"])
        guard case .failed(let failure) = zone.locate(hopTarget) else {
            Issue.record("found \(zone.targets(hopTarget))")
            return
        }
        #expect(failure.kind == .unknown)
    }

    private let goalInItsOrder = HopTarget("example.org", .standard(transport: nil, port: nil), allowsWeaker: true)
    private static let clearFirst: [(UInt16, UInt16, String, String)] = [
        (10, 10, "SIP+D2T", "_sip._tcp.example.org"), (20, 10, "SIPS+D2T", "_sips._tcp.example.org"),
    ]

    @Test("RFC 3263 4.1: a domain whose NAPTR records name TCP before TLS is asked over TLS alone, unless its order is to count")
    func clearFirst() {
        var zone = zone(naptr: false)
        zone.naptr("example.org", Self.clearFirst)
        #expect(zone.targets(hopTarget) == ["tls:192.0.2.3:5061"])
        #expect(zone.targets(goalInItsOrder) == ["tcp:192.0.2.1:5060", "tls:192.0.2.3:5061"])
    }

    @Test("a domain that offers TLS, but whose server for it has no address, is not asked in clear")
    func noAddress() {
        var zone = zone(naptr: true)
        zone.set(.a, "tls.example.org", .noSuchName)
        zone.set(.aaaa, "tls.example.org", .noSuchName)
        guard case .failed(let failure) = zone.locate(hopTarget) else {
            Issue.record("found \(zone.targets(hopTarget))")
            return
        }
        #expect(failure.kind == .absent && failure.description.contains("offers TLS"))
    }
}
