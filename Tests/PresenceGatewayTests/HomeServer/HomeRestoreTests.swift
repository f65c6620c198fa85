import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Endpoints that were signed in when the gateway went away.
@Suite struct HomeRestoreTests {
    let store = MemoryStore()
    let bench: Bench
    let rob: SignedInEndpoint

    init() throws {
        bench = Bench(store: store) { $0.domains["fabrikam.com"]?.requiresRegistration = true }
        rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
        rob.subscribeSelf(["categories"])
        _ = try rob.response(200)
        rob.publish(
            SignedInEndpoint.note("here", expire: "endpoint") + SignedInEndpoint.note("user", expire: "user", instance: 1)
                + SignedInEndpoint.note("always", expire: "static", instance: 2))
        _ = try rob.response(200)
        _ = try rob.request(.benotify)
    }

    @Test("an endpoint that registers again in time keeps its publications, and its self dialog goes on over the new connection")
    func comesBack() throws {
        let restored = try bench.restart(after: .seconds(5))
        #expect(restored.registrations == 1)
        #expect(restored.dialogs == 1)
        #expect(restored.unreadable == 0)
        #expect(rob.isQuiet)
        rob.connection = ConnectionID(rawValue: 7)
        rob.register()
        #expect(try rob.response(200).headers.contacts.count == 1)
        // What the last BENOTIFY said may be lost with the connection: everything is told, in the dialog that was.
        let notified = try rob.request(.benotify)
        #expect(notified.text.contains(">here<") && notified.text.contains(">always<"))
        // The first BENOTIFY had number 2, after the 200, and reserved 64 numbers.
        #expect(notified.headers.cSeq?.number == 2 + 64 + Dialog.resumptionGap)
        bench.pass(.seconds(200))
        #expect(bench.gateway.counts.publications == 3)
        rob.publish(SignedInEndpoint.note("there", expire: "endpoint", version: 1))
        #expect(try rob.response(200).text.contains("version=\"2\""))
        #expect(try rob.request(.benotify).text.contains(">there<"))
    }

    @Test("an endpoint that stays away has ended when the grace is over, and with it what lived as long as it")
    func staysAway() throws {
        try bench.restart(after: .seconds(5))
        bench.pass(.seconds(119))
        #expect(bench.gateway.counts.publications == 3)
        bench.pass(.seconds(2))
        #expect(bench.gateway.counts.publications == 1)
        #expect(bench.gateway.counts.homeDialogs == 0)
        #expect(store.records.keys.map { "\($0)" }.filter { $0.contains("registration") || $0.contains("dialog") }.isEmpty)
    }

    @Test("MS-SIP 3.7 contacts and access control are there, their numbers go on, and their dialogs too")
    func lists() throws {
        rob.subscribe(ContactsTests.event)
        _ = try rob.response(200)
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(200)
        _ = try rob.request(.benotify)
        #expect(try bench.restart().dialogs == 2)
        rob.connection = ConnectionID(rawValue: 7)
        rob.register()
        _ = try rob.response(200)
        let notified = [try rob.request(.benotify), try rob.request(.benotify)]
        #expect(notified.contains { $0.text.contains("deltaNum=\"2\"") && $0.text.contains("name=\"Team\"") })
        rob.operate(.addGroup(name: "Family", externalURI: nil), deltaNum: 2)
        #expect(try rob.response(200).text.contains("<m:groupID>3</m:groupID>"))
    }

    @Test("a registration that expired meanwhile is no more, and neither is what lived as long as it")
    func expired() throws {
        try bench.restart(after: .seconds(100_000))
        #expect(bench.gateway.counts.publications == 1)
        #expect(rob.isQuiet)
    }

    @Test("RFC 3261 10.3 a REGISTER that cannot be kept is 503, and the bindings are as they were")
    func notKept() throws {
        store.failure = StoreFailureTests.full
        let phone = SignedInEndpoint(bench, "rob@fabrikam.com", epid: "3b09add8bc", connection: 2)
        phone.register()
        _ = try phone.response(503)
        store.failure = nil
        bench.pass(.seconds(2))
        rob.register()
        #expect(try rob.response(200).headers.contacts.count == 1)
    }
}
