import PresenceDocuments
import PresenceRules
import SIPCore
import Testing

@Suite struct IdentityConditionTests {
    private func handling(_ conditions: String, _ watcher: RuleWatcher) throws -> SubscriptionHandling {
        Samples.decide(try Samples.document(Samples.rule("r", conditions)), watcher).handling
    }

    @Test("RFC 4745 7: all conditions must match, and a rule without any matches every watcher, an anonymous one too [R605]")
    func all() throws {
        let bob = try Samples.watcher("sip:bob@example.com")
        #expect(try handling("", bob) == .allow)
        #expect(try handling("", .anonymous) == .allow)
        let both = Samples.one("sip:bob@example.com") + "<sphere value='work'/>"
        #expect(try handling(both, bob) == .block)
        #expect(Samples.decide(try Samples.document(Samples.rule("r", both)), bob, sphere: "work").handling == .allow)
        // Two conditions of one kind must both match.
        #expect(try handling(Samples.one("sip:bob@example.com") + Samples.many("domain='example.net'"), bob) == .block)
        #expect(try handling(Samples.one("sip:bob@example.com") + Samples.many("domain='example.com'"), bob) == .allow)
    }

    @Test(
        "RFC 4745 7.1.2: one compares identities as URIs of one user [R606]",
        arguments: [
            ("sip:bob@example.com", "sip:bob@EXAMPLE.COM", true), ("sip:bob@example.com", "sips:bob@example.com:5061;transport=tls", true),
            ("pres:bob@example.com", "sip:bob@example.com", true), ("sip:b%6fb@example.com", "sip:bob@example.com", true),
            ("sip:bob@example.com.", "sip:bob@example.com", true), ("sip:bob@example.com", "sip:Bob@example.com", false),
            ("sip:bob@example.com", "sip:bob@sub.example.com", false), ("sip:bob@example.com", "sip:example.com", false),
            ("tel:+1-555-555-0142", "tel:+1(555)5550142", true), ("tel:+15555550142", "tel:+15555550143", false),
            ("tel:100;phone-context=example.com", "tel:100;phone-context=example.com", true),
            ("tel:100;phone-context=example.com", "tel:100;phone-context=example.net", false),
            ("tel:+15555550142", "tel:+15555550142;ext=7", false), ("tel:+15555550142", "sip:+15555550142@example.net;user=phone", false),
        ])
    func one(_ rule: String, _ watcher: String, _ matches: Bool) throws {
        #expect(try handling(Samples.one(rule), try Samples.watcher(watcher)) == (matches ? .allow : .block))
    }

    @Test("RFC 5025 3.1.1.2: any proven identity of a watcher is enough, and one that is excepted excludes it [R606, R607]")
    func several() throws {
        let both = try Samples.watcher("sip:bob@example.com", "tel:+15555550142")
        #expect(try handling(Samples.one("tel:+1-555-555-0142"), both) == .allow)
        #expect(try handling(Samples.one("sip:bob@example.com"), both) == .allow)
        #expect(try handling(Samples.many("domain='example.com'", "<except id='tel:+15555550142'/>"), both) == .block)
    }

    @Test("the identities of rules, lists and watchers are mapped by the caller, such as from a number to its user [R606]")
    func canonical() throws {
        let document = try Samples.document(
            Samples.rule("r", Samples.one("tel:+15555550142")), Samples.rule("d", Samples.many("domain='example.org'"), "confirm"))
        let rules = CompiledRules(document) { uri in
            if uri.scheme == .tel { return SIPURI(user: uri.user, host: "example.com") }
            return uri.domainKey == "old.example.org" ? SIPURI(user: uri.user, host: "example.org") : uri
        }
        let context = DecisionContext(now: Samples.noon)
        #expect(rules.decide(try Samples.watcher("sip:+15555550142@example.com;user=phone"), in: context).handling == .allow)
        #expect(rules.decide(try Samples.watcher("sip:eve@old.example.org"), in: context).handling == .confirm)
        #expect(rules.decide(try Samples.watcher("sip:eve@example.net"), in: context).handling == .block)
    }

    @Test(
        "RFC 4745 7.1.3: many is every proven identity, or those of one domain, without the exceptions [R607]",
        arguments: [
            ("", "", "sip:bob@example.com", true), ("", "", "tel:+15555550142", true),
            ("domain='Example.Com'", "", "sip:bob@example.com", true), ("domain='example.com'", "", "sip:bob@sub.example.com", false),
            ("domain='sub.example.com'", "", "sip:bob@example.com", false), ("domain='example.com'", "", "tel:+15555550142", false),
            ("", "<except id='sip:bob@example.com'/>", "sip:bob@EXAMPLE.com", false),
            ("", "<except id='sip:bob@example.com'/>", "sip:eve@example.com", true),
            ("", "<except domain='example.com'/>", "sip:bob@example.com", false),
            ("", "<except domain='example.com'/>", "sip:bob@example.net", true),
            ("domain='example.com'", "<except id='sip:eve@example.com'/><except id='sip:bob@example.com'/>", "sip:bob@example.com", false),
            ("", "<except id='sip:eve@example.com' domain='example.net'/>", "sip:bob@example.net", false),
        ])
    func many(_ attributes: String, _ exceptions: String, _ watcher: String, _ matches: Bool) throws {
        #expect(try handling(Samples.many(attributes, exceptions), try Samples.watcher(watcher)) == (matches ? .allow : .block))
    }

    @Test("RFC 4745 7.1: one child of identity is enough, and an exception binds its own element only [R607]")
    func children() throws {
        let identity =
            "<identity><many domain='example.com'><except id='sip:bob@example.com'/></many><one id='sip:bob@example.com'/></identity>"
        #expect(try handling(identity, try Samples.watcher("sip:bob@example.com")) == .allow)
        #expect(try handling("<identity/>", try Samples.watcher("sip:bob@example.com")) == .block)
    }

    @Test("RFC 4745 7.1, RFC 3323 4.1.1.3, RFC 3325 9.3: an anonymous watcher matches no identity [R608]")
    func anonymous() throws {
        let bob = try #require(SIPURI("sip:bob@example.com"))
        let hidden = try #require(SIPURI("sip:anonymous@anonymous.invalid"))
        let partner = try #require(SIPURI("sip:anonymous@example.net.anonymous.invalid"))
        for watcher in [
            RuleWatcher.anonymous, RuleWatcher(bob, privacy: "id"), RuleWatcher(bob, privacy: "header; ID ;critical"), RuleWatcher(hidden),
            RuleWatcher([bob, hidden]), RuleWatcher(partner), RuleWatcher([]),
        ] {
            #expect(watcher.isAnonymous)
            #expect(try handling(Samples.many(), watcher) == .block)
            #expect(try handling(Samples.one("sip:bob@example.com"), watcher) == .block)
            #expect(try handling(Samples.one("sip:anonymous@anonymous.invalid"), watcher) == .block)
            #expect(try handling("<ocp:anonymous-request/>", watcher) == .allow)
            #expect(try handling("<ocp:other-identity/>", watcher) == .block)
        }
        for privacy in [nil, "none", "header;session", "identity"] { #expect(!RuleWatcher(bob, privacy: privacy).isAnonymous) }
        #expect(try handling("<ocp:anonymous-request/>", RuleWatcher(bob)) == .block)
    }

    @Test(
        "RFC 4745 6.2: a rule with an unknown condition, and an element with unknown children, match no watcher [R611]",
        arguments: [
            "<x:weather/>", "<one id='sip:bob@example.com'/>", "<identity><x:group/></identity>",
            "<identity><one id='sip:bob@example.com'><x:device/></one></identity>", "<identity><many><x:age over='18'/></many></identity>",
            "<sphere value='work'><x:more/></sphere>", "<ocp:anonymous-request><x:more/></ocp:anonymous-request>",
            "<ocp:other-identity><x:more/></ocp:other-identity>", "<ocp:external-list><x:entry anc='y'/></ocp:external-list>",
            "<identity><one id='no uri'/></identity>", "<identity><many><except id='no uri'/></many></identity>",
        ])
    func unknown(_ condition: String) throws {
        let document = try Samples.document(Samples.rule("r", condition))
        for watcher in [RuleWatcher.anonymous, try Samples.watcher("sip:bob@example.com")] {
            let decision = Samples.decide(document, watcher, sphere: "work")
            #expect(decision.handling == .block && decision.matched.isEmpty && decision.unmatched.map(\.rule) == ["r"])
        }
        let isAnonymous = condition.contains("sphere") || condition.contains("request") || condition.contains("other-identity")
        #expect(isAnonymous || !CompiledRules(document).problems.isEmpty)
    }

    @Test("an identity that is no URI is reported with element, value and rule, and other identities of the rule still match [R611]")
    func problems() throws {
        let identity = "<identity><one id='no uri'/><one id='sip:bob@example.com'/><many><except id='also none'/></many></identity>"
        let document = try Samples.document(Samples.rule("r", identity))
        #expect(
            CompiledRules(document).problems.map(\.description) == [
                "rule 'r': RFC 4745 7.1.2: attribute id in 'one' has the value 'no uri', which is no URI",
                "rule 'r': RFC 4745 7.1.3: attribute id in 'except' has the value 'also none', which is no URI",
            ])
        #expect(Samples.decide(document, try Samples.watcher("sip:bob@example.com")).handling == .allow)
        #expect(Samples.decide(document, try Samples.watcher("sip:eve@example.com")).handling == .block)
    }
}
