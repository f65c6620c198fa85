import FederationRouting
import GatewayService
import PresenceGateway
import SIPCore
import SIPSecurity
import SIPTransport

/// Result for one route to a partner: its servers in the order in which a request tries them.
struct ProbeReport: Sendable {
    /// Domain name; for a route of single users their pattern and the domain.
    var name: String
    /// Reason why no server could be located; nil otherwise.
    var routingFailure: String?
    var servers: [ServerProbe.Result] = []

    var isUp: Bool { servers.contains(where: \.isUp) }

    /// One line for each server.
    var text: String {
        if let routingFailure { return "\(name) down: \(routingFailure)\n" }
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

    /// Certificates that expire within the span, one line each.
    func warnings(within span: TimeSpan, at now: Instant) -> [String] {
        servers.compactMap(\.certificate).filter { $0.notAfter <= (now + span).secondsSince1970 }.map {
            "\(name): the certificate \($0.ending(at: now))"
        }
    }
}

/// Sends OPTIONS to every server of every configured partner, without a running gateway.
struct PartnerProbe {
    /// One route to a partner.
    private struct Way: Sendable {
        var name: String
        var domain: String
        var hop: NextHop
    }

    /// Number of routes probed concurrently.
    private static let width = 8

    let configuration: ProgramConfiguration
    let settings: TLSSettings?
    /// Time limit for each server.
    let timeout: TimeSpan

    /// Whether `*` covers domains that cannot be probed because their names are unknown.
    var skipsOthers: Bool {
        configuration.domains["*"].map { $0.refuse == nil && !$0.hosted } ?? false
    }

    /// Routes in the order of domain names; routes of single users follow their domain.
    private var ways: [Way] {
        let table = configuration.routingTable
        return table.names.sorted().flatMap { name -> [Way] in
            guard name != RoutingTable.fallbackName, let domain = table[name], domain.refusal == nil, !domain.isHosted else { return [] }
            var ways: [Way] = []
            if let hop = domain.nextHop(toward: name) { ways.append(Way(name: name, domain: name, hop: hop)) }
            for route in domain.userRoutes {
                ways.append(
                    Way(name: "\(route.pattern)@\(name)", domain: name, hop: .located(HopTarget(name, .listed(route.hops)))))
            }
            return ways
        }
    }

    /// Probes all routes, 8 at a time, and calls `show` with the reports in the order of routes.
    /// - Throws: `CommandFailure` (input refused) when the resolver cannot be created.
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
        case .located(let hopTarget):
            do throws(HopFailure) {
                var random = SystemRandomNumberGenerator()
                servers = try await lookup.plan(of: hopTarget).targets(using: &random)
            } catch {
                report.routingFailure = "cannot be located: \(error)"
                return report
            }
        }
        let probe = ServerProbe(configuration: configuration, settings: settings, timeout: timeout)
        for server in servers { report.servers.append(await probe.ask(server, of: way.domain)) }
        return report
    }
}

extension Certificate {
    /// Subject and remaining days.
    func ending(at now: Instant) -> String {
        "\(self) ends in \(max(0, (notAfter - now.secondsSince1970) / 86_400)) days, at \(endText)"
    }
}
