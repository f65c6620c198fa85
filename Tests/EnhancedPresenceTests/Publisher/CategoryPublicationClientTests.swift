import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

@Suite("Publishing categories at a foreign home server")
struct CategoryPublicationClientTests {
    let start = DateTime(nanosecondsSince1970: 1_700_000_000_000_000_000)
    let state = PublicationID(category: .state, container: .colleagues, instance: 7)
    let note = PublicationID(category: .note, container: .colleagues, instance: 7)

    func after(_ seconds: Int64) -> DateTime { DateTime(nanosecondsSince1970: start.nanosecondsSince1970 + seconds * 1_000_000_000) }

    func requested(_ text: String, until seconds: Int64 = 600, expires: UInt32 = 660) throws
        -> CategoryPublicationClient.RequestedPublication
    {
        CategoryPublicationClient.RequestedPublication(
            body: try XMLFragment(parsing: Array("<note xmlns=\"urn:x\">\(text)</note>".utf8)), expires: expires, until: after(seconds))
    }

    func versions(_ document: CategoryPublishDocument?) -> [String] {
        (document?.publications ?? []).map {
            "\($0.categoryName) v\($0.version) \($0.isRemoval ? "gone" : $0.expires.map { "\($0)s" } ?? "-")"
        }
    }

    func answer(_ version: UInt32, expires: Int64 = 660) -> CategoriesDocument {
        CategoriesDocument(
            uri: "sip:bob@contoso.com",
            categories: [state, note].map {
                CategoryElement(
                    name: $0.category, instance: $0.instance, container: $0.container, version: version, expireType: .time, expires: expires
                )
            })
    }

    @Test("MS-PRES 1.3.1.6 a new instance names version 0, a change the version of the 200, a removal has expires 0 and no body")
    func lifecycle() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com")
        client.request([state: try requested("a"), note: try requested("b")])
        #expect(versions(client.next(at: start)) == ["note v0 660s", "state v0 660s"])
        #expect(client.next(at: start) == nil)
        client.accepted(answer(4), at: start)
        #expect(client.isSettled(at: start))
        try client.request(client.requestedPublications.merging([state: requested("c")]) { $1 })
        #expect(versions(client.next(at: start)) == ["state v4 660s"])
        client.accepted(nil, at: start)
        client.request([:])
        let removal = client.next(at: start)
        #expect(versions(removal) == ["note v4 gone", "state v5 gone"])
        #expect(removal?.publications.allSatisfy { $0.body == nil && $0.expireType == .time } == true)
        client.accepted(nil, at: start)
        #expect(client.isIdle)
    }

    @Test("MS-PRES 2.2.2.2.3 versions of a 409 are taken over: other versions named, what is gone created, what is gone not removed")
    func conflict() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com")
        client.request([state: try requested("a"), note: try requested("b")])
        _ = client.next(at: start)
        client.accepted(answer(4), at: start)
        client.request([state: try requested("c")])
        #expect(versions(client.next(at: start)) == ["note v4 gone", "state v4 660s"])
        client.conflicted(
            FaultDocument(operations: [
                FaultOperation(index: 1, version: 4, currentVersion: 0), FaultOperation(index: 2, version: 4, currentVersion: 9),
            ]), at: start)
        #expect(versions(client.next(at: start)) == ["state v9 660s"])
        client.conflicted(FaultDocument(operations: [FaultOperation(index: 1, version: 9, currentVersion: 0)]), at: start)
        #expect(versions(client.next(at: start)) == ["state v0 660s"])
        client.accepted(nil, at: start)
        #expect(client.standings[state]?.version == 1)
    }

    @Test("a server that has forgotten one instance is asked about all of them")
    func forgotten() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com")
        client.request([state: try requested("a"), note: try requested("b")])
        _ = client.next(at: start)
        client.accepted(answer(4), at: start)
        try client.request(client.requestedPublications.merging([note: requested("c")]) { $1 })
        #expect(versions(client.next(at: start)) == ["note v4 660s"])
        client.conflicted(FaultDocument(operations: [FaultOperation(index: 1, version: 4, currentVersion: 0)]), at: start)
        #expect(versions(client.next(at: start)) == ["note v0 660s", "state v4 660s"])
        client.conflicted(FaultDocument(operations: [FaultOperation(index: 2, version: 4, currentVersion: 0)]), at: start)
        #expect(versions(client.next(at: start)) == ["note v0 660s", "state v0 660s"])
    }

    @Test("a server that answers every attempt with 409 is left alone for a while, and no loop comes of it")
    func endlessConflict() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com", shortestPause: 5, longestPause: 60)
        client.request([state: try requested("a")])
        for version in 1...UInt32(CategoryPublicationClient.conflictLimit) {
            #expect(client.next(at: start) != nil)
            client.conflicted(FaultDocument(operations: [FaultOperation(index: 1, version: 0, currentVersion: version)]), at: start)
        }
        #expect(client.next(at: start) == nil)
        #expect(client.nextDeadline == after(5))
        #expect(versions(client.next(at: after(5))) == ["state v3 660s"])
        // A fault that cannot be read says nothing about versions: as if nothing were there.
        client.conflicted(nil, at: after(5))
        #expect(versions(client.next(at: after(5))) == ["state v0 660s"])
    }

    @Test("after silence nobody knows what was committed: it is asked for again, and taken back where it is wished no more")
    func silence() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com", shortestPause: 5, longestPause: 60)
        client.request([state: try requested("a")])
        _ = client.next(at: start)
        #expect(client.keptStandings[state]?.isUncertain == true)
        client.failed(at: start)
        #expect(!client.isSettled(at: start))
        client.request([:])
        #expect(client.next(at: after(4)) == nil)
        #expect(client.pause(at: after(4)) == 1)
        #expect(versions(client.next(at: after(5))) == ["state v0 gone"])
        client.failed(retryAfter: 30, at: after(5))
        #expect(client.nextDeadline == after(35))
        // Beyond the life that was asked for, and the way there, it cannot be there any more.
        #expect(client.next(at: after(700)) == nil)
        #expect(client.isIdle)
    }

    @Test("an instance whose server grants less than is wanted is renewed in time; one that lives long enough is left alone")
    func renewal() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com")
        client.request([state: try requested("a", until: 3_600, expires: 3_600)])
        _ = client.next(at: start)
        client.accepted(answer(1, expires: 400), at: start)
        #expect(client.nextDeadline == after(300))
        #expect(client.next(at: after(299)) == nil)
        #expect(versions(client.next(at: after(300))) == ["state v1 3600s"])
        client.accepted(answer(2, expires: 3_600), at: after(300))
        #expect(client.nextDeadline == nil)
        var wanted = client.requestedPublications
        wanted[state]?.until = after(3_700)
        client.request(wanted)
        #expect(client.isSettled(at: after(300)))
        #expect(client.isSettled(at: after(3_700)))
    }

    @Test("a server that grants no time is asked again after the pause, not at once", arguments: [0, 1, 5])
    func noTime(granted: Int64) throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com", shortestPause: 5)
        client.request([state: try requested("a")])
        _ = client.next(at: start)
        client.accepted(answer(1, expires: granted), at: start)
        #expect(client.isSettled(at: start))
        #expect(client.nextDeadline == after(5))
        #expect(client.next(at: after(4)) == nil)
        #expect(versions(client.next(at: after(5))) == ["state v1 660s"])
    }

    @Test(
        "MS-PRES 3.2.5.4 a refusal commits nothing: what was there stays, the next wish is tried at once, a refused removal is not repeated"
    )
    func refusal() throws {
        var client = CategoryPublicationClient(uri: "sip:bob@contoso.com", longestPause: 300)
        client.request([state: try requested("a")])
        _ = client.next(at: start)
        client.accepted(answer(1), at: start)
        client.request([state: try requested("b")])
        _ = client.next(at: start)
        client.refused(at: start)
        #expect(client.next(at: after(1)) == nil)
        client.request([state: try requested("a")])
        #expect(client.isSettled(at: after(1)))
        client.request([state: try requested("d")])
        client.tryNow()
        #expect(versions(client.next(at: after(1))) == ["state v1 660s"])
        client.accepted(nil, at: after(1))
        client.request([:])
        #expect(versions(client.next(at: after(2))) == ["state v2 gone"])
        client.refused(at: after(2))
        #expect(client.isIdle)
    }
}
