import PresenceGateway
import SIPCore
import Testing

/// Requests whose bodies have a Content-Encoding (RFC 3261 20.12), as Linphone sends its contact list.
@Suite struct ContentEncodingTests {
    static let bare = "bare"

    /// The octets of a body in one of three forms.
    static func encode(_ text: String, _ form: String) -> [UInt8] {
        switch form {
        case "gzip": ContentCoding.gzip.encode(Array(text.utf8))
        case bare: Array(ContentCoding.deflate.encode(Array(text.utf8)).dropFirst(2).dropLast(4))
        default: ContentCoding.deflate.encode(Array(text.utf8))
        }
    }

    /// Sends a message as it would be written without coding, with its body encoded.
    func send(_ text: String, as form: String, _ bench: Bench, from peer: TransportAddress, body: [UInt8]? = nil) throws {
        guard case .success(.request(var request)) = SIPParser.parse(Array(text.utf8)) else {
            Issue.record("the test's own message cannot be read")
            return
        }
        request.body = body ?? Self.encode(String(decoding: request.body, as: UTF8.self), form)
        request.headers.set(.contentEncoding, form == Self.bare ? "deflate" : form)
        request.headers.set(.contentLength, String(request.body.count))
        bench.send(octets: SIPSerializer.serialize(request), from: peer)
    }

    func publish(_ bench: Bench, _ text: String, as form: String, body: [UInt8]? = nil) throws {
        let head =
            "PUBLISH sip:carol@example.com SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.30:5060;branch=z9hG4bKe\(bench.number())\r\n"
            + "Max-Forwards: 70\r\nFrom: <sip:carol@example.com>;tag=p\r\nTo: <sip:carol@example.com>\r\nCall-ID: e\(bench.number())\r\n"
            + "CSeq: 1 PUBLISH\r\nEvent: presence\r\nContent-Type: application/pidf+xml\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
        try send(head + text, as: form, bench, from: Bench.endpoint, body: body)
    }

    @Test(
        "RFC 3261 20.12 gzip and deflate of a PUBLISH are taken, deflate with the zlib format and bare",
        arguments: ["gzip", "deflate", bare])
    func published(form: String) throws {
        let bench = Bench()
        try bench.watch("carol@example.com")
        _ = try bench.notified()
        try publish(bench, Bench.pidf("carol@example.com"), as: form)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        #expect(try bench.notified() == ["carol@example.com active open"])
    }

    @Test("RFC 5367: a list in the body of a SUBSCRIBE may be encoded", arguments: ["gzip", "deflate", bare])
    func list(form: String) throws {
        let bench = ListWatcherTests.bench()
        let text = bench.subscribe(
            "dan@example.org", to: ListWatcherTests.server, accept: ListWatcherTests.accept, extra: ListWatcherTests.required,
            body: ListWatcherTests.body(["quiet@example.com"]), contentType: "application/resource-lists+xml", via: Bench.simple)
        try send(text, as: form, bench, from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try ListWatcherTests.notified(bench).first?.entries == ["quiet@example.com active"])
    }

    func bridged(_ bench: Bench, as form: String, body: [UInt8]? = nil, cSeq: Int = 1, _ upstream: SIPRequest) throws {
        let document = Bench.pidf("alice@example.org", activity: "meeting")
        let contact = upstream.headers.contact?.uri.description ?? ""
        let text =
            "NOTIFY \(contact) SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKe\(bench.number())\r\nMax-Forwards: 70\r\n"
            + "From: <sip:alice@example.org>;tag=far\(upstream.headers.fromTag ?? "")\r\nTo: \(upstream.headers.first(.from) ?? "")\r\n"
            + "Call-ID: \(upstream.headers.callID ?? "")\r\nCSeq: \(cSeq) NOTIFY\r\nContact: <sip:192.0.2.20:5060>\r\nEvent: presence\r\n"
            + "Subscription-State: active;expires=3600\r\nContent-Type: application/pidf+xml\r\n"
            + "Content-Length: \(document.utf8.count)\r\n\r\n"
        try send(text + document, as: form, bench, from: Bench.simple, body: body)
    }

    @Test("RFC 3261 20.12 an encoded NOTIFY is read; one of another coding is 415, and what is known is asked for anew")
    func notified() throws {
        let bench = Bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        try bridged(bench, as: "gzip", upstream)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies().last?.text.contains("<availability>6500</availability>") == true)

        try bridged(bench, as: "br", body: [1, 2, 3], cSeq: 2, upstream)
        var refused: SIPResponse?
        var refresh: SIPRequest?
        while !bench.isQuiet(at: Bench.simple) {
            switch try bench.next(at: Bench.simple) {
            case .response(let response): refused = response
            case .request(let request): refresh = request
            }
        }
        #expect(refused?.status.rawValue == 415 && refused?.headers.first(.acceptEncoding) == "gzip, deflate, identity")
        #expect(refresh?.method == .subscribe)
    }

    @Test("RFC 3261 21.4.11 a body that grows beyond body-bytes is 413, 8.2.3 an unknown coding 415, damaged octets 400")
    func refusals() throws {
        let bench = Bench()
        let bomb = ContentCoding.gzip.encode([UInt8](repeating: 0x20, count: 16 << 20))
        try publish(bench, "x", as: "gzip", body: bomb)
        _ = try bench.nextResponse(413, at: Bench.endpoint)
        #expect(bench.gateway.counters.limitsReached == 1)
        try publish(bench, "x", as: "br")
        #expect(try bench.nextResponse(415, at: Bench.endpoint).headers.first(.acceptEncoding) == "gzip, deflate, identity")
        try publish(bench, "x", as: "gzip", body: Array("<presence/>".utf8))
        _ = try bench.nextResponse(400, at: Bench.endpoint)
        try publish(bench, "x", as: "deflate", body: Array(Self.encode(Bench.pidf("carol@example.com"), "deflate").dropLast(6)))
        _ = try bench.nextResponse(400, at: Bench.endpoint)
    }

    @Test("RFC 3261 11.2 OPTIONS names the codings")
    func options() throws {
        let bench = Bench()
        bench.send(
            "OPTIONS sip:edge1.example.net SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKo1\r\nMax-Forwards: 70\r\n"
                + "From: <sip:ann@example.org>;tag=o\r\nTo: <sip:edge1.example.net>\r\nCall-ID: o1\r\nCSeq: 1 OPTIONS\r\n"
                + "Content-Length: 0\r\n\r\n", from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.first(.acceptEncoding) == "gzip, deflate, identity")
    }
}
