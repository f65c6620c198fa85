import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// XCAP documents of users: answers, owners, limits, the store, and what other flows see.
@Suite struct DocumentsTests {
    static let rob = "sip:rob@fabrikam.com"
    static let index = "/xcap-root/resource-lists/users/sip:rob@fabrikam.com/index"
    static let services = "/xcap-root/rls-services/users/sip:rob@fabrikam.com/index"

    /// Receives answers and changes.
    private final class Peer: DocumentObserver {
        var answers: [DocumentAnswer] = []
        var changes: [String] = []
        func documentChanged(auid: String, name: String, of user: String, at now: Instant) { changes.append("\(auid) \(name) \(user)") }
        func documentsRestored(of user: String) {}
    }

    private let store = MemoryStore()
    private let peer = Peer()

    private func bench(deferred: Bool = false, _ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        let bench = Bench(store: store, defersCommits: deferred) {
            $0.xcapRoot = "https://xcap.example.net/xcap-root"
            change(&$0)
        }
        bench.gateway.flows.documents.add(peer)
        return bench
    }

    static func list(_ name: String, note: String = "") -> [UInt8] {
        Array(
            "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><!--\(note)--><list name=\"\(name)\"/></resource-lists>".utf8)
    }

    static func service(_ uri: String) -> [UInt8] {
        Array(
            """
            <rls-services xmlns="urn:ietf:params:xml:ns:rls-services"><service uri="\(uri)"><list/></service></rls-services>
            """.utf8)
    }

    static func put(
        _ target: String = index, _ body: [UInt8] = list("friends"), type: String = "application/resource-lists+xml",
        ifMatch: String? = nil, by user: String = rob
    ) -> DocumentRequest {
        DocumentRequest(user: user, method: "PUT", target: target, contentType: type, ifMatch: ifMatch, body: body)
    }

    static func get(_ target: String = index, by user: String = rob) -> DocumentRequest {
        DocumentRequest(user: user, method: "GET", target: target)
    }

    /// Sends a request without carrying out the store requests of the owner.
    private func send(_ request: DocumentRequest, to bench: Bench) {
        bench.gateway.receive(request, at: bench.now) { [peer] in peer.answers.append($0) }
        _ = bench.gateway.takeOutput()
    }

    private func answer(_ request: DocumentRequest, _ bench: Bench) throws -> DocumentAnswer {
        peer.answers = []
        send(request, to: bench)
        #expect(peer.answers.count == 1)
        return try #require(peer.answers.first)
    }

    private func tag(_ answer: DocumentAnswer) throws -> String {
        try #require(answer.headers.first { $0.name == "ETag" }?.value)
    }

    @Test("RFC 4825 8.2.1, 7: PUT creates and replaces, GET gives the same octets, a failed If-Match changes nothing")
    func putAndGet() throws {
        let bench = bench()
        let created = try answer(Self.put(), bench)
        #expect(created.status == 201)
        let first = try tag(created)
        let replaced = try answer(Self.put(Self.index, Self.list("others"), ifMatch: first), bench)
        #expect(try replaced.status == 200 && tag(replaced) != first)
        #expect(try answer(Self.put(Self.index, Self.list("third"), ifMatch: first), bench).status == 412)
        let found = try answer(Self.get(), bench)
        #expect(found.status == 200 && found.body == Self.list("others"))
        #expect(found.headers.contains { $0.name == "Content-Type" && $0.value == "application/resource-lists+xml" })
        #expect(try tag(found) == tag(replaced))
        var bare = Self.put(Self.index, Self.list("bare"))
        bare.contentType = nil
        #expect(try answer(bare, bench).status == 200)
        bare.target += "/~~/resource-lists/list"
        #expect(try answer(bare, bench).status == 415)
        #expect(try answer(DocumentRequest(user: Self.rob, method: "DELETE", target: Self.index), bench).status == 200)
        #expect(try answer(Self.get(), bench).status == 404)
        #expect(store.records.isEmpty && bench.gateway.tableSizes["documents"] == 0)
    }

    @Test(
        "RFC 4825 8: users reach their own home only; the answer does not tell which users exist",
        arguments: [
            ("resource-lists/users/sip:ulla@fabrikam.com/index", 403), ("resource-lists/users/sip:no-such-user@fabrikam.com/index", 403),
            ("resource-lists/users/sip:rob@elsewhere.example.com/index", 404), ("rls-services/global/index", 403),
            ("no-such-usage/users/sip:rob@fabrikam.com/index", 404),
        ])
    func owners(_ path: String, _ status: Int) throws {
        let bench = bench()
        #expect(try answer(Self.get("/xcap-root/" + path), bench).status == status)
        #expect(try answer(Self.put("/xcap-root/" + path), bench).status == status)
        #expect(store.records.isEmpty)
    }

    @Test("RFC 4825 4: all spellings of a user are one home directory")
    func spellings() throws {
        let bench = bench()
        #expect(try answer(Self.put("/xcap-root/resource-lists/users/rob@FABRIKAM.com/index"), bench).status == 201)
        #expect(try answer(Self.get(), bench).status == 200)
    }

    @Test("RFC 4825 12: xcap-caps names the offered usages, and no others; the directory names what the user has")
    func computed() throws {
        let bench = bench()
        _ = try answer(Self.put(), bench)
        let capabilities = try answer(Self.get("/xcap-root/xcap-caps/global/index"), bench)
        let text = String(decoding: capabilities.body, as: UTF8.self)
        #expect(
            capabilities.status == 200 && text.contains("<auid>resource-lists</auid>") && text.contains("<auid>pres-rules</auid>")
                && text.contains("<auid>org.openmobilealliance.pres-rules</auid>") && !text.contains("watcher"))
        let directory = try answer(
            Self.get("/xcap-root/org.openmobilealliance.xcap-directory/users/sip:rob@fabrikam.com/directory.xml"), bench)
        #expect(String(decoding: directory.body, as: UTF8.self).contains("resource-lists/users/sip:rob@fabrikam.com/index"))
        #expect(try answer(Self.put("/xcap-root/xcap-caps/global/index"), bench).status == 405)
    }

    @Test("RFC 4825 7.11: documents and entity-tags go on over a restart")
    func restart() throws {
        let bench = bench()
        let before = try tag(answer(Self.put(), bench))
        let restored = try bench.restart()
        #expect(restored.unreadable == 0)
        let found = try answer(Self.get(), bench)
        #expect(try found.body == Self.list("friends") && tag(found) == before)
        #expect(try answer(Self.put(Self.index, Self.list("later"), ifMatch: before), bench).status == 200)
        #expect(peer.changes.count == 1)
    }

    @Test("a change that the store refuses is answered 503 and leaves the document; other flows are not told of it")
    func failedCommit() throws {
        let bench = bench()
        let before = try tag(answer(Self.put(), bench))
        store.failure = StoreFailure("full")
        let refused = try answer(Self.put(Self.index, Self.list("lost")), bench)
        #expect(refused.status == 503 && refused.headers.contains { $0.name == "Retry-After" })
        store.failure = nil
        bench.pass(.seconds(2))
        let found = try answer(Self.get(), bench)
        #expect(try found.body == Self.list("friends") && tag(found) == before)
        #expect(peer.changes == ["resource-lists index \(Self.rob)"])
        #expect(try answer(Self.put(Self.index, Self.list("kept")), bench).status == 200)
        #expect(peer.changes.count == 2)
    }

    @Test("an answer and the notice to other flows wait for the commit; until then other flows see the stored document")
    func waits() throws {
        let bench = bench(deferred: true)
        let documents = bench.gateway.flows.documents
        send(Self.put(), to: bench)
        send(Self.get(), to: bench)
        #expect(peer.answers.isEmpty && peer.changes.isEmpty)
        #expect(documents.document(auid: "resource-lists", name: "index", of: Self.rob) == nil)
        let requests = bench.takeStoreRequests()
        #expect(requests.count == 1)
        for request in requests {
            guard case .commit(let number, _, let changes) = request else { continue }
            try store.commit(changes)
            bench.receive(.committed(number: number))
        }
        #expect(peer.answers.map(\.status) == [201, 200] && peer.changes.count == 1)
        #expect(documents.document(auid: "resource-lists", name: "index", of: Self.rob)?.octets == Self.list("friends"))
    }

    @Test("documents and octets of a user, documents of a shard and requests of a user in a second are limited, and counted")
    func limits() throws {
        let bench = bench {
            $0.limits.documentsPerUser = 2
            $0.limits.documentBytesPerUser = 400
            $0.limits.documents = 3
            $0.limits.documentRequestsPerSecond = 6
        }
        func target(_ name: String, _ user: String = "rob") -> String { "/xcap-root/resource-lists/users/sip:\(user)@fabrikam.com/\(name)" }
        let large = Self.list("x", note: String(repeating: "y", count: 300))
        #expect(try answer(Self.put(target("a")), bench).status == 201)
        #expect(try answer(Self.put(target("b")), bench).status == 201)
        #expect(try answer(Self.put(target("c")), bench).status == 413)
        #expect(try answer(Self.put(target("b"), large), bench).status == 413)
        #expect(try answer(Self.get(target("b")), bench).body == Self.list("friends"))
        #expect(bench.gateway.counters.limitsReached == 2)
        #expect(try answer(Self.get(target("a")), bench).status == 200)
        let refused = try answer(Self.get(target("a")), bench)
        #expect(refused.status == 429 && refused.headers.contains { $0.name == "Retry-After" && $0.value == "1" })
        #expect(bench.gateway.counters.documentRequestsRefused == 1)
        let ulla = "sip:ulla@fabrikam.com"
        #expect(try answer(Self.put(target("a", "ulla"), by: ulla), bench).status == 201)
        #expect(try answer(Self.put(target("b", "ulla"), by: ulla), bench).status == 503)
        #expect(store.records.count == 3)
    }

    @Test("RFC 4826 4.4.5: a service URI is unique on the server, also between shards, and free again after its removal")
    func services() throws {
        let shared = ServiceURIs()
        var configuration = Bench.configuration()
        configuration.xcapRoot = "https://xcap.example.net/xcap-root"
        let one = Gateway(configuration: configuration, key: .seeded(1), serviceURIs: shared)
        let other = Gateway(configuration: configuration, key: .seeded(2), serviceURIs: shared)
        let now = Instant(secondsSince1970: 1_700_000_000)
        func status(_ request: DocumentRequest, _ gateway: Gateway) -> Int? {
            var status: Int?
            gateway.receive(request, at: now) { status = $0.status }
            return status
        }
        func put(_ user: String, _ uri: String) -> DocumentRequest {
            Self.put(
                "/xcap-root/rls-services/users/\(user)/index", Self.service(uri), type: "application/rls-services+xml", by: user)
        }
        let ulla = "sip:ulla@fabrikam.com"
        #expect(status(put(Self.rob, "sip:team@fabrikam.com"), one) == 201)
        #expect(status(put(ulla, "sip:team@fabrikam.com"), other) == 409)
        #expect(status(put(ulla, "sip:team-2@fabrikam.com"), other) == 201)
        #expect(status(put(Self.rob, "sip:team-2@fabrikam.com"), one) == 409)
        #expect(status(DocumentRequest(user: Self.rob, method: "DELETE", target: Self.services), one) == 200)
        #expect(status(put(ulla, "sip:team@fabrikam.com"), other) == 200)
    }

    @Test("RFC 4826 4.4.5: a service URI of another name of its domain is the same URI")
    func serviceOfAlias() throws {
        let bench = bench { $0.domains["fabrikam.com"]?.forms.aliases = ["fabrikam.example.net"] }
        func put(_ user: String, _ uri: String) -> DocumentRequest {
            Self.put("/xcap-root/rls-services/users/\(user)/index", Self.service(uri), type: "application/rls-services+xml", by: user)
        }
        #expect(try answer(put(Self.rob, "sip:team@fabrikam.com"), bench).status == 201)
        #expect(try answer(put("sip:ulla@fabrikam.com", "sip:team@fabrikam.example.net"), bench).status == 409)
    }

    @Test("RFC 4826 4.4.5: a failed commit leaves the owner its service URI, and gives the new one back")
    func failedService() throws {
        let bench = bench()
        func put(_ user: String, _ uri: String) -> DocumentRequest {
            Self.put("/xcap-root/rls-services/users/\(user)/index", Self.service(uri), type: "application/rls-services+xml", by: user)
        }
        let ulla = "sip:ulla@fabrikam.com"
        #expect(try answer(put(Self.rob, "sip:old@fabrikam.com"), bench).status == 201)
        store.failure = StoreFailure("full")
        #expect(try answer(put(Self.rob, "sip:new@fabrikam.com"), bench).status == 503)
        store.failure = nil
        bench.pass(.seconds(2))
        #expect(try answer(put(ulla, "sip:old@fabrikam.com"), bench).status == 409)
        #expect(try answer(put(ulla, "sip:new@fabrikam.com"), bench).status == 201)
        #expect(try answer(put(Self.rob, "sip:third@fabrikam.com"), bench).status == 200)
        #expect(try answer(put(ulla, "sip:old@fabrikam.com"), bench).status == 200)
    }
}
