import Testing

@testable import SIPCore

@Suite struct SIPParserTests {
    @Test("RFC 3261 7 a request is taken apart and written again")
    func request() throws {
        let extra = "Event: presence;id=7\nAccept: application/pidf+xml, text/*;q=0.5\nX-Odd: \u{e9}\n"
        let request = try #require(SIPParser.parse(wire(requestText(extra: extra, body: "abc"))).request)
        #expect(request.method == .subscribe)
        #expect(request.uri.aorKey == "sip:alice@example.org")
        #expect(request.headers.from?.displayName == "Bob")
        #expect(request.headers.fromTag == "f1")
        #expect(request.headers.toTag == nil)
        #expect(request.headers.cSeq == CSeq(1, .subscribe))
        #expect(request.headers.event?.id == "7")
        #expect(request.headers.accept.map(\.quality) == [1000, 500])
        #expect(request.headers.topVia?.wantsRport == true)
        #expect(request.headers["x-odd"] == "\u{e9}")
        #expect(request.body == Array("abc".utf8))
        #expect(SIPParser.parse(request.serialized()).request == request)
    }

    @Test("RFC 3261 7.2 a response is taken apart and written again")
    func response() throws {
        let text = requestText("SIP/2.0 489 Bad Event", extra: "Allow-Events: presence\n")
        let response = try #require(SIPParser.parse(wire(text)).response)
        #expect(response.status == .badEvent)
        #expect(response.reason == "Bad Event")
        #expect(response.method == .subscribe)
        #expect(SIPParser.parse(response.serialized()).response == response)
        #expect(SIPParser.parse(wire(requestText("SIP/2.0 200"))).response?.reason == "")
    }

    @Test("RFC 3261 7.3.1 folded lines are unfolded, bare LF is tolerated")
    func folding() throws {
        let text = requestText(extra: "Subject: one\n  two\n\tthree\n")
        let request = try #require(SIPParser.parse(wire(text)).request)
        #expect(request.headers.first(.subject) == "one two three")
        #expect(SIPParser.parse(Array(text.utf8)).request == request)
        #expect(!String(decoding: request.serialized(), as: UTF8.self).contains("\r\n "))
    }

    @Test("RFC 3261 7.1 the method is exact")
    func method() throws {
        let request = try #require(SIPParser.parse(wire(requestText("INVITEX sip:a@example.org SIP/2.0", cSeq: "1 INVITEX"))).request)
        #expect(request.method != .invite)
        #expect(!request.method.isKnown)
        #expect(SIPParser.parse(wire(requestText("subscribe sip:a@example.org SIP/2.0"))).failure?.reason.contains("CSeq") == true)
    }

    @Test("RFC 3261 18.3 Content-Length rules")
    func contentLength() {
        func message(_ length: String, _ body: String) -> [UInt8] {
            wire(requestText().replacing("Content-Length: 0\n", with: length) + body)
        }
        #expect(SIPParser.parse(message("l: 3\n", "abcdef")).request?.body == Array("abc".utf8))
        #expect(SIPParser.parse(message("", "abc")).request?.body == Array("abc".utf8))
        #expect(SIPParser.parse(message("Content-Length: 4\n", "abc")).failure?.code == .contentLength)
        #expect(SIPParser.parse(message("Content-Length: -3\n", "abc")).failure?.code == .contentLength)
        #expect(SIPParser.parse(message("Content-Length: 99999999999999999999999\n", "abc")).failure?.code == .contentLength)
        #expect(SIPParser.parse(message("Content-Length: 3\nl: 3\n", "abc")).failure?.code == .duplicateHeader)
        #expect(SIPParser.parse(message("", "abc"), framing: .stream).failure?.code == .contentLength)
        #expect(
            SIPParser.parse(message("Content-Length: 3\n", "abc"), limits: SIPLimits(bodyBytes: 2)).failure?.status
                == .requestEntityTooLarge)
    }

    @Test("a refused request can be answered when it has a Via, which the answer repeats")
    func answerToRefused() throws {
        let error = try #require(SIPParser.parse(wire(requestText(cSeq: "1 NOTIFY"))).failure)
        let response = try #require(error.response(toTag: "t1"))
        #expect(response.status == .badRequest)
        #expect(response.headers.callID == "c1@edge.contoso.com")
        #expect(response.headers.toTag == "t1")
        #expect(SIPParser.parse(response.serialized()).response != nil)
        let unroutable = try #require(SIPParser.parse(wire(requestText().replacing("Via: SIP/2.0", with: "Via: junk"))).failure)
        #expect(unroutable.response(toTag: "t1")?.headers.first(.via)?.hasPrefix("junk") == true)
        let nowhere = try #require(SIPParser.parse(wire(requestText().replacing("Via: SIP/2.0", with: "Vias: junk"))).failure)
        #expect(nowhere.response(toTag: "t1") == nil)
        let answer = try #require(SIPParser.parse(wire(requestText("SIP/2.0 999 What"))).failure)
        #expect(answer.response(toTag: "t1") == nil)
    }

    @Test("limits are answered, not exceeded")
    func limits() {
        let many = String(repeating: "X: 1\n", count: 300)
        #expect(SIPParser.parse(wire(requestText(extra: many))).failure?.status == .messageTooLarge)
        let long = "X: " + String(repeating: "y", count: 70_000) + "\n"
        #expect(SIPParser.parse(wire(requestText(extra: long))).failure?.status == .messageTooLarge)
        #expect(SIPParser.parse([]).failure?.code == .empty)
    }

    @Test("the serialiser writes nothing that starts another header")
    func injection() throws {
        var request = try #require(SIPParser.parse(wire(requestText())).request)
        request.requestURI = "sip:a@example.org SIP/2.0\r\nX-Evil: 1"
        request.headers[.subject] = "a\r\nX-Evil: 2"
        let text = String(decoding: request.serialized(), as: UTF8.self)
        #expect(!text.contains("\nX-Evil"))
        let response = SIPResponse(to: request, status: .ok, reason: "OK\r\nX-Evil: 3", toTag: "a\r\nX-Evil: 4")
        #expect(!String(decoding: response.serialized(), as: UTF8.self).contains("\nX-Evil"))
    }

    @Test("RFC 3261 8.2.6.2 an answer copies what it must")
    func answer() throws {
        let extra =
            "Record-Route: <sip:p1.example.org;lr>, <sip:p2.example.org;lr>\nVia: SIP/2.0/TCP second.example.org\nContact: <sip:b@contoso.com>\n"
        let request = try #require(SIPParser.parse(wire(requestText(extra: extra))).request)
        let ok = SIPResponse(to: request, status: .ok, toTag: "t9")
        #expect(ok.headers.vias.count == 2)
        #expect(ok.headers.recordRoutes.count == 2)
        #expect(ok.headers.toTag == "t9")
        #expect(ok.headers.cSeq == CSeq(1, .subscribe))
        #expect(!ok.headers.contains(.contact) && !ok.headers.contains(.maxForwards))
        #expect(SIPResponse(to: request, status: .forbidden, toTag: "t9").headers.recordRoutes.isEmpty)
        #expect(SIPResponse(to: request, status: .trying, toTag: "t9").headers.toTag == nil)
        let again = try #require(
            SIPParser.parse(wire(requestText().replacing("To: <sip:alice@example.org>", with: "To: sip:alice@example.org;tag=x"))).request)
        #expect(SIPResponse(to: again, status: .ok, toTag: "t9").headers.toTag == "x")
    }

    @Test("mutated messages never trap, and what is read can be written and read again")
    func mutation() {
        var random = TokenGenerator(seed: 4475)
        let seeds = [
            wire(requestText(extra: "Event: presence\nContact: <sip:b@contoso.com>;q=0.5\nm: *\nSupported: a,b\n", body: "<x/>")),
            wire(requestText("SIP/2.0 200 OK", extra: "Record-Route: <sip:p;lr>\nSubject: a\n b\n")),
        ]
        for round in 0..<4000 {
            var bytes = seeds[round % 2]
            for _ in 0..<(1 + random.number(below: 6)) {
                let index = Int(random.number(below: UInt64(bytes.count)))
                switch random.number(below: 4) {
                case 0: bytes[index] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: index)
                case 2: bytes.insert(Array("\r\n :;,<>\"@%\0".utf8)[Int(random.number(below: 12))], at: index)
                default: bytes.removeSubrange(index..<min(bytes.count, index + Int(random.number(below: 30))))
                }
                if bytes.isEmpty { bytes = [0x0A] }
            }
            switch SIPParser.parse(bytes) {
            case .success(let message):
                _ = (message.headers.contacts, message.headers.routes, message.headers.accept, message.headers.event, message.headers.vias)
                if message.headers.lines.allSatisfy({ !$0.value.utf8.contains(0) }) {
                    #expect((try? SIPParser.parse(SIPSerializer.serialize(message)).get()) == message)
                }
            case .failure(let error):
                _ = error.response(toTag: "t")?.serialized()
            }
        }
    }
}
