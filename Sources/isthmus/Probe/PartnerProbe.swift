import FederationRouting
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport

/// What a probe found of one way to a partner: all its servers in the order in which a request tries them.
struct ProbeReport: Sendable {
    /// The domain, and of users with a way of their own their pattern.
    var name: String
    /// Why no server could be asked; nil: they were.
    var obstacle: String?
    var servers: [ServerProbe.Result] = []

    var isUp: Bool { servers.contains(where: \.isUp) }

    /// A line for each server.
    var text: String {
        if let obstacle { return "\(name) down: \(obstacle)\n" }
        return servers.map { "\(name) \(Self.text(of: $0))\n" }.joined()
    }

    private static func text(of result: ServerProbe.Result) -> String {
        switch result.verdict {
        case .down(let reason): return "\(result.server) down: \(reason)"
        case .up(let status, let milliseconds):
            var text = "\(result.server) up \(status) in \(milliseconds) ms"
            if let certificate = result.certificate {
                text += ", certificate \(certificate) by \(certificate.issuer), until \(certificate.endText.prefix(10))"
            }
            return text
        }
    }

    /// Certificates that end soon, a line each.
    func warnings(within span: TimeSpan, at now: Instant) -> [String] {
        servers.compactMap(\.certificate).filter { $0.notAfter <= (now + span).secondsSince1970 }.map {
            "\(name): the certificate \($0.ending(at: now))"
        }
    }
}

/// Asks every server of every partner of a configuration, without a running gateway.
struct PartnerProbe {
    /// One way to a partner.
    private struct Way: Sendable {
        var name: String
        var domain: String
        var hop: NextHop
    }

    /// Ways that are probed at the same time.
    private static let width = 8

    let configuration: ProgramConfiguration
    let settings: TLSSettings?
    /// For each server.
    let timeout: TimeSpan

    /// Whether there is anything that cannot be probed because nobody knows where it leads.
    var skipsOthers: Bool {
        configuration.domains["*"].map { $0.refuse == nil && !$0.hosted } ?? false
    }

    /// By name of the domain, in turn; those of users with ways of their own after it.
    private var ways: [Way] {
        let table = configuration.routingTable
        return table.names.sorted().flatMap { name -> [Way] in
            guard name != RoutingTable.fallbackName, let domain = table[name], domain.refusal == nil, !domain.isHosted else { return [] }
            var ways: [Way] = []
            if let hop = domain.nextHop(toward: name) { ways.append(Way(name: name, domain: name, hop: hop)) }
            for route in domain.userRoutes {
                ways.append(
                    Way(name: "\(route.pattern)@\(name)", domain: name, hop: .located(HopGoal(name, .listed(route.hops)))))
            }
            return ways
        }
    }

    /// Probes all, some at a time, and hands out each report in its turn.
    /// - Throws: `CommandFailure` (input refused) when the resolver cannot be set up.
    func run(_ show: (ProbeReport) -> Void) async throws(CommandFailure) {
        let lookup = try HopLookup(configuration)
        defer { lookup.stop() }
        let ways = ways
        await withTaskGroup(of: (Int, ProbeReport).self) { group in
            var next = 0
            func begin() {
                guard next < ways.count else { return }
                let (index, way) = (next, ways[next])
                next += 1
                group.addTask { (index, await report(on: way, lookup)) }
            }
            for _ in 0..<Self.width { begin() }
            var done: [Int: ProbeReport] = [:]
            var shown = 0
            while let (index, report) = await group.next() {
                done[index] = report
                begin()
                while let report = done.removeValue(forKey: shown) {
                    show(report)
                    shown += 1
                }
            }
        }
    }

    private func report(on way: Way, _ lookup: HopLookup) async -> ProbeReport {
        var report = ProbeReport(name: way.name)
        var servers: [TransportAddress]
        switch way.hop {
        case .fixed(let address): servers = [address]
        case .located(let goal):
            do throws(HopFailure) {
                var random = SystemRandomNumberGenerator()
                servers = try await lookup.plan(of: goal).targets(using: &random)
            } catch {
                report.obstacle = "cannot be located: \(error)"
                return report
            }
        }
        let probe = ServerProbe(configuration: configuration, settings: settings, timeout: timeout)
        for server in servers { report.servers.append(await probe.ask(server, of: way.domain)) }
        return report
    }
}

extension Certificate {
    /// Which it is, and in how many days it ends.
    func ending(at now: Instant) -> String {
        "\(self) ends in \(max(0, (notAfter - now.secondsSince1970) / 86_400)) days, at \(endText)"
    }
}
