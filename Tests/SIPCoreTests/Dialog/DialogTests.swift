import Testing

@testable import SIPCore

@Suite struct DialogTests {
    private func request(_ text: String) throws -> SIPRequest { try #require(SIPParser.parse(wire(text)).request) }

    private let routes = "Record-Route: <sip:p1.example.com;lr>, <sip:p2.example.com;lr>\n"
    private let contact = "Contact: <sip:bob@192.0.2.5:5070>\n"

    @Test("RFC 3261 12.1.1 at the UAS the route set is in order")
    func server() throws {
        let subscribe = try request(requestText(extra: routes + contact))
        var dialog = try #require(Dialog(accepting: subscribe, localTag: "l1"))
        #expect(dialog.id == DialogID(callID: "c1@edge.contoso.com", localTag: "l1", remoteTag: "f1"))
        #expect(dialog.remoteCSeq == 1)
        let notify = dialog.makeRequest(.notify, contact: NameAddr(SIPURI(user: "alice", host: "gw.example.net")))
        #expect(notify.requestURI == "sip:bob@192.0.2.5:5070")
        #expect(notify.headers.routes.map(\.uri.host) == ["p1.example.com", "p2.example.com"])
        #expect(notify.headers.cSeq == CSeq(1, .notify))
        #expect(notify.headers.fromTag == "l1")
        #expect(notify.headers.toTag == "f1")
        #expect(notify.headers.from?.uri.aorKey == "sip:alice@example.org")
        #expect(notify.headers.to?.displayName == "Bob")
        #expect(dialog.makeRequest(.notify).headers.cSeq?.number == 2)
        #expect(dialog.nextHop.host == "p1.example.com")
    }

    @Test("RFC 3261 12.1.2 at the UAC the route set is reversed")
    func client() throws {
        let subscribe = try request(requestText(cSeq: "7 SUBSCRIBE", extra: contact))
        var response = SIPResponse(to: subscribe, status: .ok, toTag: "r1")
        response.headers.append(.recordRoute, "<sip:p1.example.com;lr>, <sip:p2.example.com;lr>")
        response.headers.append(.contact, "<sip:alice@198.51.100.4>")
        var dialog = try #require(Dialog(request: subscribe, response: response))
        let refresh = dialog.makeRequest(.subscribe)
        #expect(refresh.headers.routes.map(\.uri.host) == ["p2.example.com", "p1.example.com"])
        #expect(refresh.headers.cSeq?.number == 8)
        #expect(refresh.requestURI == "sip:alice@198.51.100.4")
        #expect(refresh.headers.fromTag == "f1")
        #expect(DialogID(incoming: response) == dialog.id)
        #expect(Dialog(request: subscribe, response: SIPResponse(to: subscribe, status: .ok, toTag: "r1")) == nil)
    }

    @Test("RFC 6665 4.4.1 a NOTIFY makes the subscriber's dialog, its route set in order")
    func subscriber() throws {
        let subscribe = try request(requestText(extra: contact))
        let text = requestText(
            "NOTIFY sip:bob@192.0.2.5:5070 SIP/2.0", cSeq: "3 NOTIFY", extra: routes + "Contact: <sip:alice@198.51.100.4>\n"
        )
        .replacing("From: \"Bob\" <sip:bob@contoso.com>;tag=f1", with: "From: <sip:alice@example.org>;tag=n1")
        .replacing("To: <sip:alice@example.org>", with: "To: <sip:bob@contoso.com>;tag=f1")
        let notify = try request(text)
        let dialog = try #require(Dialog(subscribe: subscribe, notify: notify))
        #expect(dialog.id == DialogID(incoming: notify))
        #expect(dialog.routeSet.map(\.uri.host) == ["p1.example.com", "p2.example.com"])
        #expect(dialog.localCSeq == 1)
        #expect(dialog.remoteCSeq == 3)
        #expect(Dialog(subscribe: try request(requestText(extra: contact).replacing("f1", with: "f2")), notify: notify) == nil)
    }

    @Test("RFC 3261 12.2.1.1 a strict router becomes the Request-URI")
    func strictRouting() throws {
        let strict = "Record-Route: <sip:p1.example.com;method=X?a=b>, <sip:p2.example.com;lr>\n"
        var dialog = try #require(Dialog(accepting: try request(requestText(extra: strict + contact)), localTag: "l1"))
        let notify = dialog.makeRequest(.notify)
        #expect(notify.requestURI == "sip:p1.example.com")
        #expect(notify.headers.routes.map(\.uri.description) == ["sip:p2.example.com;lr", "sip:bob@192.0.2.5:5070"])
    }

    @Test("RFC 3261 12.2.2 a lower CSeq is 500, a gap is fine, a new Contact is followed")
    func remoteSequence() throws {
        var dialog = try #require(Dialog(accepting: try request(requestText(cSeq: "5 SUBSCRIBE", extra: contact)), localTag: "l1"))
        let moved = try request(requestText(cSeq: "9 SUBSCRIBE", extra: "Contact: <sip:bob@192.0.2.6>\n" + routes))
        #expect(dialog.receive(try request(requestText(cSeq: "4 SUBSCRIBE"))) == .reject(.serverInternalError))
        #expect(dialog.receive(moved) == .accept)
        #expect(dialog.remoteTarget.host == "192.0.2.6")
        #expect(dialog.routeSet.isEmpty)
        #expect(dialog.receive(moved) == .reject(.serverInternalError))
    }

    @Test("RFC 6665 4.4.1 the 200 of another branch of a forked SUBSCRIBE does not move the dialog")
    func foreignResponse() throws {
        let subscribe = try request(requestText(extra: contact))
        func response(_ tag: String, _ host: String) -> SIPResponse {
            var response = SIPResponse(to: subscribe, status: .ok, toTag: tag)
            response.headers.append(.contact, "<sip:alice@\(host)>")
            return response
        }
        var dialog = try #require(Dialog(request: subscribe, response: response("r1", "198.51.100.4")))
        dialog.receive(response("r2", "198.51.100.5"))
        #expect(dialog.remoteTarget.host == "198.51.100.4")
        dialog.receive(response("r1", "198.51.100.6"))
        #expect(dialog.remoteTarget.host == "198.51.100.6")
    }

    @Test("RFC 3261 12.1.1 a request over sips needs a Contact over sips")
    func secureContact() throws {
        let text = requestText(extra: contact).replacing("SUBSCRIBE sip:", with: "SUBSCRIBE sips:")
        #expect(Dialog(accepting: try request(text), localTag: "l1") == nil)
        let secure = try request(text.replacing("<sip:bob@192.0.2.5:5070>", with: "<sips:bob@192.0.2.5:5071;transport=tcp>"))
        let dialog = try #require(Dialog(accepting: secure, localTag: "l1"))
        #expect(dialog.isSecure && dialog.nextHop.transport == .tls)
    }

    @Test("RFC 3261 12.2.1.1 after a restart numbers go on beyond what may have been lost, and never beyond 2^31-1")
    func resumption() throws {
        var dialog = try #require(Dialog(accepting: try request(requestText(extra: routes + contact)), localTag: "l1"))
        _ = dialog.makeRequest(.notify)
        let stored = dialog.snapshot
        _ = dialog.makeRequest(.notify)
        let lost = try #require(dialog.makeRequest(.notify).headers.cSeq?.number)
        var resumed = try #require(Dialog.resumed(from: stored))
        #expect(try #require(resumed.makeRequest(.notify).headers.cSeq?.number) > lost)
        #expect(resumed.remoteCSeq == dialog.remoteCSeq && resumed.routeSet == dialog.routeSet)
        var late = stored
        late.localCSeq = CSeq.limit
        #expect(Dialog.resumed(from: late)?.localCSeq == CSeq.limit)
    }

    @Test("a dialog survives as a snapshot")
    func snapshot() throws {
        var dialog = try #require(Dialog(accepting: try request(requestText(extra: routes + contact)), localTag: "l1"))
        _ = dialog.makeRequest(.notify)
        #expect(Dialog(snapshot: dialog.snapshot) == dialog)
        var broken = dialog.snapshot
        broken.remoteTarget = "nonsense"
        #expect(Dialog(snapshot: broken) == nil)
    }

    @Test("tokens differ, carry the prefix and are reproducible")
    func tokens() {
        var one = TokenGenerator(seed: 5, prefix: "n1-\r\n")
        var two = TokenGenerator(seed: 5, prefix: "n1-")
        var all = Set<String>()
        for _ in 0..<1000 {
            let token = one.tag()
            #expect(token == two.tag())
            #expect(token.hasPrefix("n1-") && token.utf8.count == 29)
            all.insert(token)
        }
        #expect(all.count == 1000)
        #expect(one.branch().hasPrefix("z9hG4bKn1-"))
        #expect(one.callID(host: "a.example.com").hasSuffix("@a.example.com"))
    }
}
