import EnhancedPresence
import PresenceDocuments
import PresenceRules
import Testing
import XMLCore

@testable import PolicyBridge

/// Rows of the table of containers, in both directions.
@Suite struct ContainerTableTests {
    static let bridge = World.both[0].bridge
    static let ruleset =
        "<ruleset xmlns='urn:ietf:params:xml:ns:common-policy' xmlns:pr='urn:ietf:params:xml:ns:pres-rules' "
        + "xmlns:ocp='urn:oma:xml:xdm:common-policy'>"

    static func rule(_ id: String, _ conditions: String, _ handling: String, _ transformations: String) -> String {
        "<rule id='\(id)'><conditions>\(conditions)</conditions><actions><pr:sub-handling>\(handling)</pr:sub-handling></actions>"
            + "<transformations>\(transformations)</transformations></rule>"
    }

    static func document(_ rules: String...) throws -> PresenceRulesDocument {
        try PresenceRulesDocument.decode(Array((ruleset + rules.joined() + "</ruleset>").utf8))
    }

    static let basic =
        "<pr:provide-services><pr:all-services/></pr:provide-services><pr:provide-persons><pr:all-persons/></pr:provide-persons>"
    static let everything = basic + "<pr:provide-devices><pr:all-devices/></pr:provide-devices><pr:provide-all-attributes/>"
    static let colleagues =
        basic + "<pr:provide-activities>true</pr:provide-activities><pr:provide-note>true</pr:provide-note>"
        + "<pr:provide-time-offset>true</pr:provide-time-offset><pr:provide-user-input>bare</pr:provide-user-input>"
        + "<pr:provide-place-type>true</pr:provide-place-type><pr:provide-status-icon>true</pr:provide-status-icon>"
        + "<pr:provide-class>true</pr:provide-class>"
        + "<pr:provide-unknown-attribute ns='urn:ietf:params:xml:ns:pidf:timed-status' name='timed-status'>true</pr:provide-unknown-attribute>"

    struct Row: Sendable, CustomTestStringConvertible {
        var container: Int
        var id: String
        var handling: String
        var transformations: String
        var testDescription: String { "\(container)" }
    }

    static let rows = [
        Row(
            container: 100, id: "isthmus-100", handling: "allow",
            transformations: basic + "<pr:provide-note>false</pr:provide-note><pr:provide-user-input>false</pr:provide-user-input>"),
        Row(container: 200, id: "isthmus-200", handling: "allow", transformations: colleagues),
        Row(container: 300, id: "isthmus-300", handling: "allow", transformations: everything),
        Row(container: 400, id: "isthmus-400", handling: "allow", transformations: everything),
        Row(container: 32_000, id: "isthmus-blocked", handling: "polite-block", transformations: ""),
    ]

    @Test("a rule with the form of a row becomes a member of its container, and a member the rule of the row", arguments: rows)
    func row(_ row: Row) throws {
        let container = try #require(ContainerID(row.container))
        let rules = try Self.document(
            Self.rule(
                row.id, "<identity><one id='sip:a@contoso.com'/><many domain='example.com'/></identity>", row.handling, row.transformations)
        )
        let members = [ContainerMember(.user, value: "a@contoso.com"), ContainerMember(.domain, value: "example.com")]
        #expect(Self.bridge.memberships(from: rules) == PolicyBridge.Memberships(members: [container: members]))
        let written = try #require(Self.bridge.ruleset(from: World.memberships([container: members])).rules.first)
        #expect(written.id == row.id && written.handling == rules.rules[0].handling && written.conditions == rules.rules[0].conditions)
        #expect(PresenceGrants(written.transformations) == PresenceGrants(rules.rules[0].transformations))
        let edit = try Self.bridge.ruleset(applying: members.map { MembershipChange(.add, $0, in: container) }, to: nil)
        #expect(try PresenceRulesDocument.decode(edit.octets).rules == [written] && edit.conflicts.isEmpty)
    }

    @Test("containers 300 and 400 grant the same, and a rule without an id of Isthmus is shown in 400")
    func friends() throws {
        let rules = try Self.document(Self.rule("friends", "<identity><one id='sip:a@contoso.com'/></identity>", "allow", Self.everything))
        #expect(Self.bridge.memberships(from: rules).members.keys.map(\.rawValue) == [400])
    }

    struct Hidden: Sendable, CustomTestStringConvertible {
        var element: String
        var conditions = "<identity><one id='sip:a@contoso.com'/></identity>"
        var handling = "allow"
        var transformations = everything
        var testDescription: String { element + " " + conditions }
    }

    static let hidden = [
        Hidden(element: "sphere", conditions: "<identity><one id='sip:a@contoso.com'/></identity><sphere value='work'/>"),
        Hidden(
            element: "validity",
            conditions: "<validity><from>2026-01-01T00:00:00Z</from><until>2027-01-01T00:00:00Z</until></validity>"),
        Hidden(
            element: "external-list", conditions: "<ocp:external-list><ocp:entry anc='https://xcap.example.com/x'/></ocp:external-list>"),
        Hidden(element: "except", conditions: "<identity><many domain='contoso.com'><except id='sip:b@contoso.com'/></many></identity>"),
        Hidden(element: "except", conditions: "<identity><many domain='contoso.com'><except domain='contoso.com'/></many></identity>"),
        Hidden(element: "many", conditions: "<identity><many/></identity>"),
        Hidden(element: "one", conditions: "<identity><one id='tel:+15555550142'/></identity>"),
        Hidden(element: "one", conditions: "<identity><one id='sip:a@contoso.com'><x xmlns='urn:example:x'/></one></identity>"),
        Hidden(element: "place", conditions: "<x:place xmlns:x='urn:example:x'/>"),
        Hidden(element: "other-identity", conditions: "<ocp:other-identity/>"),
        Hidden(element: "anonymous-request", conditions: "<ocp:anonymous-request/>"),
        Hidden(element: "conditions", conditions: ""),
        Hidden(element: "sub-handling", handling: "block"),
        Hidden(element: "sub-handling", handling: "confirm"),
        Hidden(element: "provide-mood", transformations: basic + "<pr:provide-mood>true</pr:provide-mood>"),
        Hidden(element: "transformations", transformations: basic + "<pr:provide-activities>true</pr:provide-activities>"),
        Hidden(
            element: "provide-persons", handling: "polite-block",
            transformations: "<pr:provide-persons><pr:all-persons/></pr:provide-persons>"),
        Hidden(element: "provide-x", transformations: everything + "<provide-x xmlns='urn:example:x'/>"),
    ]

    @Test("a rule that containers cannot express is not shown, and a PUT of it is refused with rule and element", arguments: hidden)
    func inexpressible(_ hidden: Hidden) throws {
        let rules = try Self.document(Self.rule("own", hidden.conditions, hidden.handling, hidden.transformations))
        #expect(Self.bridge.memberships(from: rules) == PolicyBridge.Memberships(hidden: ["own"]))
        let error = #expect(throws: InexpressibleRule.self) { try Self.bridge.changes(from: rules, given: [:]) }
        #expect(error?.rule == "own" && error?.element == hidden.element)
    }
}
