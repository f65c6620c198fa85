import PresenceDocuments
import Testing
import XMLCore

@Suite struct PresenceRulesDocumentTests {
    private static let open =
        "<ruleset xmlns='urn:ietf:params:xml:ns:common-policy' xmlns:pr='urn:ietf:params:xml:ns:pres-rules' "
        + "xmlns:ocp='urn:oma:xml:xdm:common-policy' xmlns:op='urn:oma:xml:prs:pres-rules' xmlns:x='urn:example:extension'>"

    private static func decode(_ rules: String) throws -> PresenceRulesDocument {
        try PresenceRulesDocument.decode(Array((open + rules + "</ruleset>").utf8))
    }

    private static let whole = """
        <rule id="f3g44r1">
          <conditions>
            <identity>
              <one id="sip:bob@example.com"><x:device>desk</x:device></one>
              <many domain="example.net"><except id="sip:eve@example.net"/><except domain="guests.example.net"/><x:age over="18"/></many>
              <x:group name="team"/>
            </identity>
            <sphere value="work"/>
            <validity>
              <from>2026-05-04T08:00:00+02:00</from><until>2026-05-04T17:00:00+02:00</until>
              <from>2026-05-05T06:00:00Z</from><until>9999-12-31T23:59:59Z</until>
            </validity>
            <ocp:external-list><ocp:entry anc="https://xcap.example.com/resource-lists/users/sip:a@example.com/index/~~/resource-lists/list"/></ocp:external-list>
            <ocp:anonymous-request/>
            <ocp:other-identity/>
            <x:weather>rain</x:weather>
          </conditions>
          <actions><pr:sub-handling>polite-block</pr:sub-handling><x:log/></actions>
          <transformations>
            <pr:provide-services><pr:service-uri>sip:a@example.com</pr:service-uri><pr:service-uri-scheme>sip</pr:service-uri-scheme><pr:occurrence-id>t1</pr:occurrence-id><pr:class>work</pr:class><op:service-id>org.example.im</op:service-id><x:room>1</x:room></pr:provide-services>
            <pr:provide-persons><pr:all-persons/></pr:provide-persons>
            <pr:provide-devices><pr:deviceID>urn:uuid:1</pr:deviceID></pr:provide-devices>
            <pr:provide-activities>true</pr:provide-activities><pr:provide-mood>0</pr:provide-mood>
            <pr:provide-user-input>thresholds</pr:provide-user-input>
            <pr:provide-unknown-attribute name="badge" ns="urn:example:badge">true</pr:provide-unknown-attribute>
            <op:provide-willingness>1</op:provide-willingness><op:provide-geopriv>full</op:provide-geopriv>
            <pr:provide-all-attributes/><x:provide-shoes>true</x:provide-shoes>
          </transformations>
        </rule>
        <rule id="empty"/>
        """

    @Test("RFC 4745 6, RFC 5025 3: conditions, actions and transformations are read, and written so that they read the same [R600]")
    func roundTrip() throws {
        let document = try Self.decode(Self.whole)
        let rule = try #require(document.rules.first)
        #expect(document.rules.map(\.id) == ["f3g44r1", "empty"] && rule.conditions.count == 7 && rule.handling == .politeBlock)
        #expect(rule.otherActions.count == 1 && rule.transformations.count == 11)
        guard case .identity(let matches) = rule.conditions[0], case .validity(let periods) = rule.conditions[2] else {
            Issue.record("conditions out of order")
            return
        }
        #expect(matches.count == 3)
        #expect(periods[0].from == DateTime("2026-05-04T06:00:00Z") && periods[1].until.nanosecondsSince1970 == .max)
        let exceptions = [IdentityException(id: "sip:eve@example.net"), IdentityException(domain: "guests.example.net")]
        guard case .many("example.net", exceptions, let extensions) = matches[1] else {
            Issue.record("\(matches[1])")
            return
        }
        #expect(extensions.map(\.localName) == ["age"])
        #expect(rule.transformations.contains(.components(.persons, ComponentSelection(all: true))))
        #expect(rule.transformations.contains(.attribute(.mood, false)) && rule.transformations.contains(.attribute(.geopriv, true)))
        let written = document.encode()
        let again = try PresenceRulesDocument.decode(written)
        #expect(again.encode() == written)
        #expect(again.rules.map(\.conditions.count) == [7, 0] && again.rules[0].transformations.count == 11)
    }

    @Test(
        "RFC 4745 6: a document with a mistake is refused as a whole, and the error names element, value and rule [R601]",
        arguments: [
            ("<rule/>", "RFC 4745 6: rule without id"),
            ("<rule id='a'/><rule id='a'/>", "attribute id in 'rule' has the value 'a' a second time"),
            (
                "<rule id='a'><condition/></rule>",
                "'condition' in namespace 'urn:ietf:params:xml:ns:common-policy' is not allowed in 'rule', in rule 'a'"
            ),
            (
                "<rule id='a'><x:conditions/></rule>",
                "'conditions' in namespace 'urn:example:extension' is not allowed in 'rule', in rule 'a'"
            ),
            ("<rule id='a'><conditions/><conditions/></rule>", "is not allowed in 'rule' a second time, in rule 'a'"),
            ("<x:rule id='a'/>", "'rule' in namespace 'urn:example:extension' is not allowed in 'ruleset'"),
            ("<rule id='a'><conditions><identity><one/></identity></conditions></rule>", "RFC 4745 7.1.2: one without id, in rule 'a'"),
            (
                "<rule id='a'><conditions><identity><many domain=' '/></identity></conditions></rule>",
                "attribute domain in 'many' has the invalid value ' ', in rule 'a'"
            ),
            (
                "<rule id='a'><conditions><identity><many><except/></many></identity></conditions></rule>",
                "RFC 4745 7.1.3: except without id or domain, in rule 'a'"
            ),
            ("<rule id='a'><conditions><sphere/></conditions></rule>", "RFC 4745 7.2: sphere without value, in rule 'a'"),
            ("<rule id='a'><conditions><validity/></conditions></rule>", "RFC 4745 7.3: validity without from, in rule 'a'"),
            (
                "<rule id='a'><conditions><validity><from>2026-01-01T00:00:00Z</from></validity></conditions></rule>",
                "RFC 4745 7.3: validity without until, in rule 'a'"
            ),
            (
                "<rule id='a'><conditions><validity><until>2026-01-01T00:00:00Z</until></validity></conditions></rule>",
                "'until' in 'validity' where 'from' is expected, in rule 'a'"
            ),
            (
                "<rule id='a'><conditions><validity><from>noon</from><until>night</until></validity></conditions></rule>",
                "the time in 'from' has the invalid value 'noon', in rule 'a'"
            ),
            (
                "<rule id='a'><conditions><validity><from>9999-02-30T00:00:00Z</from><until>9999-12-31T00:00:00Z</until></validity></conditions></rule>",
                "the time in 'from' has the invalid value '9999-02-30T00:00:00Z', in rule 'a'"
            ),
            (
                "<rule id='a'><actions><pr:sub-handling>maybe</pr:sub-handling></actions></rule>",
                "RFC 5025 3.2.1: the handling in 'sub-handling' has the invalid value 'maybe', in rule 'a'"
            ),
            (
                "<rule id='a'><actions><pr:sub-handling>allow</pr:sub-handling><pr:sub-handling>block</pr:sub-handling></actions></rule>",
                "the second handling in 'sub-handling' has the invalid value 'block', in rule 'a'"
            ),
            (
                "<rule id='a'><transformations><pr:provide-mood>yes</pr:provide-mood></transformations></rule>",
                "RFC 5025 3.3.2: the boolean in 'provide-mood' has the invalid value 'yes', in rule 'a'"
            ),
            (
                "<rule id='a'><transformations><pr:provide-user-input>true</pr:provide-user-input></transformations></rule>",
                "the permission in 'provide-user-input' has the invalid value 'true', in rule 'a'"
            ),
            (
                "<rule id='a'><transformations><op:provide-geopriv>true</op:provide-geopriv></transformations></rule>",
                "the permission in 'provide-geopriv' has the invalid value 'true', in rule 'a'"
            ),
            (
                "<rule id='a'><transformations><pr:provide-unknown-attribute name='x'>true</pr:provide-unknown-attribute></transformations></rule>",
                "provide-unknown-attribute without ns, in rule 'a'"
            ),
        ])
    func refused(_ rules: String, _ expected: String) {
        do {
            _ = try Self.decode("<rule id='good'/>" + rules)
            Issue.record("\(rules) was read")
        } catch let error as DocumentError {
            #expect(error.message.contains(expected), "\(error.message)")
            #expect(error.position != nil)
        } catch {
            Issue.record("\(error)")
        }
    }

    @Test("RFC 4745 6: another root is refused [R601]")
    func root() {
        #expect(throws: DocumentError.self) { try PresenceRulesDocument.decode(Array("<ruleset/>".utf8)) }
    }

    /// Code and message of the refusal; nil if the document is read.
    private static func refusal(_ text: String) -> DocumentError? {
        do {
            _ = try PresenceRulesDocument.decode(Array(text.utf8))
            return nil
        } catch {
            return error
        }
    }

    @Test("10,000 rules, too many identities, deep nesting, entities and too many octets are limits with an error of their own [R602]")
    func limits() throws {
        func rules(_ count: Int) -> String { Self.open + (0..<count).map { "<rule id='r\($0)'/>" }.joined() + "</ruleset>" }
        #expect(Self.refusal(rules(PresenceRulesDocument.maximumRules)) == nil)
        let many = Self.refusal(rules(10_000))
        #expect(many?.code == .limit && many?.message == "RFC 4745 6: more than 1000 rules in 'ruleset'")
        func identities(_ count: Int) -> String {
            Self.open + "<rule id='r'><conditions><identity><many>"
                + (1..<count).map { "<except id='sip:u\($0)@example.com'/>" }.joined() + "</many></identity></conditions></rule></ruleset>"
        }
        #expect(Self.refusal(identities(PresenceRulesDocument.maximumIdentities)) == nil)
        let identity = Self.refusal(identities(PresenceRulesDocument.maximumIdentities + 1))
        #expect(identity?.code == .limit && identity?.message == "RFC 4745 7.1: more than 5000 identities in 'ruleset', in rule 'r'")
        let deep = Self.open + "<rule id='r'><conditions>" + String(repeating: "<x:a>", count: 20) + String(repeating: "</x:a>", count: 20)
        #expect(Self.refusal(deep + "</conditions></rule></ruleset>")?.code == .limit)
        let padding = "<!--" + String(repeating: "x", count: 262_144) + "-->"
        #expect(Self.refusal(Self.open + padding + "</ruleset>")?.code == .limit)
        let bomb = "<!DOCTYPE ruleset [<!ENTITY a 'aaaaaaaaaa'><!ENTITY b '&a;&a;&a;&a;&a;&a;&a;&a;'>]>" + Self.open + "&b;</ruleset>"
        #expect(Self.refusal(bomb)?.code == .notWellFormed)
    }

    @Test("RFC 5025 3.2.1: the handlings are ordered by what they grant [R620]")
    func order() {
        #expect(SubscriptionHandling.allCases.sorted() == [.block, .confirm, .politeBlock, .allow])
        #expect(SubscriptionHandling.allCases.map(\.rawValue) == [0, 10, 20, 30])
        #expect(UserInputPermission.allCases.sorted().map(\.rawValue) == ["false", "bare", "thresholds", "full"])
        for handling in SubscriptionHandling.allCases { #expect(SubscriptionHandling(name: handling.name) == handling) }
    }
}
