import PresenceDocuments
import PresenceRules
import SIPCore
import Testing

@Suite struct DecisionTests {
    private static let bob = "sip:bob@example.com"

    private func rules(_ handlings: [SubscriptionHandling]) throws -> PresenceRulesDocument {
        PresenceRulesDocument(
            rules: handlings.enumerated().map { PresenceRule(id: "r\($0)", conditions: [.identity([.one(id: Self.bob)])], handling: $1) })
    }

    @Test("RFC 4745 10.2, RFC 5025 3.2.1: the handling is the maximum of the matched rules, in any order [R620]")
    func maximum() throws {
        let bob = try Samples.watcher(Self.bob)
        for first in SubscriptionHandling.allCases {
            #expect(Samples.decide(try rules([first]), bob).handling == first)
            for second in SubscriptionHandling.allCases {
                #expect(Samples.decide(try rules([first, second]), bob).handling == max(first, second))
            }
        }
    }

    @Test("RFC 4745 10.2: booleans are joined by OR, sets by union, user-input by maximum, from rules of any handling [R620]")
    func union() throws {
        let document = try Samples.document(
            Samples.rule(
                "a", "", "allow",
                "<pr:provide-services><pr:class>work</pr:class></pr:provide-services><pr:provide-mood>false</pr:provide-mood>"
                    + "<pr:provide-activities>true</pr:provide-activities><pr:provide-user-input>full</pr:provide-user-input>"),
            Samples.rule(
                "b", "", "block",
                "<pr:provide-services><pr:class>home</pr:class></pr:provide-services><pr:provide-mood>true</pr:provide-mood>"
                    + "<pr:provide-activities>false</pr:provide-activities><pr:provide-user-input>bare</pr:provide-user-input>"
                    + "<pr:provide-unknown-attribute ns='urn:example:badge' name='badge'>true</pr:provide-unknown-attribute>"))
        let grants = Samples.decide(document, try Samples.watcher(Self.bob)).grants
        #expect(grants.services.selectors == [.class("work"), .class("home")] && !grants.services.all && grants.persons.isEmpty)
        #expect(grants.provides(.mood) && grants.provides(.activities) && !grants.provides(.note) && grants.userInput == .full)
        #expect(grants.unknownAttributes == [ElementName(namespace: "urn:example:badge", localName: "badge")])
        #expect(
            grants.description
                == "services (class=home class=work), activities, mood, user-input full, {urn:example:badge}badge")
    }

    @Test("RFC 5025 3.2.1: matched rules without a handling block; without a matched rule the domain's default decides [R621]")
    func defaults() throws {
        let bob = try Samples.watcher(Self.bob)
        let silent = try Samples.document(Samples.rule("r", "", nil, "<pr:provide-mood>true</pr:provide-mood><x:y/>"))
        let other = try Samples.document(Samples.rule("r", Samples.one("sip:eve@example.com")))
        for unruled in UnruledHandling.allCases {
            #expect(Samples.decide(silent, bob, unruled: unruled).handling == .block)
            for document in [nil, PresenceRulesDocument(), other] {
                let decision = Samples.decide(document, bob, unruled: unruled)
                #expect(decision.handling.name == unruled.rawValue && decision.origin == .unruled && decision.matched.isEmpty)
                #expect(decision.grants == (unruled == .allow ? .everything : PresenceGrants()))
                #expect(Samples.decide(document, .anonymous, unruled: unruled).handling.name == unruled.rawValue)
            }
        }
    }

    @Test("PKT-SP-PRS 6.3.5: a denial of the operator precedes the rules, and the watcher's filter follows them [R622]")
    func precedence() throws {
        let rules = CompiledRules(
            try Samples.document(Samples.rule("r", "", "allow", "<pr:provide-services><pr:all-services/></pr:provide-services>")))
        let bob = try Samples.watcher(Self.bob)
        let denied = rules.decide(bob, in: DecisionContext(now: Samples.noon, unruled: .allow, operatorVerdict: .deny), reasons: 9)
        #expect(denied.handling == .block && denied.origin == .operatorDenied && denied.grants == PresenceGrants())
        #expect(denied.lines == ["handling: block, denied by the operator"])
        var document = PIDFDocument(entity: "sip:mara@example.com")
        document.tuples = [PIDFTuple(id: "a", basic: .open), PIDFTuple(id: "b", basic: .closed)]
        document.notes = [PIDFNote("secret")]
        let never = PIDFDocument(entity: "sip:never@example.com")
        let decision = rules.decide(bob, in: DecisionContext(now: Samples.noon))
        var seen: [PIDFDocument] = []
        let view = decision.view(of: document, neverPublished: never) { granted in
            seen.append(granted)
            var granted = granted
            granted.tuples.removeLast()
            return granted
        }
        #expect(seen.map(\.tuples.count) == [2] && seen[0].notes.isEmpty)
        #expect(view?.tuples.map(\.id) == ["a"])
    }

    @Test("RFC 5025 3.2.1: a politely blocked watcher gets the document of a presentity that never published, others none [R638]")
    func polite() throws {
        var document = PIDFDocument(entity: "sip:mara@example.com")
        document.tuples = [PIDFTuple(id: "a", basic: .open)]
        var never = PIDFDocument(entity: "sip:mara@example.com")
        never.tuples = [PIDFTuple(id: "off", basic: .closed)]
        let bob = try Samples.watcher(Self.bob)
        for (handling, expected) in [(SubscriptionHandling.block, nil), (.confirm, nil), (.politeBlock, never)] {
            var rules = try rules([handling])
            rules.rules[0].transformations = [.components(.services, ComponentSelection(all: true)), .allAttributes]
            let decision = Samples.decide(rules, bob)
            #expect(decision.view(of: document, neverPublished: never) == expected)
        }
    }

    @Test("OMA: identity outweighs external-list, external-list other-identity; rules without these conditions count always [R615]")
    func omaPrecedence() throws {
        let lists = try Samples.lists(Samples.list("friends", "sip:bob@example.com", "sip:kai@example.com"))
        let mood = "<pr:provide-mood>true</pr:provide-mood>"
        let note = "<pr:provide-note>true</pr:provide-note>"
        let document = try Samples.document(
            Samples.rule("identity", Samples.one(Self.bob), "block", note),
            Samples.rule("list", Samples.external("list[1]"), "allow", mood),
            Samples.rule("other", "<ocp:other-identity/>", "polite-block"),
            Samples.rule("anonymous", "<ocp:anonymous-request/>", "confirm"),
            Samples.rule("sphere", "<sphere value='work'/>", "confirm"))
        func decide(_ watcher: RuleWatcher, _ sphere: String? = nil) -> Decision {
            Samples.decide(document, watcher, lists: lists, sphere: sphere)
        }
        let bob = decide(try Samples.watcher(Self.bob))
        #expect(bob.handling == .block && bob.matched.map(\.rule) == ["identity", "list"] && bob.matched.map(\.counts) == [true, false])
        #expect(bob.grants.provides(.note) && !bob.grants.provides(.mood))
        #expect(decide(try Samples.watcher(Self.bob), "work").handling == .confirm)
        let kai = decide(try Samples.watcher("sip:kai@example.com"))
        #expect(kai.handling == .allow && kai.grants.provides(.mood) && !kai.grants.provides(.note))
        #expect(kai.unmatched.last(where: { $0.rule == "other" })?.reason == .namedBy(rule: "list"))
        #expect(decide(try Samples.watcher("sip:eve@example.com")).handling == .politeBlock)
        #expect(decide(.anonymous).handling == .confirm && decide(.anonymous).matched.map(\.rule) == ["anonymous"])
    }

    @Test("OMA other-identity: a rule that names the watcher prevents it, even while the rule is not valid [R615]")
    func otherIdentity() throws {
        let expired = Samples.one(Self.bob) + Samples.validity("2020-01-01T00:00:00Z", "2021-01-01T00:00:00Z")
        let document = try Samples.document(Samples.rule("past", expired), Samples.rule("other", "<ocp:other-identity/>", "confirm"))
        let decision = Samples.decide(document, try Samples.watcher(Self.bob))
        #expect(decision.handling == .block && decision.unmatched.map(\.reason) == [.validity, .namedBy(rule: "past")])
        #expect(Samples.decide(document, try Samples.watcher("sip:eve@example.com")).handling == .confirm)
        let domain = try Samples.document(
            Samples.rule("domain", Samples.many("domain='example.com'", "<except id='sip:kai@example.com'/>"), "block"),
            Samples.rule("other", "<ocp:other-identity/>", "confirm"))
        #expect(Samples.decide(domain, try Samples.watcher(Self.bob)).handling == .block)
        #expect(Samples.decide(domain, try Samples.watcher("sip:kai@example.com")).handling == .confirm)
    }

    @Test("the decision names the conditions that matched and, for the other rules, the first that did not [R624]")
    func reasons() throws {
        let lists = try Samples.lists(Samples.list("friends", Self.bob))
        let document = try Samples.document(
            Samples.rule(
                "whole", Samples.one(Self.bob) + "<sphere value='work'/>" + Samples.validity("2026-05-04T08:00:00Z", "2026-05-04T17:00:00Z")
            ),
            Samples.rule("plain", "", "confirm"), Samples.rule("domain", Samples.many("domain='example.com'")),
            Samples.rule("except", Samples.many("", "<except id='\(Self.bob)'/>")), Samples.rule("eve", Samples.one("sip:eve@example.com")),
            Samples.rule("home", "<sphere value='home'/>"),
            Samples.rule("late", Samples.validity("2027-01-01T00:00:00Z", "2028-01-01T00:00:00Z")),
            Samples.rule("hidden", "<ocp:anonymous-request/>"), Samples.rule("other", "<ocp:other-identity/>"),
            Samples.rule("weather", "<x:weather/>"), Samples.rule("list", Samples.external("list[2]")))
        let decision = Samples.decide(document, try Samples.watcher(Self.bob), lists: lists, sphere: "work")
        #expect(
            decision.lines == [
                "handling: allow, by rules", "grants: nothing",
                "rule 'whole' matches: one sip:bob@example.com, sphere work, valid from 2026-05-04T08:00:00Z until 2026-05-04T17:00:00Z; allow",
                "rule 'plain' matches: no conditions; confirm", "rule 'domain' matches: many of example.com; allow",
                "rule 'except' does not match: an exception excludes the watcher",
                "rule 'eve' does not match: no identity is that of the watcher",
                "rule 'home' does not match: the sphere is work, not home",
                "rule 'late' does not match: the time is in none of its periods",
                "rule 'hidden' does not match: the watcher is not anonymous",
                "rule 'other' does not match: a list that cannot be read may name the watcher",
                "rule 'weather' does not match: the condition {urn:example:extension}weather is unknown",
                "rule 'list' does not match: the watcher is in none of its lists", "holds until: 2026-05-04T17:00:00Z",
                "depends on: sphere",
                "depends on: resource-lists/users/sip:mara@example.com/index",
            ])
        let short = Samples.decide(document, try Samples.watcher(Self.bob), lists: lists, sphere: "work", reasons: 2)
        #expect(short.unmatched.map(\.rule) == ["except", "eve"] && short.unmatchedOmitted == 6)
        let none = Samples.decide(document, try Samples.watcher(Self.bob), lists: lists, sphere: "work", reasons: 0)
        #expect(none.matched == decision.matched && none.unmatched.isEmpty && none.unmatchedOmitted == 0)
        #expect(none.holdsUntil == decision.holdsUntil && none.dependsOnSphere && none.listDocuments == decision.listDocuments)
    }
}
