import NIOCore
import SIPCore
import Testing

@testable import SIPTransport

@Suite(.timeLimit(.minutes(10))) struct LargeRequestRuleTests {
    @Test("RFC 3261 18.1.1 a request beyond 1300 octets goes over TCP and its Via says so") func overTCP() async throws {
        let echo = try await EchoServer()
        let peer = try PlainSocket(.tcpListener)
        let text = request(body: String(repeating: "z", count: 1_300))
        try await echo.look { endpoint, _ in
            endpoint.send(text, to: .address(TransportAddress(.udp, "127.0.0.1", peer.port), from: nil))
        }
        let received = try peer.accept().receive(until: "zzz\(String(repeating: "z", count: 1_297))")
        #expect(received == text.replacingFirst("SIP/2.0/UDP", "SIP/2.0/TCP"))
        await echo.server.stop()
    }

    @Test("RFC 3261 18.1.1 a peer that refuses TCP gets the request over UDP after all") func fallsBack() async throws {
        let echo = try await EchoServer()
        let refusing = try PlainSocket(.tcpClosed)
        let peer = try PlainSocket(.udp, port: refusing.port)
        let text = request(body: String(repeating: "z", count: 1_300))
        try await echo.look { endpoint, _ in
            endpoint.send(text, to: .address(TransportAddress(.udp, "127.0.0.1", peer.port), from: nil))
        }
        #expect(try peer.receive() == text)
        #expect(refusing.port == peer.port)
        await echo.server.stop()
    }

    @Test("small requests, responses, and peers configured as UDP-only stay on UDP") func staysOnUDP() {
        var options = TransportOptions()
        let only = TransportAddress(.udp, "192.0.2.7", 5060)
        let other = TransportAddress(.udp, "192.0.2.8", 5060)
        options.datagramOnlyPeers = [only]
        let rule = LargeRequestRule(options: options)
        let large = OutboundMessage(
            bytes: Array(request(body: String(repeating: "z", count: 1_300)).utf8), destination: .address(other, from: nil))
        let small = OutboundMessage(bytes: Array(request().utf8), destination: .address(other, from: nil))
        let response = OutboundMessage(
            bytes: Array(("SIP/2.0 200 OK\r\nVia: SIP/2.0/UDP a\r\n\r\n" + String(repeating: "z", count: 1_300)).utf8),
            destination: .address(other, from: nil))
        #expect(rule.moved(large, to: other, at: .uptimeNanoseconds(0)) != nil)
        #expect(rule.moved(large, to: only, at: .uptimeNanoseconds(0)) == nil)
        #expect(rule.moved(small, to: other, at: .uptimeNanoseconds(0)) == nil)
        #expect(rule.moved(response, to: other, at: .uptimeNanoseconds(0)) == nil)
    }

    @Test("only the topmost Via changes, in its compact form too", arguments: ["Via", "v", "VIA ", "via\t"])
    func topmostVia(name: String) throws {
        let text = "OPTIONS sip:a SIP/2.0\r\nTo: <sip:a>\r\n\(name): SIP / 2.0 / UDP a\r\nVia: SIP/2.0/UDP b\r\n\r\n"
        let moved = try #require(LargeRequestRule.withViaOverTCP(Array(text.utf8)))
        #expect(String(decoding: moved, as: UTF8.self) == text.replacingFirst("UDP a", "TCP a"))
    }
}

extension String {
    func replacingFirst(_ wanted: String, _ replacement: String) -> String {
        guard let range = self.firstRange(of: wanted) else { return self }
        return replacingCharacters(in: range, with: replacement)
    }

    private func firstRange(of wanted: String) -> Range<String.Index>? {
        var at = startIndex
        while at < endIndex {
            if self[at...].hasPrefix(wanted) { return at..<index(at, offsetBy: wanted.count) }
            at = index(after: at)
        }
        return nil
    }

    private func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }
}
