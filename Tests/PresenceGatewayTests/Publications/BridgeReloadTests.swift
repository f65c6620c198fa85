import FederationRouting
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Publications that are carried already, when the operator has changed the tables or the domains.
@Suite("carried publications under new tables and domains")
struct BridgeReloadTests {
    let services = PIDFBridgeTests()
    let publishes = CategoryBridgeTests()

    @Test("a container that loses its members is shown no more, and a profile is another document, although the client only stays")
    func shown() throws {
        let bench = PIDFBridgeTests.bench()
        _ = try services.published(bench, .note("for all"), .note("for partners", in: 100), tag: "e1")
        let narrower = try Bench.mapper(
            "container-policy", "\"members\": [\"federated\", \"publicCloud\"]", becomes: "\"members\": [\"publicCloud\"]")
        bench.use(narrower)
        let all = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(all.headers.sipIfMatch == "e1" && all.text.contains("for all") && !all.text.contains("for partners"))
        services.accept(bench, all, tag: "e2")
        bench.reconfigure { $0.domains["example.org"]?.federation.network = .publicCloud }
        let partners = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(partners.headers.sipIfMatch == "e2" && partners.text.contains("for partners") && !partners.text.contains("for all"))
        services.accept(bench, partners, tag: "e3")
        bench.reconfigure { $0.domains["example.org"]?.profile = .rpidDraft }
        let draft = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(draft.headers.sipIfMatch == "e3" && draft.body != partners.body)
        services.accept(bench, draft, tag: "e4")
        bench.reconfigure(narrower) { $0.limits.publicationBridges = 7 }
        #expect(bench.isQuiet(at: Bench.simple))
        // Versions are as they were.
        services.publish(bench, .note("none", in: 100))
        #expect(try bench.nextResponse(409, at: PIDFBridgeTests.place).text.contains("curVersion=\"1\""))
    }

    @Test("what waits for the far side's answer is shown under the new tables too, and a refusal leads back to what was promised")
    func waiting() throws {
        let bench = PIDFBridgeTests.bench()
        _ = try services.published(bench, .note("for all"), .note("for partners", in: 100), tag: "e1")
        services.publish(bench, .note("changed", in: 100, instance: 5))
        let change = try bench.nextRequest(.publish, at: Bench.simple)
        bench.use(
            try Bench.mapper("container-policy", "\"members\": [\"federated\", \"publicCloud\"]", becomes: "\"members\": [\"publicCloud\"]")
        )
        #expect(bench.isQuiet(at: Bench.simple))
        bench.answer(change, 403, from: Bench.simple)
        _ = try bench.nextResponse(403, at: PIDFBridgeTests.place)
        bench.pass(.seconds(300))
        let all = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(all.headers.sipIfMatch == "e1" && all.text.contains("for all") && !all.text.contains("for partners"))
    }

    @Test("an operator who takes notes out of the containers has them taken back at the home server, although the phone only refreshes")
    func published() throws {
        let bench = CategoryBridgeTests.bench()
        publishes.publish(bench, note: "In town")
        try publishes.accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        let one = try publishes.tag(bench)
        let table = try Bench.mapper("container-policy", "\"state\", \"note\", ", becomes: "\"state\", ")
        bench.use(table)
        let change = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try !publishes.publications(change).isEmpty)
        #expect(try publishes.publications(change).allSatisfy { $0.isRemoval && $0.categoryName == .note && $0.version == 1 })
        try publishes.accept(bench, change, version: 0)
        bench.use(table)
        bench.reconfigure(table) { $0.limits.publicationBridges = 7 }
        publishes.words.publish(bench, CategoryBridgeTests.bob, body: "", ifMatch: one)
        _ = try publishes.tag(bench)
        #expect(bench.isQuiet(at: Bench.enterprise))
        // And back again.
        bench.use(try Bench.mapper("container-policy", "\"state\"", becomes: "\"state\""))
        let again = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publishes.publications(again).allSatisfy { !$0.isRemoval && $0.categoryName == .note && $0.version == 0 })
    }

    @Test("a document that cannot be read under new limits is shown no more: nobody can say what the new tables would hide of it")
    func unreadable() throws {
        let bench = CategoryBridgeTests.bench()
        publishes.publish(bench, note: "In town")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        try publishes.accept(bench, first, version: 1)
        _ = try publishes.tag(bench)
        bench.reconfigure(try Bench.mapper("container-policy", "\"state\", \"note\", ", becomes: "\"state\", ")) {
            $0.limits.bodyBytes = 100
        }
        let change = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publishes.publications(change).count == publishes.publications(first).count)
        #expect(try publishes.publications(change).allSatisfy { $0.isRemoval && $0.version == 1 })
    }

    @Test("a PUBLISH that is worked on while the tables change is carried by the new ones before it is answered")
    func working() throws {
        let bench = CategoryBridgeTests.bench()
        publishes.publish(bench, note: "In town")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        bench.use(try Bench.mapper("container-policy", "\"state\", \"note\", ", becomes: "\"state\", "))
        try publishes.accept(bench, first, version: 1)
        let change = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try publishes.publications(change).allSatisfy { $0.isRemoval && $0.categoryName == .note })
        #expect(bench.isQuiet(at: CategoryBridgeTests.client))
        try publishes.accept(bench, change, version: 0)
        _ = try publishes.tag(bench)
    }
}
