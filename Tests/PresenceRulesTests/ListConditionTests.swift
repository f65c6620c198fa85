import PresenceDocuments
import PresenceRules
import SIPCore
import Testing

@Suite struct ListConditionTests {
    private static let friends = "list[@name=%22friends%22]"

    private func decide(_ conditions: String, _ lists: ListDocuments, _ watcher: String) throws -> Decision {
        Samples.decide(try Samples.document(Samples.rule("r", conditions)), try Samples.watcher(watcher), lists: lists)
    }

    @Test("OMA external-list: an entry of the list matches, by identity, and the decision names the list [R612]")
    func entry() throws {
        let lists = try Samples.lists(
            Samples.list("friends", "sip:Bob@example.com", "tel:+1-555-555-0142") + Samples.list("foes", "sip:eve@example.com"))
        let found = try decide(Samples.external(Self.friends), lists, "sip:Bob@EXAMPLE.COM")
        #expect(found.handling == .allow)
        #expect(found.matched.first?.conditions == [.list(anchor: Samples.anchor(Self.friends), name: "friends")])
        #expect(found.listDocuments == ["resource-lists/users/sip:mara@example.com/index"])
        #expect(try decide(Samples.external(Self.friends), lists, "tel:+15555550142").handling == .allow)
        #expect(try decide(Samples.external(Self.friends), lists, "sip:eve@example.com").handling == .block)
        #expect(
            Samples.decide(try Samples.document(Samples.rule("r", Samples.external(Self.friends))), .anonymous, lists: lists).handling
                == .block)
    }

    @Test(
        "RFC 4825 6: spellings of the URI of one list",
        arguments: [
            "list%5b@name=%22friends%22%5d", "list[@name='friends']", "rl:list[2]?xmlns(rl=urn:ietf:params:xml:ns:resource-lists)",
            "list[2][@name=%22friends%22]", "list[@name=%22a%2Fb%22]/list[@name=%22friends%22]", "list%5B1%5D/list",
        ])
    func spellings(_ selector: String) throws {
        let lists = try Samples.lists(
            "<list name='a/b'>" + Samples.list("friends", "sip:bob@example.com") + "</list>"
                + Samples.list("friends", "sip:bob@example.com"))
        // Quotes of XML and of the selector differ.
        let anchor = Samples.anchor(selector, user: "sip:mara@EXAMPLE.com").split(separator: "'").joined(separator: "%27")
        let condition = "<ocp:external-list><ocp:entry anc='\(anchor)'/></ocp:external-list>"
        #expect(try decide(condition, lists, "sip:bob@example.com").handling == .allow)
    }

    @Test(
        "a list that is not there, ambiguous, of another root or no list is reported and matches no watcher [R613]",
        arguments: [
            (Samples.anchor("list[@name=%22none%22]"), "does not select exactly one element"),
            (Samples.anchor("list"), "does not select exactly one element"),
            (Samples.anchor("list[7]"), "does not select exactly one element"),
            (Samples.anchor("list[1]/entry[1]"), "does not select exactly one element"),
            (Samples.anchor(friends, user: "sip:eve@example.com"), "there is no such document"),
            (
                "https://xcap.example.net/root/resource-lists/users/sip:mara@example.com/index/~~/resource-lists/list[1]",
                "another XCAP root"
            ),
            ("https://xcap.example.com/root/pres-rules/users/sip:mara@example.com/index/~~/ruleset/rule", "names no list"),
            ("https://xcap.example.com/root/resource-lists/users/sip:mara@example.com/index", "names no list"),
            ("https://xcap.example.com/root/resource-lists/users/../index/~~/resource-lists/list[1]", "names no list"),
            (Samples.anchor("*[1]"), "names no list"), (Samples.anchor("list[@name=friends]"), "names no list"),
            (Samples.anchor("list[%ff]"), "names no list"), ("", "names no list"),
        ])
    func unreadable(_ anchor: String, _ expected: String) throws {
        let lists = try Samples.lists(Samples.list("friends", "sip:bob@example.com") + Samples.list("foes", "sip:eve@example.com"))
        let document = try Samples.document(
            Samples.rule("r", "<ocp:external-list><ocp:entry anc='\(anchor)'/></ocp:external-list>", "block"),
            Samples.rule("o", "<ocp:other-identity/>"))
        let rules = CompiledRules(document, lists: lists)
        #expect(rules.problems.count == 1 && rules.problems[0].rule == "r")
        #expect(rules.problems.first?.message.contains(expected) == true, "\(rules.problems)")
        // The list might block the watcher, so neither `other-identity` nor the default may allow it.
        let context = DecisionContext(now: Samples.noon, unruled: .allow)
        let decision = rules.decide(try Samples.watcher("sip:bob@example.com"), in: context, reasons: 9)
        #expect(decision.handling == .confirm && decision.origin == .unreadableList && decision.grants == PresenceGrants())
        #expect(decision.unmatched.map(\.reason) == [.notInList, .unreadableList])
        #expect(rules.decide(.anonymous, in: context).handling == .allow)
    }

    @Test("RFC 4826 3: inner lists, references to entries and external lists belong to a list, below the same root [R612]")
    func references() throws {
        let reference =
            "resource-lists/users/sip:kai@example.com/index/~~/resource-lists/list%5b1%5d/entry%5b@uri=%22sip:desk@example.com%22%5d"
        let content =
            "<list name='friends'><list name='near'><entry uri='sip:near@example.com'/></list><entry-ref ref='\(reference)'/>"
            + "<external anchor='\(Samples.anchor("list[@name=%22far%22]", user: "sip:kai@example.com"))'/></list>"
        let other = Samples.list("desks", "sip:desk@example.com", "sip:other@example.com") + Samples.list("far", "sip:far@example.com")
        let lists = try Samples.lists(content, others: ["sip:kai@example.com": other])
        for (watcher, name) in [("near", "friends/near"), ("desk", "friends"), ("far", "far")] {
            let decision = try decide(Samples.external(Self.friends), lists, "sip:\(watcher)@example.com")
            #expect(decision.matched.first?.conditions == [.list(anchor: Samples.anchor(Self.friends), name: name)])
        }
        let stranger = try decide(Samples.external(Self.friends), lists, "sip:other@example.com")
        #expect(stranger.handling == .block)
        #expect(
            stranger.listDocuments == ["resource-lists/users/sip:kai@example.com/index", "resource-lists/users/sip:mara@example.com/index"])
        let broken = try Samples.lists(content)
        #expect(try decide(Samples.external(Self.friends), broken, "sip:near@example.com").handling == .block)
    }

    @Test("lists that contain themselves are read once, each entry of theirs matches [R612]")
    func loops() throws {
        func external(_ selector: String) -> String { "<external anchor='\(Samples.anchor(selector))'/>" }
        let content =
            "<list name='friends'>\(external(Self.friends))<entry uri='sip:a@example.com'/>\(external("list[2]"))</list>"
            + "<list name='b'><list name='c'>\(external("list[2]"))\(external("list[1]"))<entry uri='sip:c@example.com'/></list></list>"
        let lists = try Samples.lists(content)
        let document = try Samples.document(Samples.rule("r", Samples.external(Self.friends)))
        #expect(CompiledRules(document, lists: lists).problems.isEmpty)
        for watcher in ["sip:a@example.com", "sip:c@example.com"] {
            #expect(Samples.decide(document, try Samples.watcher(watcher), lists: lists).handling == .allow)
        }
    }

    @Test(
        "entries, inner lists, references and lists beyond a limit make the list unreadable, with an error that names the limit [R602, R613]"
    )
    func limits() throws {
        var limits = RuleLimits()
        limits.listEntries = 10
        limits.references = 3
        limits.lists = 2
        func problems(_ content: String, _ rules: String...) throws -> [String] {
            let text = Array("<ruleset \(Samples.namespaces)>\(rules.joined())</ruleset>".utf8)
            return CompiledRules(try PresenceRulesDocument.decode(text), lists: try Samples.lists(content), limits: limits).problems.map(
                \.message)
        }
        let rule = Samples.rule("r", Samples.external("list[1]"))
        func list(_ content: String) -> String { "<list>\(content)</list>" }
        func entries(_ count: Int) -> String { (0..<count).map { "<entry uri='sip:u\($0)@example.com'/>" }.joined() }
        let external = "<external anchor='\(Samples.anchor("list[1]"))'/>"
        #expect(try problems(list(entries(10)), rule) == [])
        #expect(
            try problems(list(entries(11)), rule).first?.hasSuffix(
                "cannot be read: more than 10 entries and inner lists with those of its references") == true)
        #expect(try problems(list(String(repeating: "<list/>", count: 11)), rule).first?.contains("more than 10 entries") == true)
        #expect(try problems(list(String(repeating: external, count: 3)), rule) == [])
        #expect(
            try problems(list(String(repeating: external, count: 4)), rule).first?.hasSuffix(
                "cannot be read: more than 3 references in the lists of the ruleset") == true)
        let three = (1...3).map { Samples.rule("r\($0)", Samples.external("list[\($0)]")) }.joined()
        let found = try problems("<list/><list/><list/>", three)
        #expect(found.count == 1 && found[0].hasSuffix("cannot be read: more than 2 lists in the ruleset"))
    }
}
