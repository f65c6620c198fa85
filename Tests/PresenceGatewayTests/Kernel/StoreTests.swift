import PresenceGateway
import SIPCore
import SIPEvents
import Testing

@Suite("What the gateway keeps in its store")
struct StoreTests {
    let words = HostedPresentityTests()
    static let alice = "sip:alice@example.com"

    func published(_ bench: Bench) throws -> StoreKey {
        let tag = try #require(try bench.nextResponse(200, at: HostedPresentityTests.client).headers.first(.sipETag))
        return .publication(presentity: Self.alice, tag: tag)
    }

    func publication(_ key: StoreKey, in store: MemoryStore) -> StoredPublication? {
        if case .publication(let stored)? = store.records[key] { stored } else { nil }
    }

    func tag(_ key: StoreKey) -> String { if case .publication(_, let tag) = key { tag } else { "" } }

    @Test("the store holds exactly the publications that live: created, replaced, refreshed, removed, expired, in either model")
    func publications() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        let pidf = Bench.pidf("alice@example.com")

        words.publish(bench, "alice@example.com", body: pidf)
        let first = try published(bench)
        #expect(publication(first, in: store)?.document == Array(pidf.utf8))
        words.publish(bench, "alice@example.com", body: "", ifMatch: tag(first), expires: 900)
        let refreshed = try published(bench)
        #expect(Array(store.records.keys) == [refreshed])
        #expect(publication(refreshed, in: store)?.document == Array(pidf.utf8))
        #expect(publication(refreshed, in: store)?.expiry == bench.now + .seconds(900))
        words.publish(bench, "alice@example.com", body: pidf + "\n", ifMatch: tag(refreshed))
        let modified = try published(bench)
        #expect(Array(store.records.keys) == [modified])
        words.publish(bench, "alice@example.com", body: "", ifMatch: tag(modified), expires: 0)
        _ = try published(bench)
        #expect(store.records.isEmpty)

        words.publish(bench, "alice@example.com", body: pidf)
        _ = try published(bench)
        words.service(bench, "rob@fabrikam.com", words.state(6_500))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        guard case .presentity(let kept)? = store.records[.presentity("sip:rob@fabrikam.com")] else {
            Issue.record("nothing is kept of the user's categories")
            return
        }
        #expect(String(decoding: kept.document, as: UTF8.self).contains("version=\"1\""))
        bench.pass(.seconds(700))
        #expect(Array(store.records.keys) == [.presentity("sip:rob@fabrikam.com")])
    }

    @Test("a dialog is kept before its 200 comes out, and no longer when it has ended")
    func dialogs() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        bench.send(bench.subscribe("ann@example.org", to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let tag = try #require(accepted.headers.toTag)
        guard case .dialog(let stored)? = store.records[.dialog(tag)] else {
            Issue.record("the dialog is not kept")
            return
        }
        #expect(stored.watcher == "sip:ann@example.org")
        #expect(stored.resources.map(\.uri) == [Self.alice])
        #expect(stored.dialog.localCSeq == 64 && stored.isUnsettled)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.settle()
        guard case .dialog(let settled)? = store.records[.dialog(tag)] else {
            Issue.record("the dialog is not kept")
            return
        }
        #expect(settled.dialog.localCSeq == 1 && !settled.isUnsettled)
        #expect(settled.resources.first?.delivered.isEmpty == false)
        bench.pass(.seconds(4_100))
        #expect(store.records.isEmpty)
    }
}
