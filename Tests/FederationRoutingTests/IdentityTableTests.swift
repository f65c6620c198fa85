import FederationRouting
import SIPCore
import Testing

@Suite struct IdentityTableTests {
    private static let table = IdentityTable([
        "contoso.com": .init(aliases: ["im.contoso.com", "Voice.Contoso.com"], schemes: [.sips, .pres, .im], numbers: ["+1425555"]),
        "fabrikam.com": .init(numbers: ["+1425", "+44"]),
        "example.org": .init(schemes: []),
    ])

    private func canonical(_ text: String) throws -> String {
        Self.table.identity(of: try #require(SIPURI(text))).uri.description
    }

    @Test(
        "RFC 3261 19.1.6, RFC 3859, RFC 3860, RFC 3966: all forms of one user are one identity",
        arguments: [
            "tel:+14255550100", "tel:+1-425-555-0100", "tel:+1(425)555.0100", "tel:+1-425-555-0100;x=y",
            "sip:+14255550100@contoso.com;user=phone", "sip:+1-425-555-0100@contoso.com;user=phone",
            "sips:+14255550100@contoso.com;user=PHONE",
            "sip:+1-425-555-0100@contoso.com", "sip:%2B14255550100@CONTOSO.com;user=phone", "pres:+14255550100@im.contoso.com",
            "im:+14255550100@voice.contoso.com.", "sip:+14255550100@contoso.com:5061;transport=tcp;user=phone",
        ])
    func forms(_ text: String) throws {
        #expect(try canonical(text) == "sip:+14255550100@contoso.com")
    }

    @Test(
        "what is not configured to be the same user is another one",
        arguments: [
            ("sip:bob@eu.contoso.com", "sip:bob@eu.contoso.com"),
            // The longest prefix decides.
            ("tel:+14255560100", "sip:+14255560100@fabrikam.com"), ("tel:+442071838750", "sip:+442071838750@fabrikam.com"),
            // Nobody's number, a local number, an extension.
            ("tel:+33123456789", "tel:+33123456789"), ("tel:5550100;phone-context=contoso.com", "tel:5550100;phone-context=contoso.com"),
            ("tel:+14255550100;ext=7", "tel:+14255550100;ext=7"),
            // Dashes are part of a name that is no number, and of a number in a domain that has none.
            ("sip:anne-marie@contoso.com", "sip:anne-marie@contoso.com"),
            ("sip:+1-425-555-0100@example.org", "sip:+1-425-555-0100@example.org"),
            ("sip:+1-425-555-0100@example.org;user=phone", "sip:+14255550100@example.org"),
            ("sip:+1-425-556-0100@contoso.com", "sip:+1-425-556-0100@contoso.com"),
        ])
    func others(_ text: String, _ expected: String) throws {
        #expect(try canonical(text) == expected)
    }

    @Test("RFC 3261 8.2.2.1 a domain takes the schemes it is configured for, sip always, tel by its numbers")
    func schemes() {
        #expect(Self.table.accepts(.im, for: "contoso.com") && !Self.table.accepts(.im, for: "fabrikam.com"))
        #expect(Self.table.accepts(.pres, for: "fabrikam.com") && Self.table.accepts(.sips, for: "fabrikam.com"))
        #expect(!Self.table.accepts(.pres, for: "example.org") && Self.table.accepts(.sip, for: "example.org"))
    }

    @Test("a domain's own name is nobody's alias, and of two claims the first by name stands")
    func conflicts() throws {
        let table = IdentityTable([
            "contoso.com": .init(aliases: ["fabrikam.com", "shared.example.com"]), "fabrikam.com": .init(aliases: ["shared.example.com"]),
        ])
        #expect(table.domain("fabrikam.com") == "fabrikam.com")
        #expect(table.domain("Shared.example.com") == "contoso.com")
    }

    @Test("a document names the presentity as it was asked for, without what only the way there needs")
    func entityForm() throws {
        for (text, form) in [
            ("pres:bob@contoso.com", "pres:bob@contoso.com"), ("sip:bob@contoso.com:5061;transport=tcp;gruu", "sip:bob@contoso.com"),
            ("sips:bob@im.contoso.com", "sips:bob@im.contoso.com"), ("tel:+1-425-555-0100;x=y", "tel:+1-425-555-0100"),
            ("sip:+14255550100@contoso.com;user=phone;transport=udp", "sip:+14255550100@contoso.com;user=phone"),
        ] {
            #expect(try #require(SIPURI(text)).entityForm.description == form)
        }
    }

    private var routes: RoutingTable {
        RoutingTable(
            [
                "contoso.com": FederatedDomain(side: .enterprise, isHosted: true), "fabrikam.com": .refused(),
                "example.org": FederatedDomain(side: .simple, route: TransportAddress(.udp, "192.0.2.20", 5060)),
            ], identities: Self.table)
    }

    @Test(
        "a route is decided by the identity, and says how it was found",
        arguments: [
            (
                "tel:+1-425-555-0100",
                "local (enterprise): +14255550100 is a user of contoso.com, whose numbers begin with +1425555; "
                    + "contoso.com is configured and hosted here"
            ),
            (
                "im:bob@im.contoso.com",
                "local (enterprise): im.contoso.com is an alias of contoso.com; contoso.com is configured and hosted here"
            ),
            (
                "tel:+44-20-7183-8750",
                "refused 403: +442071838750 is a user of fabrikam.com, whose numbers begin with +44; "
                    + "fabrikam.com is configured and refused"
            ),
            ("tel:+33123456789", "refused 404: no domain has this number (RFC 3966 5)"),
            ("pres:ann@example.org", "refused 416: pres: is not among the schemes of example.org (RFC 3261 8.2.2.1)"),
            ("sip:bob@fabrikam.com", "refused 403: fabrikam.com is configured and refused"),
        ])
    func decisions(_ text: String, _ expected: String) throws {
        #expect(routes.decide(try #require(SIPURI(text))).description == expected)
    }

    @Test("the same identity is routed the same from whichever side and in whichever form it is asked for")
    func oneRoute() throws {
        let outcomes = try ["sip:bob@contoso.com", "pres:bob@contoso.com", "sip:bob@im.contoso.com", "im:bob@voice.contoso.com"].map {
            routes.decide(try #require(SIPURI($0))).outcome
        }
        #expect(Set(outcomes).count == 1)
    }
}
