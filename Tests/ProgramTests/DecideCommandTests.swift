import ArgumentParser
import Foundation
import PresenceDocuments
import Testing

@testable import isthmus

@Suite struct DecideCommandTests {
    static let examples = AggregateAndResolveTests.examples
    static let rules = "\(examples)/alice.rules.xml"
    static let lists = "\(examples)/alice.lists.xml"
    static let document = "\(examples)/alice.pidf.xml"

    static func decide(_ watcher: String, _ more: String...) throws -> DecideCommand.Output {
        let arguments = ["decide", "--rules", rules, "--lists", lists, "--at", "2026-03-02T09:15:00Z", "--watcher", watcher] + more
        return try #require(try IsthmusCommand.parseAsRoot(arguments) as? DecideCommand).output()
    }

    @Test("decide prints the handling, the grants, the reasons of each rule, and until when it holds, as the documentation shows")
    func example() throws {
        let output = try Self.decide("sip:bob@contoso.com")
        #expect(output.document == nil)
        #expect(
            output.decision == """
                handling: allow, by rules
                grants: services (service-uri-scheme=sip), all-persons, activities
                rule 'office-hours' matches: many of contoso.com, valid from 2026-03-02T08:00:00Z until 2026-03-02T17:00:00Z; allow
                rule 'friends' does not match: the watcher is in none of its lists
                rule 'mallory' does not match: no identity is that of the watcher
                rule 'anyone-else' does not match: rule 'office-hours' names the watcher
                holds until: 2026-03-02T17:00:00Z
                depends on: resource-lists/users/sip:alice@example.org/index

                """)
        let page = try String(contentsOfFile: "\(Self.examples)/../presence-rules.md", encoding: .utf8)
        #expect(page.contains(output.decision))
    }

    @Test("decide names the list through which a watcher matches, also by telephone number")
    func list() throws {
        let decision = try Self.decide("tel:+1-555-555-0142").decision
        #expect(decision.contains("rule 'friends' matches: list friends/family of https://xcap.example.org/"))
        #expect(decision.contains("grants: all-services, all-persons, all-attributes"))
        // A number in a URI of any domain is another identity.
        #expect(try Self.decide("sip:+15555550142@example.net;user=phone").decision.hasPrefix("handling: confirm"))
    }

    @Test("decide writes the granted part of a document, that of a presentity that never published, or none")
    func views() throws {
        let granted = try Self.decide("sip:bob@contoso.com", Self.document)
        let view = try PIDFDocument.decode(try #require(granted.document))
        #expect(view.tuples.map(\.id) == ["desk"] && view.persons.first?.rpid.activities.first?.values == [.onThePhone])
        #expect(view.persons.first?.notes == [])
        let friend = try PIDFDocument.decode(try #require(try Self.decide("sip:carol@fabrikam.com", Self.document).document))
        #expect(friend.persons.first?.notes.map(\.text) == ["With a customer until ten"])
        let polite = try PIDFDocument.decode(try #require(try Self.decide("sip:mallory@contoso.com", Self.document).document))
        #expect(polite.entity == "sip:alice@example.org" && polite.tuples.map(\.basic) == [.closed])
        #expect(polite.persons.allSatisfy { $0.notes.isEmpty })
        #expect(try Self.decide("sip:dan@example.net", Self.document).document == nil)
        #expect(try Self.decide("sip:anonymous@anonymous.invalid", Self.document).document == nil)
        #expect(try Self.decide("sip:anonymous@anonymous.invalid").decision.hasPrefix("handling: block, no rule matches\n"))
        let everything = try Self.decide("sip:anonymous@anonymous.invalid", "--unruled", "allow", Self.document).document
        #expect(
            try PIDFDocument.decode(try #require(everything))
                == PIDFDocument.decode([UInt8](Data(contentsOf: URL(fileURLWithPath: Self.document)))))
    }

    @Test("decide takes the sphere of the document unless one is given")
    func sphere() throws {
        let scratch = try ConvertCommandTests.Scratch()
        try scratch.write(
            """
            <ruleset xmlns="urn:ietf:params:xml:ns:common-policy" xmlns:pr="urn:ietf:params:xml:ns:pres-rules"><rule id="work">
            <conditions><sphere value="work"/></conditions><actions><pr:sub-handling>allow</pr:sub-handling></actions></rule></ruleset>
            """, "rules.xml")
        try scratch.write(
            """
            <presence xmlns="urn:ietf:params:xml:ns:pidf" xmlns:dm="urn:ietf:params:xml:ns:pidf:data-model" xmlns:r="urn:ietf:params:xml:ns:pidf:rpid"
            entity="sip:a@example.org"><dm:person id="p"><r:sphere><r:work/></r:sphere></dm:person></presence>
            """, "presence.xml")
        func handling(_ more: String...) throws -> String {
            let arguments = ["decide", "--rules", "\(scratch.path)/rules.xml", "--watcher", "sip:b@example.org"] + more
            let output = try #require(try IsthmusCommand.parseAsRoot(arguments) as? DecideCommand).output()
            return String(output.decision.prefix { $0 != "," })
        }
        #expect(try handling() == "handling: block")
        #expect(try handling("--sphere", "work") == "handling: allow")
        #expect(try handling("\(scratch.path)/presence.xml") == "handling: allow")
        #expect(try handling("--sphere", "home", "\(scratch.path)/presence.xml") == "handling: block")
    }

    @Test("what decide cannot read is FILE:LINE:COLUMN with the rule and ends with 1, a wrong option with 2, a decision with 0")
    func refused() async throws {
        let scratch = try ConvertCommandTests.Scratch()
        try scratch.write(
            "<ruleset xmlns=\"urn:ietf:params:xml:ns:common-policy\">\n<rule id=\"a\"><conditions><sphere/></conditions></rule></ruleset>",
            "bad.xml")
        let bad = "\(scratch.path)/bad.xml"
        let found = AggregateAndResolveTests.refusal {
            _ = try #require(
                try IsthmusCommand.parseAsRoot(["decide", "--rules", bad, "--watcher", "sip:b@example.org"]) as? DecideCommand
            ).output()
        }
        #expect(found?.line == "\(bad):2:26: RFC 4745 7.2: sphere without value, in rule 'a'", "\(found?.line ?? "not refused")")
        #expect(await Isthmus.run(["decide", "--rules", bad, "--watcher", "sip:b@example.org"]) == 1)
        #expect(await Isthmus.run(["decide", "--rules", "\(scratch.path)/none.xml", "--watcher", "sip:b@example.org"]) == 1)
        #expect(await Isthmus.run(["decide", "--rules", Self.rules, "--lists", Self.rules, "--watcher", "sip:b@example.org"]) == 1)
        #expect(await Isthmus.run(["decide", "--rules", Self.rules, "--watcher", "bob"]) == 1)
        #expect(await Isthmus.run(["decide", "--rules", "-", "--lists", "-", "--watcher", "sip:b@example.org"]) == 2)
        #expect(await Isthmus.run(["decide", "--rules", Self.rules, "--watcher", "sip:b@example.org", "--unruled", "maybe"]) == 2)
        #expect(await Isthmus.run(["decide", "--rules", Self.rules, "--watcher", "sip:b@example.org", "--at", "noon"]) == 2)
        #expect(await Isthmus.run(["decide", "--watcher", "sip:b@example.org"]) == 2)
        #expect(await Isthmus.run(["decide", "--rules", Self.rules, "--watcher", "sip:b@example.org", Self.document]) == 0)
    }
}
