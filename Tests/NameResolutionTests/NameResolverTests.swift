import Foundation
@testable import NameResolution
import SIPCore
import Testing

@Suite(.timeLimit(.minutes(10))) struct NameResolverTests {
    private func options(_ port: Int) -> NameResolverOptions {
        var options = NameResolverOptions()
        options.servers = ["127.0.0.1:\(port)"]
        options.timeout = .milliseconds(50)
        options.tries = 2
        options.hostsFile = nil
        return options
    }

    @Test("a server that never answers is asked as often as configured, then the question fails")
    func silence() async throws {
        let port = try SilentPort()
        let resolver = try NameResolver(options: options(port.number))
        defer { resolver.stop() }
        let answer = await resolver.answer(to: NameQuestion(.srv, "_sip._udp.example.org"))
        #expect(answer.outcome == .failed(.timeout))
        #expect(port.received() == 2)
        #expect(resolver.counters.questions == 1)
    }

    @Test("identical questions that are open at a time are asked once, and all are answered")
    func sharing() async throws {
        let port = try SilentPort()
        let resolver = try NameResolver(options: options(port.number))
        defer { resolver.stop() }
        let answers = await withTaskGroup(of: NameAnswer.self) { group in
            for _ in 0..<20 { group.addTask { await resolver.answer(to: NameQuestion(.a, "h.example.org")) } }
            return await group.reduce(into: []) { $0.append($1.outcome) }
        }
        #expect(answers.count == 20)
        #expect(Set(answers) == [.failed(.timeout)])
        #expect(port.received() < 40)
    }

    @Test("beyond the limit of open questions a question fails at once")
    func limit() async throws {
        let port = try SilentPort()
        var options = options(port.number)
        options.outstanding = 2
        let resolver = try NameResolver(options: options)
        defer { resolver.stop() }
        let outcomes = await withTaskGroup(of: NameAnswer.self) { group in
            for number in 0..<5 { group.addTask { await resolver.answer(to: NameQuestion(.a, "h\(number).example.org")) } }
            return await group.reduce(into: []) { $0.append($1.outcome) }
        }
        #expect(outcomes.filter { $0 == .failed(.overload) }.count == 3)
        #expect(outcomes.filter { $0 == .failed(.timeout) }.count == 2)
    }

    @Test("stopping answers what is open, and what is asked afterwards")
    func stop() async throws {
        let port = try SilentPort()
        var patient = options(port.number)
        patient.timeout = .seconds(60)
        let resolver = try NameResolver(options: patient)
        async let open = resolver.answer(to: NameQuestion(.a, "h.example.org"))
        while port.received() == 0 { try await Task.sleep(for: .milliseconds(2)) }
        resolver.stop()
        #expect(await open.outcome == .failed(.serverFailure))
        #expect(await resolver.answer(to: NameQuestion(.a, "h.example.org")).outcome == .failed(.serverFailure))
    }

    @Test("localhost needs no server (RFC 6761 6.3)")
    func localhost() async throws {
        let port = try SilentPort()
        let resolver = try NameResolver(options: options(port.number))
        defer { resolver.stop() }
        #expect(await resolver.answer(to: NameQuestion(.a, "localhost")).outcome == .records([.address("127.0.0.1")]))
        #expect(await resolver.answer(to: NameQuestion(.aaaa, "localhost")).outcome == .records([.address("::1")]))
        #expect(port.received() == 0)
    }

    @Test("a hosts file is read by its words, without regard to case, comments and zones")
    func hosts() {
        let text = """
            # 192.0.2.9 edge.example.org
            192.0.2.1\tedge.example.org Edge
            2001:db8::1 EDGE.example.org # 192.0.2.8
            fe80::1%eth0 edge.example.org
            192.0.2.2 other.example.org edge.example.org
            """
        let names = HostsFile.names(in: text)
        #expect(names["edge.example.org"] == ["192.0.2.1", "2001:db8::1", "192.0.2.2"])
        #expect(names["edge"] == ["192.0.2.1"])
        #expect(names["example.org"] == nil)
    }

    @Test("a hosts file that changes, goes and comes back is seen to")
    func changedHosts() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent("hosts-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var hosts = HostsFile(path)
        #expect(hosts.addresses(of: "edge.example.org") == nil)
        try "192.0.2.1 edge.example.org\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(hosts.addresses(of: "edge.example.org") == ["192.0.2.1"])
        #expect(hosts.addresses(of: "edge.example.org") == ["192.0.2.1"])
        try "192.0.2.22 edge.example.org\n".write(toFile: path, atomically: true, encoding: .utf8)
        #expect(hosts.addresses(of: "edge.example.org") == ["192.0.2.22"])
        try FileManager.default.removeItem(atPath: path)
        #expect(hosts.addresses(of: "edge.example.org") == nil)
    }

    @Test("a server that is no address is refused by name")
    func badServer() {
        var options = NameResolverOptions()
        options.servers = ["dns.example.org"]
        #expect(throws: NameResolverError.self) { try NameResolver(options: options).stop() }
    }
}
