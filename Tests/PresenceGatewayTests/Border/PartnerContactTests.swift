import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// What is known of partners' servers by how they answer.
@Suite struct PartnerContactTests {
    private func row(_ bench: Bench, _ name: String) throws -> PartnerReport {
        try #require(bench.gateway.partnerReports.first { $0.name == name })
    }

    /// The SUBSCRIBE that example.org gets for a new watcher.
    private func ask(_ bench: Bench, _ presentity: String) throws -> SIPRequest {
        bench.clear()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: presentity), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        return try bench.nextRequest(.subscribe, at: Bench.simple)
    }

    @Test("every partner of the configuration has a row before anything is known of it, and no other domain has") func unknown() throws {
        let bench = Bench()
        #expect(bench.gateway.partnerReports.map(\.name) == ["contoso.com", "example.org"])
        #expect(bench.gateway.partnerReports.map(\.contact.state) == [.unknown, .unknown])
        #expect(try row(bench, "example.org").side == .simple)
    }

    @Test("a partner is up once it answers, with the time that took; any answer but 408 and 503 shows that it is there") func up() throws {
        let bench = Bench()
        let first = try ask(bench, "alice@example.org")
        #expect(try row(bench, "example.org").contact.state == .unknown)
        bench.pass(.milliseconds(40))
        bench.answer(first, 403, from: Bench.simple)
        var contact = try row(bench, "example.org").contact
        #expect(contact.state == .up)
        #expect(contact.since == bench.now)
        #expect(contact.roundTrip == .milliseconds(40))
        #expect(contact.requestsSent == 1)
        #expect(contact.answers == 1)
        let since = bench.now
        let second = try ask(bench, "anna@example.org")
        bench.pass(.milliseconds(120))
        bench.answer(second, 200, from: Bench.simple, headers: [(.expires, "3600")])
        contact = try row(bench, "example.org").contact
        #expect(contact.since == since)
        #expect(contact.roundTrip == .milliseconds(120))
        #expect(contact.smoothedRoundTrip == .milliseconds(50))
        #expect(contact.failures == 0)
    }

    @Test("silence and 503 are down since the first of them, with the last reason, until something is answered") func down() throws {
        let bench = Bench()
        bench.answer(try ask(bench, "alice@example.org"), 403, from: Bench.simple)
        bench.pass(.seconds(60))
        bench.answer(try ask(bench, "anna@example.org"), 503, from: Bench.simple, headers: [(.retryAfter, "600")])
        let since = bench.now
        #expect(try row(bench, "example.org").contact.lastFailure?.reason == "answered 503")
        _ = try ask(bench, "otto@example.org")
        bench.pass(.seconds(33))
        var contact = try row(bench, "example.org").contact
        #expect(contact.state == .down)
        #expect(contact.since == since)
        #expect(contact.lastFailure?.reason == "no answer")
        #expect(contact.failures == 2)
        bench.answer(try ask(bench, "eva@example.org"), 404, from: Bench.simple)
        contact = try row(bench, "example.org").contact
        #expect(contact.state == .up)
        #expect(contact.since == bench.now)
        #expect(contact.lastFailure?.reason == "no answer")
        let said = bench.gateway.takeLogs().filter { $0.message.description.hasPrefix("partner is") }
        #expect(said.map(\.message.description) == ["partner is down", "partner is up again"])
        #expect(said.first?.metadata.map { "\($0.key)=\($0.value)" } == ["partner=example.org", "reason=answered 503"])
    }

    @Test("of a NOTIFY only the answer says something of the partner: silence may be one watcher's") func notifications() throws {
        let bench = Bench()
        bench.send(bench.subscribe("ulla@contoso.com", to: "eva@example.com", via: Bench.enterprise), from: Bench.enterprise)
        bench.send(bench.subscribe("otto@contoso.com", to: "eva@example.com", via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let answered = try bench.nextRequest(.notify, at: Bench.enterprise)
        bench.pass(.milliseconds(5))
        bench.answer(answered, 200, from: Bench.enterprise)
        #expect(try row(bench, "contoso.com").contact.state == .up)
        let heard = try #require(try row(bench, "contoso.com").contact.lastHeard)
        bench.pass(.seconds(33))
        let contact = try row(bench, "contoso.com").contact
        #expect(contact.state == .up)
        #expect(contact.requestsSent == 2)
        #expect(contact.failures == 1)
        #expect(contact.lastFailure == nil)
        #expect(heard < bench.now)
        #expect(try row(bench, "contoso.com").counters.messages == 2)
    }

    @Test("a request that another server of the partner answers is one that was answered") func failover() throws {
        let (first, second) = (TransportAddress(.udp, "192.0.2.20", 5060), TransportAddress(.udp, "192.0.2.21", 5060))
        let bench = Bench {
            $0.naming = NamingConfiguration()
            $0.domains["example.org"]?.federation.route = nil
            $0.domains["example.org"]?.federation.hops = [ListedHop(first, priority: 1), ListedHop(second, priority: 2)]
        }
        bench.answer(try ask(bench, "alice@example.org"), 503, from: first)
        bench.answer(try bench.nextRequest(.subscribe, at: second), 403, from: second)
        let contact = try row(bench, "example.org").contact
        #expect(contact.state == .up)
        #expect(contact.requestsSent == 1)
        #expect(contact.failures == 0)
    }

    @Test("a partner whose servers are not found is down, and the reason says so") func notLocated() throws {
        let bench = Bench {
            $0.naming = NamingConfiguration()
            $0.domains["example.org"]?.federation.route = nil
            $0.domains["example.org"]?.federation.discovery = .neverWeaker
        }
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        bench.pass(.seconds(11))
        let contact = try row(bench, "example.org").contact
        #expect(contact.state == .down)
        #expect(contact.lastFailure?.reason.contains("example.org") == true)
    }

    @Test("what shards know of one partner is one row: the latest outcome decides, sums add up") func shards() {
        func at(_ seconds: Int64) -> Instant { Instant(secondsSince1970: seconds) }
        func report(_ change: (inout PartnerContact) -> Void) -> PartnerReport {
            var report = PartnerReport(name: "example.org")
            report.counters.messages = 3
            change(&report.contact)
            return report
        }
        let up = report {
            $0.sent()
            $0.answered(after: .milliseconds(10), at: at(100))
            $0.answered(after: .milliseconds(20), at: at(300))
        }
        let down = report {
            $0.sent()
            $0.failed("no answer", isVerdict: true, at: at(200))
        }
        let older = PartnerReport.sum([[up], [down], [PartnerReport(name: "example.com")]])
        #expect(older.map(\.name) == ["example.com", "example.org"])
        #expect(older[1].contact.state == .up)
        #expect(older[1].contact.since == at(200), "it was down for a moment")
        #expect(older[1].contact.requestsSent == 2)
        #expect(older[1].counters.messages == 6)
        let later = report { $0.failed("no answer", isVerdict: true, at: at(400)) }
        for order in [[up, down, later], [later, down, up]] {
            let sum = PartnerReport.sum(order.map { [$0] })[0].contact
            #expect(sum.state == .down)
            #expect(sum.since.map { (at(300)...at(400)).contains($0) } == true, "after the last answer, and not after the last failure")
            #expect(sum.failures == 2)
            #expect(sum.roundTrip == .milliseconds(20))
        }
    }

    @Test("partners that nobody configured give way, those that were only claimed first; nobody else is forgotten") func bounded() {
        let now = Instant(secondsSince1970: 1)
        var table = PartnerTable()
        table.configure(["example.org"])
        table.sent(to: "example.org")
        table.watch("sip:alice@example.com", by: "watching.example.com")
        let isNews = table.answered(by: "asked.example.com", after: .zero, at: now)
        #expect(!isNews)
        table.sent(to: "asked.example.com")
        for number in 0..<9_997 { table.count(\.unauthorizedPeers, of: "claimed\(number).example.net") }
        #expect(table.reports.count == 10_000)
        table.count(\.unauthorizedPeers, of: "one-more.example.net")
        #expect(table.reports.map(\.name) == ["asked.example.com", "example.org", "one-more.example.net", "watching.example.com"])
        for number in 0..<9_997 { table.sent(to: "asked\(number).example.net") }
        table.sent(to: "one-more.example.org")
        #expect(
            table.reports.map(\.name) == ["asked9996.example.net", "example.org", "one-more.example.org", "watching.example.com"])
    }

    @Test("a reload brings rows of new partners and takes those of old ones away") func reload() throws {
        let bench = Bench()
        bench.answer(try ask(bench, "alice@example.org"), 403, from: Bench.simple)
        bench.reconfigure {
            $0.domains["example.org"] = nil
            $0.domains["partner.example.net"] = DomainConfiguration(side: .simple, route: Bench.simple)
        }
        #expect(bench.gateway.partnerReports.filter(\.isConfigured).map(\.name) == ["contoso.com", "partner.example.net"])
        #expect(!bench.gateway.partnerReports.contains { $0.name == "example.org" })
    }
}
