import Testing

@testable import SIPCore

@Suite struct InboundMessageTests {
    private let local = TransportAddress(.udp, "192.0.2.1", 5060)
    private let remote = TransportAddress(.udp, "192.0.2.9", 40_000)

    private func inbound(_ text: String) -> InboundMessage { InboundMessage(bytes: wire(text), local: local, remote: remote) }

    /// Address of the octets of a request's body, which parsing copies.
    private func storage(_ request: SIPRequest) -> UnsafePointer<UInt8>? { request.body.withUnsafeBufferPointer { $0.baseAddress } }

    @Test("a transaction layer takes the parse that a message has kept") func kept() throws {
        var message = inbound(requestText(body: "abc"))
        let parsed = try #require(message.parse().request)
        #expect(message.isParsed)
        #expect(storage(try #require(message.parse().request)) == storage(parsed))
        var layer = TransactionLayer(configuration: .init(sentBy: [:]), tokens: TokenGenerator(seed: 7))
        guard case .deliver(let request, _, _)? = layer.receive(message, at: Instant(secondsSince1970: 1_000)).first else {
            Issue.record("not delivered")
            return
        }
        #expect(storage(request) == storage(parsed))
        #expect(parsed.headers.topVia?.received == nil)
    }

    @Test("a kept parse is no part of equality, and does not serve other limits") func equality() {
        let plain = inbound(requestText(body: "abc"))
        var message = plain
        #expect(message.parse(limits: SIPLimits(bodyBytes: 2)).failure?.code == .tooLarge)
        #expect(message == plain && Set([message, plain]).count == 1)
        #expect(message.parsed(limits: .standard).request?.body == Array("abc".utf8))
        #expect(message.parse().request?.body == Array("abc".utf8))
        #expect(message.parse(limits: SIPLimits(bodyBytes: 2)).failure?.code == .tooLarge)
    }

    @Test("RFC 3261 18.3 only a datagram may be without Content-Length") func framing() {
        let bytes = wire(requestText().replacing("Content-Length: 0\n", with: ""))
        var datagram = InboundMessage(bytes: bytes, local: local, remote: remote)
        #expect(datagram.parse().request != nil)
        var stream = InboundMessage(bytes: bytes, local: local, remote: TransportAddress(.tcp, "192.0.2.9", 40_000))
        #expect(stream.parse().failure != nil)
    }
}
