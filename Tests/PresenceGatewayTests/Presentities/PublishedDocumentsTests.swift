import PresenceDocuments
import SIPCore
import SIPEvents
import SimplePresence
import Testing

@testable import PresenceGateway

/// Every transition of the published documents of one presentity.
@Suite struct PublishedDocumentsTests {
    let start = Instant(nanosecondsSince1970: 1_795_342_380_000_000_000)

    private func made(octets: Int = 10_000) -> PublishedDocuments {
        var limits = CompositionLimits()
        limits.size.octets = octets
        return PublishedDocuments(
            entity: "sip:alice@example.com", expiry: ExpiryPolicy(minimum: 1, standard: 60, maximum: 3_600), limits: limits)
    }

    private func document(_ tuple: String) -> PIDFDocument {
        var document = PIDFDocument(entity: "sip:alice@example.com")
        document.tuples = [PIDFTuple(id: tuple, basic: .open)]
        return document
    }

    /// Plays a PUBLISH whose new entity-tag is `new`.
    @discardableResult
    private func publish(
        _ tuple: String?, as new: String, ifMatch old: String? = nil, expires: Int = 60, keepsBody: Bool = true,
        in documents: inout PublishedDocuments
    ) throws -> Bool {
        var table = documents.entityTags
        let outcome = table.receive(
            ifMatch: old.map { [EntityTag($0)] } ?? [], hasBody: tuple != nil, expires: expires, newTag: EntityTag(new), at: start)
        guard case .accepted(let operation, _, _) = outcome else {
            Issue.record("the request was refused: \(outcome)")
            return false
        }
        return try documents.accept(
            operation, table, body: tuple.map { Array($0.utf8) } ?? [], tuple.map(document),
            until: DateTime(start + .seconds(expires)), keepsBody: keepsBody, at: start)
    }

    // Mutating calls are no direct part of an expectation.
    private func compose(_ documents: inout PublishedDocuments) -> Bool { documents.compose() }
    private func takePending(_ documents: inout PublishedDocuments) -> Bool { documents.takePending() }
    private func expire(_ documents: inout PublishedDocuments, at now: Instant) -> [EntityTag] { documents.expire(at: now) }

    @Test("RFC 3903 4.1 a first PUBLISH makes the composition outdated, and composing it once changes the document")
    func create() throws {
        var documents = made()
        #expect(documents.isComposed)
        #expect(try publish("t", as: "1", in: &documents))
        #expect(!documents.isComposed)
        #expect(compose(&documents))
        #expect(documents.document.tuples.map(\.id) == ["t"])
        #expect(!compose(&documents))
    }

    @Test("RFC 3903 4.2 a refresh moves the stored body to the new entity-tag and leaves the composition alone")
    func refresh() throws {
        var documents = made()
        try publish("t", as: "1", in: &documents)
        _ = documents.compose()
        #expect(try !publish(nil, as: "2", ifMatch: "1", in: &documents))
        #expect(documents.isComposed)
        #expect(documents.stored("1") == nil)
        #expect(documents.stored("2")?.body == Array("t".utf8))
    }

    @Test("RFC 3903 4.3 a modification replaces document and body")
    func modify() throws {
        var documents = made()
        try publish("t", as: "1", in: &documents)
        #expect(try publish("u", as: "2", ifMatch: "1", in: &documents))
        #expect(compose(&documents))
        #expect(documents.document.tuples.map(\.id) == ["u"])
        #expect(documents.stored("2")?.body == Array("u".utf8))
        #expect(documents.count == 1)
    }

    @Test("RFC 3903 4.4 a removal ends document and body")
    func remove() throws {
        var documents = made()
        try publish("t", as: "1", in: &documents)
        _ = documents.compose()
        #expect(try publish(nil, as: "2", ifMatch: "1", expires: 0, in: &documents))
        #expect(compose(&documents))
        #expect(documents.isEmpty)
        #expect(documents.count == 0)
        #expect(documents.stored("1") == nil)
    }

    @Test("a document with Expires 0 and no entity-tag stores nothing and changes nothing")
    func nothing() throws {
        var documents = made()
        #expect(try !publish("t", as: "1", expires: 0, in: &documents))
        #expect(documents.isComposed)
        #expect(documents.isEmpty)
    }

    @Test("a document beyond the limits of the composition changes neither entity-tags nor bodies")
    func tooLarge() throws {
        var documents = made(octets: 300)
        try publish("t", as: "1", in: &documents)
        _ = documents.compose()
        #expect(throws: CompositionError.self) { try publish(String(repeating: "u", count: 400), as: "2", in: &documents) }
        #expect(documents.isComposed)
        #expect(documents.count == 1)
        #expect(documents.stored("2") == nil)
    }

    @Test("an expired publication is named once, and the composition is outdated")
    func expire() throws {
        var documents = made()
        try publish("t", as: "1", in: &documents)
        _ = documents.compose()
        #expect(expire(&documents, at: start + .seconds(59)).isEmpty)
        #expect(documents.isComposed)
        #expect(expire(&documents, at: start + .seconds(60)) == [EntityTag("1")])
        #expect(!documents.isComposed)
        #expect(documents.stored("1") == nil)
        #expect(expire(&documents, at: start + .seconds(61)).isEmpty)
    }

    @Test("watchers are to be notified once for all PUBLISH requests of a tick")
    func pending() {
        var documents = made()
        #expect(!takePending(&documents))
        documents.notePending()
        documents.notePending()
        #expect(takePending(&documents))
        #expect(!takePending(&documents))
    }

    @Test("without a store no body is kept")
    func withoutStore() throws {
        var documents = made()
        try publish("t", as: "1", keepsBody: false, in: &documents)
        #expect(documents.stored("1") == nil)
        #expect(documents.count == 1)
    }

    @Test("a stored document of an earlier process is composed again, with its entity-tag and its end")
    func restore() throws {
        var earlier = made()
        try publish("t", as: "1", in: &earlier)
        let (body, standing) = try #require(earlier.stored("1"))
        var documents = made()
        documents.restore(document("t"), body: body, tag: "1", standing)
        #expect(compose(&documents))
        #expect(documents.document.tuples.map(\.id) == ["t"])
        #expect(documents.nextDeadline == start + .seconds(60))
        #expect(try !publish(nil, as: "2", ifMatch: "1", in: &documents))
    }

    @Test("after a failed commit the stored documents are composed again, and what watchers were to be notified of stays due")
    func reload() throws {
        var documents = made()
        try publish("t", as: "1", in: &documents)
        _ = documents.compose()
        let (body, standing) = try #require(documents.stored("1"))
        try publish("v", as: "3", ifMatch: "1", in: &documents)
        try publish("u", as: "2", in: &documents)
        #expect(compose(&documents))
        documents.notePending()
        for tag in ["1", "2", "3", "never"] { documents.forget(tag) }
        documents.restore(document("t"), body: body, tag: "1", standing)
        #expect(documents.stored("2") == nil && documents.stored("3") == nil && documents.count == 1)
        #expect(compose(&documents))
        #expect(documents.document.tuples.map(\.id) == ["t"])
        #expect(takePending(&documents))
    }
}
