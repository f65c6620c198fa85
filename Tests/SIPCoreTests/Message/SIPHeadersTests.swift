import Testing

@testable import SIPCore

@Suite struct SIPHeadersTests {
    @Test("RFC 3261 7.3.1 header names compare without regard to case, compact forms equal long ones")
    func names() {
        #expect(SIPHeaderName("cAlL-iD") == .callID)
        #expect(SIPHeaderName("i") == .callID)
        #expect(SIPHeaderName("O") == .event)
        #expect(SIPHeaderName("X-Odd") == SIPHeaderName("x-oDD"))
        #expect(SIPHeaderName("X-Odd") != SIPHeaderName("X-Odds"))
        for known in KnownHeader.allCases where known != .unknown {
            let name = HeaderTable.shared.name(known)
            #expect(!name.isEmpty)
            #expect(SIPHeaderName(name.uppercased()).known == known)
        }
    }

    @Test("lines keep their order and unknown names their spelling")
    func order() {
        var headers = SIPHeaders()
        headers.append("X-First", "1")
        headers.append(.via, "SIP/2.0/TCP a.example.com;branch=z9hG4bK1")
        headers.append("x-first", "2")
        headers.prepend(.via, "SIP/2.0/TCP b.example.com;branch=z9hG4bK2")
        #expect(
            headers.lines.map(\.value) == [
                "1", "SIP/2.0/TCP b.example.com;branch=z9hG4bK2", "SIP/2.0/TCP a.example.com;branch=z9hG4bK1", "2",
            ])
        #expect(headers.lines[3].name.description == "x-first")
        #expect(headers.values("X-FIRST") == ["1", "2"])
        headers["X-First"] = "3"
        #expect(headers.values("X-First") == ["3"])
        headers["X-First"] = nil
        #expect(!headers.contains("X-First"))
        #expect(headers.topVia?.branch == "z9hG4bK2")
    }

    @Test("RFC 3261 7.3.1 lists split at commas outside quotes and brackets only")
    func lists() {
        var headers = SIPHeaders()
        headers.append(.route, "\"a, b\" <sip:one.example.com;lr>, <sip:two.example.com;x=a%2Cb>")
        headers.append(.route, "<sip:a,b@three.example.com>,,")
        #expect(headers.list(.route).count == 3)
        #expect(headers.routes.map(\.uri.host) == ["one.example.com", "two.example.com", "three.example.com"])
        headers.append(.authorization, "Digest realm=\"a\", nonce=\"b\"")
        #expect(headers.list(.authorization).count == 1)
        #expect(headers.removeFirstValue(.route) == "\"a, b\" <sip:one.example.com;lr>")
        #expect(headers.routes.count == 2)
        headers.append(.supported, "eventlist,  MS-benotify;x=1")
        #expect(headers.hasToken(.supported, "ms-benotify"))
        #expect(!headers.hasToken(.supported, "ms-ben"))
    }

    @Test("a given value cannot start another header")
    func injection() {
        var headers = SIPHeaders()
        headers.append(.subject, "hello\r\nX-Evil: 1\u{0}")
        #expect(headers.first(.subject) == "hello  X-Evil: 1 ")
        headers.append("Bad Name\r\n", "x")
        #expect(headers.count == 1)
    }
}
