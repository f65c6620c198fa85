import PresenceGateway
import SIPCore
import Testing

/// SUBSCRIBE requests for a user's own data that are answered 503 because the commit failed: the dialog is as before (RFC 3261 12.2).
@Suite("RFC 3261 12.2 a SUBSCRIBE for own data that is refused because the store fails changes nothing")
struct UncommittedOwnDataTests {
    let store = MemoryStore()
    let bench: Bench
    let rob: SignedInEndpoint

    init() throws {
        bench = Bench(store: store) { $0.domains["fabrikam.com"]?.requiresRegistration = true }
        rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.register()
        _ = try rob.response(200)
    }

    private static func headers(bestEffort: Bool, piggyback: Bool) -> String {
        (bestEffort ? "Supported: ms-benotify\r\nProxy-Require: ms-benotify\r\n" : "")
            + (piggyback ? "Supported: ms-piggyback-first-notify\r\n" : "")
    }

    private func subscribed(_ scopes: [String], bestEffort: Bool = true, piggyback: Bool = true) throws -> SIPResponse {
        rob.subscribeSelf(scopes, extra: Self.headers(bestEffort: bestEffort, piggyback: piggyback))
        let accepted = try rob.response(200)
        _ = try notified()
        return accepted
    }

    /// The notifications that arrived; NOTIFYs are answered.
    private func notified() throws -> [SIPRequest] {
        var all: [SIPRequest] = []
        while !rob.isQuiet {
            guard case .request(let request) = try bench.next(at: rob.place) else { throw Bench.Unexpected() }
            if request.method == .notify { bench.answer(request, 200, from: rob.place) }
            all.append(request)
        }
        return all
    }

    /// Sends a request while the store fails, and repairs the store.
    private func refused(_ send: () -> Void) throws {
        store.failure = UncommittedSubscribeTests.full
        send()
        _ = try rob.response(503)
        #expect(rob.isQuiet)
        store.failure = nil
        bench.pass(.seconds(2))
        #expect(try notified().allSatisfy { $0.text.contains("terminated") == false })
    }

    @Test(
        "an unsubscribe: the endpoint is notified of later changes and unsubscribes again", arguments: [true, false], [true, false])
    func unsubscribe(bestEffort: Bool, piggyback: Bool) throws {
        let accepted = try subscribed(["categories"], bestEffort: bestEffort, piggyback: piggyback)
        let extra = Self.headers(bestEffort: bestEffort, piggyback: piggyback)
        try refused { rob.subscribe(RoamingSelfTests.event, expires: 0, extra: extra, in: accepted) }
        #expect(bench.gateway.counts.homeDialogs == 1)
        rob.publish(SignedInEndpoint.note("later", expire: "static"))
        _ = try rob.response(200)
        #expect(try notified().contains { $0.text.contains("later") })
        rob.subscribe(RoamingSelfTests.event, expires: 0, extra: extra, in: accepted)
        _ = try rob.response(200)
        #expect(try notified().count == (piggyback ? 0 : 1))
        #expect(bench.gateway.counts.homeDialogs == 0)
    }

    @Test("a refresh with another scope: the scope is as before, and what changed meanwhile is told")
    func refresh() throws {
        let accepted = try subscribed(["categories"])
        try refused { rob.subscribeSelf(["containers"], in: accepted) }
        rob.publish(SignedInEndpoint.note("later", expire: "static"))
        _ = try rob.response(200)
        #expect(try notified().contains { $0.text.contains("later") })
        rob.setMembers(
            "<container id=\"200\" version=\"0\"><member action=\"add\" type=\"user\" value=\"sip:ulla@contoso.com\"/></container>")
        _ = try rob.response(200)
        #expect(try notified().isEmpty)
    }

    @Test("a SUBSCRIBE of an endpoint that has one for the same package: the one that it would have replaced stays (MS-PRES 3.3.5.1)")
    func replacement() throws {
        let first = try subscribed(["categories"])
        try refused { rob.subscribeSelf(["containers"]) }
        #expect(bench.gateway.counts.homeDialogs == 1)
        rob.publish(SignedInEndpoint.note("later", expire: "static"))
        _ = try rob.response(200)
        let all = try notified()
        #expect(all.contains { $0.text.contains("later") } && all.allSatisfy { $0.headers.callID == first.headers.callID })
    }

    @Test("RFC 3261 10.3 a REGISTER that ends a registration and cannot be kept: the endpoint's dialogs stay")
    func unregister() throws {
        let accepted = try subscribed(["categories"])
        rob.watch("sue@fabrikam.com", extra: SignedInEndpoint.home)
        _ = try rob.response(200)
        try refused { rob.register(expires: 0) }
        #expect(bench.gateway.counts.homeDialogs == 1 && bench.gateway.counts.watcherDialogs == 1)
        rob.publish(SignedInEndpoint.note("later", expire: "static"))
        _ = try rob.response(200)
        #expect(try notified().contains { $0.headers.callID == accepted.headers.callID && $0.text.contains("later") })
        rob.register(expires: 0)
        _ = try rob.response(200)
        #expect(bench.gateway.counts.homeDialogs == 0 && bench.gateway.counts.watcherDialogs == 0)
    }
}
