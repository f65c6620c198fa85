import Testing

@testable import SIPCore

@Suite struct TransactionLayerTests {
    private let start = Instant(secondsSince1970: 1_000)
    private let local = TransportAddress(.udp, "192.0.2.1", 5060)
    private let remote = TransportAddress(.udp, "192.0.2.9", 40_000)

    private func layer(serverLimit: Int = 100, clientLimit: Int = 100) -> TransactionLayer {
        let sentBy: [TransportProtocol: TransactionLayer.HostPort] = [.udp: .init("192.0.2.1", 5060), .tcp: .init("192.0.2.1", 5060)]
        return TransactionLayer(
            configuration: .init(sentBy: sentBy, serverLimit: serverLimit, clientLimit: clientLimit),
            tokens: TokenGenerator(seed: 7, prefix: "s3-"))
    }

    private func inbound(_ text: String) -> InboundMessage { InboundMessage(bytes: wire(text), local: local, remote: remote) }

    private func inboundTCP(_ text: String) -> InboundMessage {
        InboundMessage(
            bytes: wire(text), local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.9", 40_001),
            connection: ConnectionID(rawValue: 4))
    }

    private func sent(_ actions: [TransactionAction]) -> [SIPResponse] {
        actions.compactMap { action in
            guard case .send(let message) = action else { return nil }
            return SIPParser.parse(message.bytes).response
        }
    }

    private func delivered(_ actions: [TransactionAction]) -> (SIPRequest, ServerTransactionID)? {
        for case .deliver(let request, let id, _) in actions { return (request, id) }
        return nil
    }

    private func answer(to message: OutboundMessage, _ status: SIPStatus) throws -> String {
        let request = try #require(SIPParser.parse(message.bytes).request)
        return String(decoding: SIPResponse(to: request, status: status).serialized(), as: UTF8.self).replacing("\r\n", with: "\n")
    }

    @Test("RFC 3261 17.2.3 a copy is absorbed until answered, then gets the same bytes")
    func serverCopies() throws {
        var layer = layer()
        let actions = layer.receive(inbound(requestText()), at: start)
        let (request, id) = try #require(delivered(actions))
        #expect(layer.receive(inbound(requestText()), at: start) == [.dropped(.copy)])
        let first = layer.respond(id, SIPResponse(to: request, status: .ok, toTag: "t"), at: start)
        #expect(layer.receive(inbound(requestText()), at: start + .seconds(31)) == first)
        #expect(layer.respond(id, SIPResponse(to: request, status: .ok, toTag: "t"), at: start) == [])
        #expect(layer.nextDeadline == start + .seconds(32))
        #expect(layer.advance(to: start + .seconds(32)) == [])
        #expect(layer.serverCount == 0)
        #expect(delivered(layer.receive(inbound(requestText()), at: start + .seconds(33))) != nil)
    }

    @Test("RFC 3261 17.2.3 the method and sent-by are part of the match")
    func serverMatching() {
        var layer = layer()
        #expect(delivered(layer.receive(inbound(requestText()), at: start)) != nil)
        let other = requestText().replacing("edge.contoso.com:5060;", with: "edge.contoso.com:5062;").replacing("c1@", with: "c2@")
        #expect(delivered(layer.receive(inbound(other), at: start)) != nil)
        let method = requestText("PUBLISH sip:alice@example.org SIP/2.0", cSeq: "1 PUBLISH")
        #expect(delivered(layer.receive(inbound(method), at: start)) != nil)
    }

    @Test("RFC 3261 17.2.3 without the cookie the request itself is compared")
    func serverOldStyle() {
        var layer = layer()
        let old = requestText().replacing("branch=z9hG4bKabc;", with: "")
        #expect(delivered(layer.receive(inbound(old), at: start)) != nil)
        #expect(layer.receive(inbound(old), at: start) == [.dropped(.copy)])
        #expect(delivered(layer.receive(inbound(old.replacing("1 SUBSCRIBE", with: "2 SUBSCRIBE")), at: start)) != nil)
    }

    @Test("RFC 3581 4 the answer goes where the packet came from")
    func symmetricRouting() throws {
        var layer = layer()
        let (request, id) = try #require(delivered(layer.receive(inbound(requestText()), at: start)))
        #expect(request.headers.topVia?.received == "192.0.2.9")
        #expect(request.headers.topVia?.rport == 40_000)
        guard case .send(let message)? = layer.respond(id, SIPResponse(to: request, status: .ok), at: start).first else {
            Issue.record("no answer")
            return
        }
        #expect(message.destination == .address(remote, from: local))
    }

    @Test("RFC 3261 18.2.2 without rport the answer goes to sent-by's port, maddr first, a stream's own connection above all")
    func responseRouting() throws {
        func destination(_ via: String, _ message: (String) -> InboundMessage) throws -> Destination? {
            var layer = layer()
            let text = requestText().replacing("SIP/2.0/UDP edge.contoso.com:5060;branch=z9hG4bKabc;rport", with: via)
            let (request, id) = try #require(delivered(layer.receive(message(text), at: start)))
            guard case .send(let message)? = layer.respond(id, SIPResponse(to: request, status: .ok), at: start).first else { return nil }
            return message.destination
        }
        #expect(
            try destination("SIP/2.0/UDP a.example.com;branch=z9hG4bK1", inbound) == .address(.init(.udp, "192.0.2.9", 5060), from: local))
        #expect(
            try destination("SIP/2.0/UDP 192.0.2.9:5070;branch=z9hG4bK1", inbound) == .address(.init(.udp, "192.0.2.9", 5070), from: local))
        #expect(
            try destination("SIP/2.0/UDP a.example.com;branch=z9hG4bK1;maddr=192.0.2.77", inbound)
                == .address(.init(.udp, "192.0.2.77", 5060), from: local))
        #expect(
            try destination("SIP/2.0/UDP a.example.com;branch=z9hG4bK1;received=203.0.113.1", inbound)
                == .address(.init(.udp, "192.0.2.9", 5060), from: local))
        #expect(
            try destination("SIP/2.0/TCP a.example.com:5080;branch=z9hG4bK1", inboundTCP)
                == .connection(ConnectionID(rawValue: 4), fallback: .init(.tcp, "192.0.2.9", 5080)))
    }

    @Test("MS-SIPRE: a client with an epid is told its port and its connection in Via; others, and those over UDP, are not")
    func receivedConnection() throws {
        func via(_ from: String, _ message: (String) -> InboundMessage) throws -> Via? {
            var layer = layer()
            let text = requestText().replacing(
                "SIP/2.0/UDP edge.contoso.com:5060;branch=z9hG4bKabc;rport", with: "SIP/2.0/TCP a.example.com;branch=z9hG4bK1"
            )
            .replacing(";tag=", with: from + ";tag=")
            return try #require(delivered(layer.receive(message(text), at: start))).0.headers.topVia
        }
        let told = try via(";epid=e1", inboundTCP)
        #expect(told?.parameters["ms-received-cid"] == "4" && told?.parameters["ms-received-port"] == "40001")
        #expect(try via("", inboundTCP)?.parameters["ms-received-cid"] == nil)
        #expect(try via(";epid=e1", inbound)?.parameters["ms-received-cid"] == nil)
    }

    @Test("RFC 3261 8.2.2.2 a merged request is answered 482 while the first is going on")
    func merged() throws {
        var layer = layer()
        #expect(delivered(layer.receive(inbound(requestText()), at: start)) != nil)
        let copy = requestText().replacing("z9hG4bKabc", with: "z9hG4bKdef")
        #expect(sent(layer.receive(inbound(copy), at: start)).map(\.status) == [.loopDetected])
        let inDialog = copy.replacing("To: <sip:alice@example.org>", with: "To: <sip:alice@example.org>;tag=x")
        #expect(delivered(layer.receive(inbound(inDialog), at: start)) != nil)
    }

    @Test("more server transactions than the limit are answered 503 with Retry-After")
    func overload() {
        var layer = layer(serverLimit: 1)
        _ = layer.receive(inbound(requestText()), at: start)
        let other = requestText().replacing("z9hG4bKabc", with: "z9hG4bKdef").replacing("c1@", with: "c2@")
        let responses = sent(layer.receive(inbound(other), at: start))
        #expect(responses.map(\.status) == [.serviceUnavailable])
        #expect(responses.first?.headers.retryAfter?.seconds == 5)
        #expect(layer.serverCount == 1)
        #expect(layer.takeTurnedAway() == 1)
        #expect(layer.takeTurnedAway() == 0, "told once")
    }

    @Test("one host has half of the server transactions at most, and gets its room back as they end; another has the rest")
    func hostShare() throws {
        var layer = layer(serverLimit: 4)
        func status(_ number: Int, from host: String = "192.0.2.20") -> SIPStatus? {
            let text = requestText().replacing("z9hG4bKabc", with: "z9hG4bK\(number)").replacing("c1@", with: "c\(number)@")
            var message = inbound(text)
            message.remote = TransportAddress(message.remote.transport, host, message.remote.port)
            return sent(layer.receive(message, at: start + .seconds(number))).first?.status
        }
        #expect([status(1), status(2), status(3)] == [nil, nil, .serviceUnavailable])
        #expect(
            [status(4, from: "192.0.2.30"), status(5, from: "192.0.2.30"), status(6, from: "192.0.2.30")] == [
                nil, nil, .serviceUnavailable,
            ])
        #expect(layer.serverCount == 4)
        _ = layer.advance(to: start + .seconds(400))
        #expect(layer.serverCount == 0)
        #expect([status(401), status(402), status(403)] == [nil, nil, .serviceUnavailable])
    }

    @Test("a request that is never answered is forgotten")
    func abandonment() {
        var layer = layer()
        _ = layer.receive(inbound(requestText()), at: start)
        #expect(layer.advance(to: start + .seconds(180)) == [])
        #expect(layer.serverCount == 0)
        #expect(layer.nextDeadline == nil)
    }

    @Test("RFC 3261 8.2.7 an INVITE is refused with 405 and Allow without state: the same answer for each copy, its ACK absorbed")
    func invite() throws {
        var layer = layer()
        let text = requestText("INVITE sip:alice@example.org SIP/2.0", cSeq: "1 INVITE")
        let responses = sent(layer.receive(inbound(text), at: start))
        #expect(responses.map(\.status) == [.methodNotAllowed])
        #expect(responses.first?.headers.allow.contains(.subscribe) == true)
        #expect(sent(layer.receive(inbound(text), at: start)) == responses)
        let ack = text.replacing("INVITE sip:", with: "ACK sip:").replacing("1 INVITE", with: "1 ACK")
        #expect(layer.receive(inbound(ack), at: start) == [.dropped(.ack)])
        #expect(layer.nextDeadline == nil, "it is not sent again")
        #expect(layer.serverCount == 0)
        let other = sent(layer.receive(inbound(text.replacing("z9hG4bKabc", with: "z9hG4bKdef")), at: start))
        #expect(other.first?.headers.toTag != responses.first?.headers.toTag)
    }

    @Test(
        "RFC 3261 20.43, MS-OCER: the refusal of an INVITE over TCP says that this node carries presence only; over UDP it stays small",
        arguments: [true, false])
    func presenceOnly(isReliable: Bool) throws {
        var layer = layer()
        layer.configuration.node = "edge1.example.net"
        let text = requestText("INVITE sip:alice@example.org SIP/2.0", cSeq: "1 INVITE")
        let bytes = isReliable ? text.replacing("SIP/2.0/UDP", with: "SIP/2.0/TCP") : text
        let response = try #require(sent(layer.receive(isReliable ? inboundTCP(bytes) : inbound(bytes), at: start)).first)
        #expect(response.status == .methodNotAllowed)
        let warning = response.headers.values(.warning).first ?? ""
        #expect(warning.contains("399 edge1.example.net \"this node carries presence only") == isReliable)
        #expect((response.headers.msDiagnostics?.errorID == 1_405) == isReliable)
    }

    @Test("RFC 3261 9.2 CANCEL is answered and changes nothing")
    func cancel() throws {
        var layer = layer()
        let (request, id) = try #require(delivered(layer.receive(inbound(requestText()), at: start)))
        let cancel = requestText("CANCEL sip:alice@example.org SIP/2.0", cSeq: "1 CANCEL")
        #expect(sent(layer.receive(inbound(cancel), at: start)).map(\.status) == [.ok])
        #expect(
            sent(layer.receive(inbound(cancel.replacing("abc", with: "zzz")), at: start)).map(\.status) == [.callOrTransactionDoesNotExist])
        #expect(layer.respond(id, SIPResponse(to: request, status: .ok), at: start).count == 1)
    }

    @Test("MS-SIP 3.5 BENOTIFY makes no transaction in either direction")
    func benotify() {
        var layer = layer()
        let text = requestText("BENOTIFY sip:bob@192.0.2.1 SIP/2.0", cSeq: "5 BENOTIFY")
        guard case .deliverUnanswered(let request, _)? = layer.receive(inbound(text), at: start).first else {
            Issue.record("not delivered")
            return
        }
        #expect(request.method == .benotify)
        var own = notify
        own.method = .benotify
        own.headers[.cSeq] = "1 BENOTIFY"
        #expect(layer.sendUnanswered(own, to: .address(remote, from: nil), over: .udp).count == 1)
        #expect(layer.serverCount + layer.clientCount == 0)
        #expect(layer.nextDeadline == nil)
        #expect(sent(layer.receive(inbound(text.replacing("5 BENOTIFY", with: "5 NOTIFY")), at: start)).isEmpty)
    }

    @Test("RFC 3261 17.1.3 a response goes to its request once, copies and strangers nowhere")
    func client() throws {
        var layer = layer()
        let (id, actions) = layer.send(notify, to: .address(remote, from: nil), over: .udp, at: start)
        guard case .send(let message)? = actions.first else {
            Issue.record("not sent")
            return
        }
        let via = try #require(SIPParser.parse(message.bytes).request?.headers.topVia)
        #expect(via.branch?.hasPrefix("z9hG4bKs3-") == true)
        #expect(via.wantsRport && via.rport == nil)
        #expect(layer.advance(to: start + .milliseconds(500)) == [.send(message)])
        let ok = try answer(to: message, .ok)
        #expect(layer.receive(inbound(ok.replacing("192.0.2.1:5060", with: "192.0.2.2:5060")), at: start) == [.dropped(.foreignSentBy)])
        #expect(layer.receive(inbound(ok.replacing("1 NOTIFY", with: "1 SUBSCRIBE")), at: start) == [.dropped(.strayResponse)])
        guard case .response(let answered, let response, _)? = layer.receive(inbound(ok), at: start + .seconds(1)).first else {
            Issue.record("not delivered")
            return
        }
        #expect(answered == id)
        #expect(response.status == .ok)
        #expect(layer.receive(inbound(ok), at: start + .seconds(2)) == [.dropped(.copy)])
        #expect(layer.advance(to: start + .seconds(6)) == [])
        #expect(layer.clientCount == 0)
        #expect(layer.receive(inbound(ok), at: start + .seconds(7)) == [.dropped(.strayResponse)])
    }

    @Test("RFC 3261 17.1.4 timeouts, failed messages and closed connections are reported once")
    func clientFailures() {
        var layer = layer()
        let (first, _) = layer.send(notify, to: .address(remote, from: nil), over: .tcp, at: start)
        #expect(layer.advance(to: start + .seconds(32)) == [.timeout(first)])
        let (second, actions) = layer.send(notify, to: .address(remote, from: nil), over: .tcp, at: start)
        guard case .send(let message)? = actions.first else {
            Issue.record("not sent")
            return
        }
        let notice = TransportNotice.failed(token: message.token, reason: "refused")
        #expect(layer.receive(notice, at: start) == [.transportFailed(second, reason: "refused")])
        #expect(layer.receive(notice, at: start) == [])
        let connection = ConnectionID(rawValue: 8)
        let (third, _) = layer.send(notify, to: .connection(connection, fallback: nil), over: .tcp, at: start)
        #expect(layer.receive(.closed(connection), at: start) == [.transportFailed(third, reason: "connection closed")])
        #expect(layer.clientCount == 0)
        #expect(layer.nextDeadline == nil)
    }

    @Test("more client transactions than the limit fail at once")
    func clientLimit() {
        var layer = layer(clientLimit: 1)
        _ = layer.send(notify, to: .address(remote, from: nil), over: .tcp, at: start)
        let (id, actions) = layer.send(notify, to: .address(remote, from: nil), over: .tcp, at: start)
        #expect(actions == [.transportFailed(id, reason: "transaction limit")])
        #expect(layer.takeTurnedAway() == 1)
    }

    @Test("a malformed request is answered, a malformed response is not")
    func malformed() {
        var layer = layer()
        let bad = layer.receive(inbound(requestText(cSeq: "1 NOTIFY")), at: start)
        #expect(sent(bad).map(\.status) == [.badRequest])
        guard case .send(let message)? = bad.last else {
            Issue.record("no answer")
            return
        }
        #expect(message.destination == .address(remote, from: local))
        #expect(sent(layer.receive(inbound(requestText("SIP/2.0 999 X")), at: start)).isEmpty)
        #expect(sent(layer.receive(inbound(requestText("SUBSCRIBE sip:a@b SIP/7.0")), at: start)).map(\.status) == [.versionNotSupported])
    }
}
