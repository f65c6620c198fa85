import Foundation
import PresenceDocuments
import PresenceGateway
import PresenceRules
import SIPCore
import SIPTransport
import Testing
import UserDirectory

@testable import GatewayService
@testable import isthmus

/// Presence rules in the configuration: the default of a domain, and documents that entries of users name.
@Suite("Configuration of presence rules", .timeLimit(.minutes(10)))
struct PresenceRulesConfigurationTests {
    private func read(_ domain: String, file: String = "x") throws -> ProgramConfiguration {
        try ConfigurationReader.read(
            "listen: [ { address: \"tcp:127.0.0.1:0\", authentication: none } ]\ndomains: { example.org: { \(domain) } }\n", file: file)
    }

    @Test("`unruled` is block, confirm or allow, for hosted simple domains only")
    func unruled() throws {
        for handling in UnruledHandling.allCases {
            #expect(try read("side: simple, hosted: true, unruled: \(handling.rawValue)").domains["example.org"]?.unruled == handling)
        }
        #expect(try read("side: simple, hosted: true").domains["example.org"]?.unruled == nil)
        for domain in [
            "side: simple, hosted: true, unruled: polite-block", "side: enterprise, hosted: true, unruled: allow",
            "side: simple, route: \"udp:192.0.2.1:5060\", unruled: allow",
        ] {
            let error = #expect(throws: ConfigurationError.self) { try read(domain) }
            #expect(error?.problems.first?.key.hasSuffix("unruled") == true)
        }
    }

    @Test("`check` names a hosted simple domain without `unruled`, what changes, and the key that keeps the old way")
    func note() throws {
        let notes = ConfigurationNotes.all(of: try read("side: simple, hosted: true"))
        #expect(notes.count == 1 && notes[0].hasPrefix("domains.example.org: ") && notes[0].contains("`unruled: allow`"))
        #expect(ConfigurationNotes.all(of: try read("side: simple, hosted: true, unruled: block")).isEmpty)
        #expect(ConfigurationNotes.all(of: try read("side: enterprise, hosted: true")).isEmpty)
    }

    // MARK: documents

    /// A folder with a configuration, a file of users and alice's rules.
    private final class Folder {
        let url = FileManager.default.temporaryDirectory.appendingPathComponent("isthmus-rules-\(UUID().uuidString)")

        init() throws { try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: url) }

        func write(_ text: String, to name: String) throws {
            try text.write(to: url.appendingPathComponent(name), atomically: true, encoding: .utf8)
        }

        func users(_ entry: String) throws { try write("users:\n  sip:alice@example.org: { \(entry) }\n", to: "users.yaml") }

        func rules(_ handling: String, conditions: String = "") throws {
            try write(
                """
                <ruleset xmlns="urn:ietf:params:xml:ns:common-policy" xmlns:pr="urn:ietf:params:xml:ns:pres-rules"
                  xmlns:ocp="urn:oma:xml:xdm:common-policy"><rule id="r">\(conditions)
                <actions><pr:sub-handling>\(handling)</pr:sub-handling></actions><transformations>
                <pr:provide-services><pr:all-services/></pr:provide-services></transformations></rule></ruleset>
                """, to: "alice.rules.xml")
        }

        func configuration(_ domain: String = "side: simple, hosted: true, peers: [ 127.0.0.1 ]") throws -> ProgramConfiguration {
            try ConfigurationReader.read(
                """
                listen: [ { address: "udp:127.0.0.1:0", authentication: none }, { address: "tcp:127.0.0.1:0", authentication: none } ]
                domains: { contoso.com: { side: enterprise, route: "udp:127.0.0.1:9" }, example.org: { \(domain) } }
                directory: { file: users.yaml }
                timing: { notify-spacing-ms: 0 }
                """, file: url.appendingPathComponent("isthmus.yaml").path)
        }

        func documents(_ domain: String = "side: simple, hosted: true") throws -> [String: UserDocuments] {
            let configuration = try configuration(domain)
            return try configuration.loadDocuments(of: configuration.loadDirectory())
        }
    }

    @Test("RFC 4745, RFC 4826 the documents that an entry of users names are read beside its file; mistakes have file and place")
    func documents() throws {
        let folder = try Folder()
        try folder.users("rules: alice.rules.xml, lists: alice.lists.xml")
        try folder.rules(
            "allow",
            conditions: """
                <conditions><ocp:external-list><ocp:entry anc="http://xcap.example.org/resource-lists/users/sip:alice@example.org/\
                index/~~/resource-lists/list%5b@name=%22friends%22%5d"/></ocp:external-list></conditions>
                """)
        try folder.write(
            "<resource-lists xmlns='urn:ietf:params:xml:ns:resource-lists'><list name='friends'><entry uri='sip:bob@contoso.com'/></list>"
                + "</resource-lists>", to: "alice.lists.xml")
        let alice = try #require(try folder.documents()["sip:alice@example.org"])
        let compiled = CompiledRules(alice.rules, lists: alice.lists)
        #expect(compiled.problems.isEmpty)
        for (watcher, handling) in [("sip:bob@contoso.com", "allow"), ("sip:eve@contoso.com", "block")] {
            let decision = compiled.decide(
                RuleWatcher(try #require(SIPURI(watcher))), in: DecisionContext(now: Instant(secondsSince1970: 0)))
            #expect(decision.handling.name == handling)
        }
        func lines(_ domain: String = "side: simple, hosted: true") throws -> [String] {
            try #require(#expect(throws: ServiceFailure.self) { _ = try folder.documents(domain) }).lines
        }
        #expect(try lines("side: enterprise, hosted: true").first?.contains("is for users of hosted simple domains") == true)
        try folder.write("<ruleset", to: "alice.rules.xml")
        #expect(try lines().first?.contains("alice.rules.xml:1:") == true)
        try folder.users("rules: missing.xml")
        #expect(try lines().first?.contains("missing.xml: No such file or directory") == true)
        try folder.users("lists: alice.lists.xml")
        #expect(throws: ServiceFailure.self) { try folder.documents() }
    }

    @Test("editing a file of users keeps the documents of other entries")
    func edited() throws {
        let folder = try Folder()
        try folder.users("rules: alice.rules.xml, lists: alice.lists.xml")
        let path = folder.url.appendingPathComponent("users.yaml").path
        let alice = try #require(try DirectoryFile.read(path).users.first)
        #expect(alice.rulesFile == "alice.rules.xml" && alice.listsFile == "alice.lists.xml")
        #expect(DirectoryFileEditor.entry(of: alice).contains("    rules: \"alice.rules.xml\""))
    }

    @Test("a reload reads the rules again, and live subscriptions follow them")
    func reload() async throws {
        let folder = try Folder()
        try folder.users("rules: alice.rules.xml")
        try folder.rules("polite-block")
        let gateway = try await RunningGateway.start(try folder.configuration(), logger: RunningGatewayTests.quiet)
        #expect(try await RunningGatewayTests.publish(gateway.server.listeners[1]) == 200)
        let (client, events) = try await RunningGatewayTests.watch(gateway.server.listeners[0], expires: 600)
        var seen: [String] = []
        loop: for await event in events {
            guard case .notification(let notification) = event else { break }
            let text = notification.documents.map { String(decoding: $0.body, as: UTF8.self) }.joined()
            if notification.state.hasPrefix("terminated") {
                seen.append("terminated")
                break
            }
            let availability = text.split(separator: "<availability>").dropFirst().first.map { $0.prefix { $0.isNumber } } ?? ""
            guard !availability.isEmpty, seen.last != String(availability) else { continue }
            seen.append(String(availability))
            if seen.count == 1 {
                try folder.rules("allow")
                try await gateway.reload(try folder.configuration())
            } else {
                // No rules are left: the default of the domain blocks.
                try folder.users("hidden: false")
                try await gateway.reload(try folder.configuration())
            }
        }
        #expect(seen == ["18500", "3500", "terminated"])
        await client.stop()
        await gateway.stop(drain: .seconds(1))
    }
}
