import Testing

@testable import PresenceGateway

@Suite struct RelayedDocumentTests {
    private func sent(_ document: RelayedDocument = RelayedDocument()) -> RelayedDocument {
        var document = document
        document.compose([1])
        document.send(isRemoval: false)
        return document
    }

    @Test("composed: another document starts a generation, the same one does not")
    func compose() {
        var document = RelayedDocument()
        #expect(document.isShown && document.generation == 0)
        document.compose([1])
        #expect(!document.isShown && document.generation == 1)
        document.compose([1])
        #expect(document.generation == 1)
        document.compose(nil)
        #expect(document.isShown && document.generation == 2)
    }

    @Test("sent: the compositor has the sent generation once it accepts, also after a newer one")
    func published() {
        var document = sent()
        document.compose([2])
        #expect(document.published() == 1)
        #expect(document.acceptedDigest == DialogContext.digest([1]) && !document.isShown && document.sent == nil)
        document.compose([1])
        #expect(document.isShown)
    }

    @Test("sent: a removal that is accepted leaves nothing")
    func removed() {
        var document = sent()
        _ = document.published()
        document.compose(nil)
        document.send(isRemoval: true)
        #expect(document.published() == 2)
        #expect(document.isShown && document.acceptedDigest == nil)
    }

    @Test("an answer to a request without a body changes nothing")
    func ignored() {
        var document = sent()
        _ = document.published()
        let before = document
        #expect(document.published() == nil)
        document.postponed()
        #expect(document.refused(isOver: false) == nil)
        #expect(document == before)
    }

    @Test("sent: after silence it is unknown what the compositor has")
    func postponed() {
        var document = sent(RelayedDocument(acceptedDigest: 7))
        document.postponed()
        #expect(document.acceptedDigest == nil && document.sent == nil)
    }

    @Test("sent: a refusal names the refused generation; the document before stays unless the publication ended")
    func refused() {
        var document = sent(RelayedDocument(acceptedDigest: 7))
        var ended = document
        #expect(document.refused(isOver: false) == 1)
        #expect(document.acceptedDigest == 7 && document.sent == nil)
        #expect(ended.refused(isOver: true) == 1)
        #expect(ended.acceptedDigest == nil)
    }

    @Test("a request that was not sent leaves the document before; an ended publication leaves none")
    func notSent() {
        var document = sent(RelayedDocument(acceptedDigest: 7))
        document.notSent()
        #expect(document.acceptedDigest == 7 && document.sent == nil)
        document.ended()
        #expect(document.acceptedDigest == nil)
    }
}
