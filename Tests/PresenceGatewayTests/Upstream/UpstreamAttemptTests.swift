import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// Every transition of ``UpstreamAttempt``.
@Suite struct UpstreamAttemptTests {
    private let contact = NameAddr(SIPURI(user: "rob", host: "192.0.2.9"))

    private func subscribe() -> SIPRequest {
        var request = SIPRequest(.subscribe, uri: SIPURI(user: "rob", host: "contoso.com"))
        request.headers.from = NameAddr(SIPURI(user: "alice", host: "example.org"), parameters: SIPParameters([.init("tag", "a")]))
        request.headers.to = NameAddr(SIPURI(user: "rob", host: "contoso.com"))
        request.headers.callID = "call"
        request.headers.cSeq = CSeq(1, .subscribe)
        request.headers.set(.contact, "<sip:gateway.example.org>")
        return request
    }

    private func response(_ status: SIPStatus, tag: String = "r", contact: Bool = true) -> SIPResponse {
        var response = SIPResponse(to: subscribe(), status: status, toTag: tag)
        if contact { response.headers.set(.contact, self.contact.description) }
        return response
    }

    private func notify(_ number: UInt32, tag: String = "r") -> SIPRequest {
        var request = SIPRequest(.notify, uri: SIPURI(host: "gateway.example.org"))
        request.headers.from = NameAddr(SIPURI(user: "rob", host: "contoso.com"), parameters: SIPParameters([.init("tag", tag)]))
        request.headers.to = NameAddr(SIPURI(user: "alice", host: "example.org"), parameters: SIPParameters([.init("tag", "a")]))
        request.headers.callID = "call"
        request.headers.cSeq = CSeq(number, .notify)
        request.headers.set(.contact, contact.description)
        return request
    }

    private func asking() -> UpstreamAttempt {
        var attempt = UpstreamAttempt()
        attempt.begin(localTag: "a", callID: "call")
        attempt.ask(subscribe())
        return attempt
    }

    private func open() -> UpstreamAttempt {
        var attempt = asking()
        attempt.receive(response(.ok))
        return attempt
    }

    @Test("none: messages and numbers of a dialog are ignored or refused")
    func none() {
        var attempt = UpstreamAttempt()
        attempt.receive(response(.ok))
        attempt.redirected(from: ["sip:x"])
        attempt.lost()
        #expect(attempt.phase == .none && attempt.nextNumber() == nil && attempt.makeRequest(maxForwards: 70) == nil)
        #expect(throws: Refusal.noSuchDialog) { try attempt.receiveNotify(notify(1)) }
    }

    @Test("asking: a redirection keeps its history over the repeated SUBSCRIBE, and a new attempt drops it")
    func redirected() {
        var attempt = asking()
        attempt.redirected(from: ["sip:x"])
        attempt.ask(subscribe())
        #expect(attempt.redirectedFrom == ["sip:x"])
        attempt.begin(localTag: "b", callID: "other")
        #expect(attempt.phase == .none && attempt.localTag == "b" && attempt.callID == "other")
        attempt.ask(subscribe())
        #expect(attempt.redirectedFrom.isEmpty)
    }

    @Test("asking: a 2xx creates the dialog; a refusal does not")
    func answered() {
        var attempt = asking()
        attempt.receive(response(.forbidden))
        #expect(attempt.request != nil)
        attempt.receive(response(.ok))
        #expect(attempt.dialog?.id.remoteTag == "r" && attempt.request == nil && !attempt.hasNotified)
    }

    @Test("asking: the first NOTIFY creates the dialog, before the 200 or after one without a Contact")
    func notifyFirst() throws {
        var attempt = asking()
        attempt.receive(response(.ok, contact: false))
        #expect(attempt.request != nil)
        #expect(try attempt.receiveNotify(notify(1)) == true)
        #expect(attempt.dialog != nil && attempt.hasNotified)
    }

    @Test("open: the first NOTIFY changes the stored dialog, later ones do not; an old CSeq is refused")
    func notified() throws {
        var attempt = open()
        #expect(try attempt.receiveNotify(notify(5)) == true)
        #expect(try attempt.receiveNotify(notify(6)) == false)
        #expect(throws: Refusal.self) { try attempt.receiveNotify(notify(6)) }
    }

    @Test("RFC 3856 6.8 open: the branch that notifies first is kept, others are refused")
    func forked() throws {
        var attempt = open()
        #expect(try attempt.receiveNotify(notify(1, tag: "other")) == true)
        #expect(attempt.dialog?.id.remoteTag == "other")
        #expect(throws: Refusal.noSuchDialog) { try attempt.receiveNotify(notify(2)) }
    }

    @Test("open: requests have the next numbers, and a first SUBSCRIBE is ignored")
    func requests() {
        var attempt = open()
        attempt.ask(subscribe())
        #expect(attempt.request == nil)
        #expect(attempt.makeRequest(maxForwards: 70)?.headers.cSeq?.number == 2)
        #expect(attempt.nextNumber() == 3)
    }

    @Test("a loss ends the dialog; a first SUBSCRIBE without a dialog is kept for a late response")
    func lost() {
        var attempt = open()
        attempt.lost()
        #expect(attempt.phase == .none && attempt.callID == "call")
        var asking = asking()
        asking.lost()
        #expect(asking.request != nil)
    }

    @Test("a routing failure lasts until a response, or a SUBSCRIBE that was sent")
    func routing() {
        var attempt = asking()
        attempt.notRouted(HopFailure(.absent, "no SRV record"))
        #expect(attempt.routingFailure != nil)
        attempt.notAnswered()
        #expect(attempt.routingFailure == nil)
        attempt.notRouted(HopFailure(.absent, "no SRV record"))
        attempt.receive(response(.notFound))
        #expect(attempt.routingFailure == nil)
    }

    @Test("a piggybacked state counts as a NOTIFY")
    func piggybacked() throws {
        var attempt = open()
        attempt.piggybacked()
        #expect(attempt.hasNotified)
        #expect(throws: Refusal.noSuchDialog) { try attempt.receiveNotify(notify(1, tag: "other")) }
    }

    @Test("an attempt of an earlier process has its dialog, or none")
    func resumed() {
        let resumed = UpstreamAttempt(resuming: "a", callID: "call", dialog: open().dialog, hasNotified: true)
        #expect(resumed.dialog != nil && resumed.hasNotified && resumed.localTag == "a")
        #expect(UpstreamAttempt(resuming: "a", callID: "call", dialog: nil, hasNotified: false).phase == .none)
    }
}
