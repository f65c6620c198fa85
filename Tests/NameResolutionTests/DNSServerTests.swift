import FederationRouting
import NameResolution
import SIPCore
import Testing

/// Against a real DNS server.
@Suite(.serialized, .timeLimit(.minutes(10))) struct DNSServerTests {
    private static let zone = """
        @ IN NAPTR 50 50 "s" "SIP+D2U" "" _sip._udp
        @ IN NAPTR 10 10 "s" "SIPS+D2T" "" _sips._tcp
        _sips._tcp 120 IN SRV 10 60 5061 a
        _sips._tcp 120 IN SRV 10 40 5061 b
        _sips._tcp 120 IN SRV 20 0 5062 c
        _sipfederationtls._tcp IN SRV 0 0 5061 a
        _sip._udp IN SRV 0 0 0 .
        a 90 IN A 192.0.2.1
        a 60 IN AAAA 2001:db8::1
        b IN A 192.0.2.2
        c IN A 192.0.2.3
        loop1 IN CNAME loop2
        loop2 IN CNAME loop1
        alias 40 IN CNAME a
        out 70 IN CNAME elsewhere.example.com.
        empty IN TXT "nothing else"
        """

    private func locate(_ hopTarget: HopTarget, by resolver: NameResolver) async -> HopLocator.Step {
        var locator = HopLocator(hopTarget)
        for _ in 0..<20 {
            guard case .ask(let questions) = locator.step() else { break }
            for question in questions { locator.receive(await resolver.answer(to: question), to: question) }
        }
        return locator.step()
    }

    @Test("RFC 3263 4.1: a real zone's NAPTR, SRV, A and AAAA lead to its servers in order, with its weights and lifetimes")
    func locating() async throws {
        let server = try await NameServer.start(Self.zone)
        let resolver = try server.resolver()
        defer { server.stop() }
        guard case .found(let plan) = await locate(HopTarget("example.org", .standard(transport: nil, port: nil)), by: resolver) else {
            Issue.record("found no server")
            return
        }
        #expect(plan.servers.allSatisfy { $0.addresses.allSatisfy { $0.transport == .tls && $0.provenName == "example.org" } })
        #expect(plan.timeToLive == .seconds(60))
        var random = TokenGenerator(seed: 5)
        var firsts: [String: Int] = [:]
        for _ in 0..<10_000 {
            let targets = plan.targets(using: &random)
            firsts[targets[0].host, default: 0] += 1
            #expect(targets.last?.host == "192.0.2.3")
        }
        #expect(Set(firsts.keys) == ["192.0.2.1", "192.0.2.2"])
        #expect(abs((firsts["192.0.2.1"] ?? 0) - 6_000) < 250)
        let enterprise = await locate(HopTarget("example.org", .enterprise), by: resolver)
        guard case .found(let edge) = enterprise else {
            Issue.record("found no edge")
            return
        }
        #expect(edge.servers.first?.addresses.first == TransportAddress(.tls, "192.0.2.1", 5061, proving: "a.example.org"))
    }

    @Test("RFC 2308: a name that is not there, and a type that is not there, hold as long as the zone says")
    func absence() async throws {
        let server = try await NameServer.start(Self.zone)
        let resolver = try server.resolver()
        defer { server.stop() }
        #expect(
            await resolver.answer(to: NameQuestion(.srv, "_sip._tcp.example.org")) == NameAnswer(.noSuchName, timeToLive: .seconds(120)))
        #expect(await resolver.answer(to: NameQuestion(.a, "empty.example.org")) == NameAnswer(.noData, timeToLive: .seconds(120)))
    }

    @Test("RFC 2782: a zone that says . is believed")
    func decidedlyAbsent() async throws {
        let server = try await NameServer.start(Self.zone)
        let resolver = try server.resolver()
        defer { server.stop() }
        guard case .failed(let failure) = await locate(HopTarget("example.org", .standard(transport: .udp, port: nil)), by: resolver) else {
            Issue.record("found a server")
            return
        }
        #expect(failure.kind == .absent)
    }

    @Test("RFC 1034 3.6.2: aliases are followed with the shortest lifetime; a circle and a way out of the zone are told apart")
    func aliases() async throws {
        let server = try await NameServer.start(Self.zone)
        let resolver = try server.resolver()
        defer { server.stop() }
        #expect(
            await resolver.answer(to: NameQuestion(.a, "alias.example.org"))
                == NameAnswer(.records([.address("192.0.2.1")]), timeToLive: .seconds(40)))
        #expect(await resolver.answer(to: NameQuestion(.a, "loop1.example.org")).outcome == .failed(.aliasLoop))
        #expect(
            await resolver.answer(to: NameQuestion(.a, "out.example.org"))
                == NameAnswer(.alias("elsewhere.example.com"), timeToLive: .seconds(70)))
    }

    @Test(
        "RFC 1035 4.1.1: SERVFAIL of a zone that cannot be loaded and REFUSED of one that is not served are failures, named so, no absence",
        arguments: [NameServer.brokenZone, "example.net"])
    func notServed(zone: String) async throws {
        let server = try await NameServer.start(Self.zone)
        let resolver = try server.resolver()
        defer { server.stop() }
        #expect(await resolver.answer(to: NameQuestion(.a, "sip.\(zone)")) == NameAnswer(.failed(.noUsableAnswer)))
        guard case .failed(let failure) = await locate(HopTarget(zone, .standard(transport: nil, port: nil)), by: resolver) else {
            Issue.record("found a server")
            return
        }
        #expect("\(failure)".contains("each one answered SERVFAIL or REFUSED"), "\(failure)")
    }

    @Test("a DNS server that never answers gives way to the next one")
    func secondServer() async throws {
        let silent = try SilentPort()
        let server = try await NameServer.start(Self.zone)
        let resolver = try server.resolver(before: ["127.0.0.1:\(silent.number)"])
        defer { server.stop() }
        #expect(await resolver.answer(to: NameQuestion(.a, "b.example.org")).outcome == .records([.address("192.0.2.2")]))
        #expect(silent.received() >= 1)
    }

    @Test("RFC 1035 4.2.1: an answer too long for a datagram is fetched over TCP")
    func truncation() async throws {
        let many = (0..<60).map { "_sip._tcp IN SRV \($0) 0 5060 host-with-a-long-name-\($0)" }.joined(separator: "\n")
        let server = try await NameServer.start(many)
        let resolver = try server.resolver()
        defer { server.stop() }
        guard case .records(let records) = await resolver.answer(to: NameQuestion(.srv, "_sip._tcp.example.org")).outcome else {
            Issue.record("no records")
            return
        }
        #expect(records.count == 60)
    }

    @Test("many different questions at a time are all answered")
    func many() async throws {
        let hosts = (0..<300).map { "h\($0) IN A 192.0.2.\($0 % 250)" }.joined(separator: "\n")
        let server = try await NameServer.start(hosts)
        let resolver = try server.resolver()
        defer { server.stop() }
        let answered = await withTaskGroup(of: Bool.self) { group in
            for number in 0..<300 {
                group.addTask {
                    await resolver.answer(to: NameQuestion(.a, "h\(number).example.org")).outcome
                        == .records([.address("192.0.2.\(number % 250)")])
                }
            }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(answered == 300)
    }
}
