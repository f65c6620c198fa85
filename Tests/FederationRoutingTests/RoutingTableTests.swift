import FederationRouting
import SIPCore
import Testing

@Suite struct RoutingTableTests {
    private let route = TransportAddress(.tcp, "sip.fabrikam.com", 5060)

    private var table: RoutingTable {
        RoutingTable([
            "contoso.com": FederatedDomain(side: .enterprise, isHosted: true),
            "Fabrikam.com": FederatedDomain(side: .enterprise, route: route, network: .sameEnterprise),
            "example.net": FederatedDomain(side: .simple), "example.com": .refused(.decline),
        ])
    }

    private func decide(_ uri: String, _ table: RoutingTable? = nil) throws -> RouteDecision {
        let (table, uri) = (table ?? self.table, try #require(SIPURI(uri)))
        let decision = table.decide(uri)
        var refusal: SIPStatus?
        if case .refuse(let status) = decision.outcome { refusal = status }
        #expect(table.refusal(of: uri, as: table.identities.identity(of: uri).uri) == refusal, "the same without a reason")
        return decision
    }

    @Test("an exact domain decides, without regard to case and final dot")
    func exact() throws {
        #expect(try decide("sip:bob@CONTOSO.com.").outcome == .local(FederatedDomain(side: .enterprise, isHosted: true)))
        let decision = try decide("pres:bob@fabrikam.COM")
        #expect(decision.outcome == .forward(FederatedDomain(side: .enterprise, route: route, network: .sameEnterprise), to: .fixed(route)))
        #expect(decision.rule == "fabrikam.com")
        #expect(decision.description.contains("tcp:sip.fabrikam.com:5060"))
    }

    @Test("a copy of an agreement keeps its values when another copy changes")
    func copies() {
        let agreement = FederatedDomain(side: .enterprise, route: route, network: .sameEnterprise)
        var changed = agreement
        changed.trust.isEdge = true
        changed.route = nil
        #expect(agreement.route == route && !agreement.trust.isEdge && agreement.network == .sameEnterprise)
        #expect(changed.route == nil && changed.trust.isEdge && changed != agreement)
        changed.trust.isEdge = false
        changed.route = route
        #expect(changed == agreement && Set([changed, agreement]).count == 1)
    }

    @Test("a subdomain is another domain")
    func subdomain() throws {
        #expect(try decide("sip:bob@eu.contoso.com").outcome == .refuse(.forbidden))
    }

    @Test("the star covers what is not named, and only that")
    func star() throws {
        var open = table
        open["*"] = FederatedDomain(side: .simple, route: route)
        #expect(try decide("sip:a@example.org", open).rule == "*")
        #expect(try decide("sip:a@contoso.com", open).rule == "contoso.com")
        open["*"] = .refused()
        #expect(try decide("sip:a@example.org", open).outcome == .refuse(.forbidden))
        #expect(open.names == ["*", "contoso.com", "example.com", "example.net", "fabrikam.com"])
    }

    @Test("refusals name their status and reason")
    func refusals() throws {
        #expect(try decide("sip:a@example.com").outcome == .refuse(.decline))
        #expect(try decide("sip:a@example.net").outcome == .refuse(.notFound))
        #expect(try decide("tel:+1-201-555-0123").outcome == .refuse(.unsupportedURIScheme))
        #expect(try decide("sips:a@fabrikam.com").outcome == .refuse(.temporarilyUnavailable))
        #expect(try decide("sip:a@example.org").reason.contains("example.org"))
        #expect(try decide("sip:a@example.org").domain == nil)
    }
}
