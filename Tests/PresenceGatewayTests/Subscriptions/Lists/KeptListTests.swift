import PresenceDocuments
import SIPCore
import Testing

@testable import PresenceGateway

/// List services that users keep by XCAP (RFC 4826 4, RFC 4662).
@Suite("Kept lists") struct KeptListTests {
    typealias Notified = ListWatcherTests.Notified
    static let alice = "alice@example.com"
    static let silent = "silent@example.com"
    static let rob = "rob@fabrikam.com"
    static let service = "alice-friends@example.com"
    static let root = "https://xcap.example.com/root"
    static let services = "/root/rls-services/users/sip:\(alice)/index"
    static let lists = "/root/resource-lists/users/sip:\(alice)/index"
    static let own = Bench.endpoint

    private let store = MemoryStore()

    private func bench(_ change: (inout GatewayConfiguration) -> Void = { _ in }) throws -> Bench {
        let bench = Bench(store: store) {
            $0.xcapRoot = Self.root
            change(&$0)
        }
        try bench.publish(Self.rob, .legacyInterop(6_500))
        return bench
    }

    private func request(_ method: String, _ target: String, _ body: String = "", on bench: Bench) -> Int? {
        var status: Int?
        let type = target.contains("rls-services") ? "application/rls-services+xml" : "application/resource-lists+xml"
        bench.gateway.receive(
            DocumentRequest(
                user: "sip:\(Self.alice)", method: method, target: target, contentType: body.isEmpty ? nil : type, body: Array(body.utf8)),
            at: bench.now
        ) { status = $0.status }
        bench.sort()
        return status
    }

    private static func entries(_ users: [String]) -> String { users.map { "<rl:entry uri='sip:\($0)'/>" }.joined() }

    private func putService(_ content: String, packages: String = "", on bench: Bench) -> Int? {
        let packages = packages.isEmpty ? "" : "<packages><package>\(packages)</package></packages>"
        return request(
            "PUT", Self.services,
            "<rls-services xmlns='urn:ietf:params:xml:ns:rls-services' xmlns:rl='urn:ietf:params:xml:ns:resource-lists'>"
                + "<service uri='sip:\(Self.service)'>\(content)\(packages)</service></rls-services>", on: bench)
    }

    private func putInline(_ users: String..., on bench: Bench) -> Int? { putService("<list>\(Self.entries(users))</list>", on: bench) }

    private func putList(_ users: String..., on bench: Bench) -> Int? {
        request(
            "PUT", Self.lists,
            "<rl:resource-lists xmlns:rl='urn:ietf:params:xml:ns:resource-lists'><rl:list name='friends'>\(Self.entries(users))</rl:list>"
                + "</rl:resource-lists>", on: bench)
    }

    private static let reference =
        "<resource-list>\(root)/resource-lists/users/sip:\(alice)/index/~~/resource-lists/list%5b@name=%22friends%22%5d</resource-list>"

    private func subscribe(
        _ bench: Bench, by user: String = alice, extra: String = "Supported: eventlist\r\n", expires: Int = 3_600,
        from peer: TransportAddress = own
    ) {
        bench.send(
            bench.subscribe(user, to: Self.service, accept: ListWatcherTests.accept, expires: expires, extra: extra, via: peer), from: peer)
    }

    private func only(_ bench: Bench) throws -> Notified {
        let notifies = try bench.takeNotifies(at: Self.own)
        try #require(notifies.count == 1, "\(notifies.count)")
        return try Notified(notifies[0])
    }

    @Test("RFC 4826 4, RFC 4662 4.2: a SUBSCRIBE to a service is notified of all members of its list at once")
    func inline() throws {
        let bench = try bench()
        #expect(putInline(Self.rob, Self.silent, on: bench) == 201)
        subscribe(bench)
        let response = try bench.nextResponse(200, at: Self.own)
        #expect(response.headers.hasToken(.require, "eventlist"))
        let notified = try only(bench)
        #expect(notified.meta.fullState && notified.meta.version == 0 && notified.meta.uri == "sip:\(Self.service)")
        #expect(notified.entries == ["\(Self.rob) active", "\(Self.silent) active"])
        #expect(notified.document("sip:\(Self.rob)")?.contains("busy") == true)
    }

    @Test("RFC 4662 4.2: a SUBSCRIBE to a service without eventlist is 421, one by another user 403, one with a body 415")
    func refused() throws {
        let bench = try bench()
        #expect(putInline(Self.rob, on: bench) == 201)
        subscribe(bench, extra: "")
        #expect(try bench.nextResponse(421, at: Self.own).headers.hasToken(.require, "eventlist"))
        subscribe(bench, by: "ann@example.org", from: Bench.simple)
        _ = try bench.nextResponse(403, at: Bench.simple)
        bench.send(
            bench.subscribe(
                Self.alice, to: Self.service, accept: ListWatcherTests.accept, expires: 60, extra: "Supported: eventlist\r\n", body: "x",
                contentType: "text/plain", via: Self.own), from: Self.own)
        _ = try bench.nextResponse(415, at: Self.own)
        #expect(putService("<list/>", packages: "conference", on: bench) == 200)
        subscribe(bench)
        _ = try bench.nextResponse(489, at: Self.own)
    }

    @Test("RFC 4826 3.4: a change of a list that a service refers to adds and ends members of the live subscription")
    func change() throws {
        let bench = try bench()
        #expect(putList(Self.rob, on: bench) == 201)
        #expect(putService(Self.reference, on: bench) == 201)
        subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        #expect(try only(bench).entries == ["\(Self.rob) active"])
        bench.pass(.seconds(10))
        #expect(putList(Self.rob, Self.silent, on: bench) == 200)
        let added = try only(bench)
        #expect(!added.meta.fullState && added.entries == ["\(Self.silent) active"])
        bench.pass(.seconds(10))
        #expect(putList(Self.silent, on: bench) == 200)
        let ended = try only(bench)
        #expect(ended.entries == ["\(Self.rob) terminated noresource"])
        // What no member is shown any more is not notified.
        try bench.publish(Self.rob, .legacyInterop(3_500, version: 1))
        bench.pass(.seconds(30))
        #expect(bench.isQuiet(at: Self.own))
        #expect(putList(Self.rob, on: bench) == 200)
        #expect(try Set(only(bench).entries) == ["\(Self.rob) active", "\(Self.silent) terminated noresource"])
        bench.pass(.seconds(10))
        #expect(request("DELETE", Self.services, on: bench) == 200)
        let last = try bench.takeNotifies(at: Self.own)
        #expect(last.map { $0.headers.subscriptionState?.state } == [.terminated])
        #expect(last.first?.headers.subscriptionState?.reason == .noresource)
    }

    @Test("a service whose list does not exist is 404, one that is too long 413; a list that contains itself is read once")
    func unreadable() throws {
        let bench = try bench { $0.limits.resourcesPerBatch = 2 }
        #expect(putService(Self.reference, on: bench) == 201)
        subscribe(bench)
        _ = try bench.nextResponse(404, at: Self.own)
        #expect(putList(Self.rob, Self.silent, "third@example.com", on: bench) == 201)
        subscribe(bench)
        _ = try bench.nextResponse(413, at: Self.own)
        let loop =
            "<rl:resource-lists xmlns:rl='urn:ietf:params:xml:ns:resource-lists'><rl:list name='friends'>\(Self.entries([Self.rob]))"
            + "<rl:external anchor='\(Self.root)/resource-lists/users/sip:\(Self.alice)/index/~~/resource-lists/list%5b@name=%22friends%22%5d'/>"
            + "</rl:list></rl:resource-lists>"
        #expect(request("PUT", Self.lists, loop, on: bench) == 200)
        subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        #expect(try only(bench).entries == ["\(Self.rob) active"])
    }

    @Test("RFC 5025: the rules of each member decide about the subscriber of the list")
    func rules() throws {
        let bench = try bench()
        try bench.use(Rules.rule("r", "", "block"), of: Self.silent)
        #expect(putInline(Self.rob, Self.silent, on: bench) == 201)
        subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        #expect(Set(try only(bench).entries) == ["\(Self.rob) active", "\(Self.silent) terminated rejected"])
    }

    @Test("a live subscription to a service goes on after a restart, and follows changes of its list")
    func restart() throws {
        let bench = try bench()
        #expect(putInline(Self.rob, on: bench) == 201)
        subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        let first = try only(bench)
        bench.settle()
        let restored = try bench.restart()
        #expect(restored.dialogs == 1 && restored.unreadable == 0)
        bench.pass(.seconds(60))
        _ = try bench.takeNotifies(at: Self.own)
        #expect(putInline(Self.rob, Self.silent, on: bench) == 200)
        let added = try only(bench)
        #expect(added.request.headers.callID == first.request.headers.callID && added.meta.version > first.meta.version)
        #expect(added.entries == ["\(Self.silent) active"])
    }

    @Test("a list that could not be stored changes nothing")
    func failedCommit() throws {
        let bench = try bench()
        #expect(putInline(Self.rob, on: bench) == 201)
        subscribe(bench)
        _ = try bench.nextResponse(200, at: Self.own)
        _ = try only(bench)
        store.failure = StoreFailure("full")
        #expect(putInline(Self.rob, Self.silent, on: bench) == 503)
        store.failure = nil
        bench.pass(.seconds(30))
        for notify in try bench.takeNotifies(at: Self.own) { #expect(try !Notified(notify).entries.contains("\(Self.silent) active")) }
    }
}
