import SIPCore

extension FuzzTarget {
    private static let messageSeeds = ["Tests/Torture/rfc4475", "Tests/Torture/rfc5118", "Vectors/sip"]

    static let messages = [
        FuzzTarget("sip-datagram", seeds: messageSeeds) { check($0, framing: .datagram) },
        FuzzTarget("sip-message-of-stream", seeds: messageSeeds) { check($0, framing: .stream) },
        FuzzTarget("sip-stream", seeds: messageSeeds) { bytes in
            // Whole input and single octets must give the same events.
            var whole = StreamFramer()
            whole.append(bytes)
            var expected: [StreamFramer.Event] = []
            while let event = whole.next() { expected.append(event) }
            var slow = StreamFramer()
            var events: [StreamFramer.Event] = []
            for byte in bytes {
                slow.append(CollectionOfOne(byte))
                while let event = slow.next() { events.append(event) }
            }
            require(expected.compactMap(\.message) == events.compactMap(\.message), "octet by octet the messages are others")
        },
        FuzzTarget("content-coding", seeds: ["Fuzz/Seeds/content-coding"]) { bytes in
            // The first octet chooses the coding; what is decoded stays below the limit, and what is encoded decodes to itself.
            let coding = ContentCoding.allCases[Int(bytes.first ?? 0) % ContentCoding.allCases.count]
            let body = Array(bytes.dropFirst())
            let limit = 65_536
            if let decoded = try? ContentCoding.decode(body, codings: [coding.rawValue], limit: limit) {
                require(coding == .identity || decoded.count <= limit, "more was decoded than is allowed")
            }
            require(
                (try? ContentCoding.decode(coding.encode(body), codings: [coding.rawValue], limit: limit)) == body, "the octets are others")
        },
        FuzzTarget("multipart", seeds: ["Fuzz/Seeds/multipart"]) { bytes in
            // The first line is the boundary, so that the fuzzer can change both.
            let line = bytes.prefix { $0 != 0x0A }
            guard let type = MediaType("multipart/related;boundary=\"\(String(decoding: line, as: UTF8.self))\"") else { return }
            guard let body = try? MIMEMultipart(Array(bytes.dropFirst(line.count + 1)), contentType: type) else { return }
            _ = body.root
            _ = try? body.leaves()
            for part in body.parts { _ = (part.contentType, part.contentID) }
        },
    ]

    private static func check(_ bytes: [UInt8], framing: SIPParser.Framing) {
        guard case .success(let message) = SIPParser.parse(bytes, framing: framing) else { return }
        let headers = message.headers
        _ = (headers.vias, headers.from, headers.to, headers.fromTag, headers.toTag, headers.callID, headers.cSeq, headers.maxForwards)
        _ = (headers.event, headers.subscriptionState, headers.expires, headers.minExpires, headers.accept, headers.contentType)
        _ = (headers.retryAfter, headers.warnings, headers.reasons, headers.msDiagnostics, headers.supported, headers.require)
        if case .request(let request) = message {
            _ = request.uri
            _ = Dialog(accepting: request, localTag: "t")
            _ = SIPSerializer.serialize(SIPResponse(to: request, status: .ok, toTag: "t"))
        }
        let written = SIPSerializer.serialize(message)
        guard case .success(let again) = SIPParser.parse(written, framing: framing) else {
            // Line ends and compact forms may exceed a limit; other refusals are findings.
            return require(written.count > SIPLimits.standard.headerBytes, "what was written is not read: \(written)")
        }
        require(again.body == message.body, "the body is another")
    }
}

extension StreamFramer.Event {
    fileprivate var message: [UInt8]? { if case .message(let bytes) = self { bytes } else { nil } }
}

extension FuzzTarget {
    static let headers = [
        header("via") { Via($0)?.description },
        header("name-addr") { NameAddr($0)?.description },
        header("uri") { SIPURI($0)?.description },
        header("cseq") { CSeq($0)?.description },
        header("event") { Event($0)?.description },
        header("subscription-state") { SubscriptionState($0)?.description },
        header("media-type") { MediaType($0)?.description },
        header("retry-after") { RetryAfter($0)?.description },
        header("warning") { Warning($0)?.description },
        header("reason") { Reason($0)?.description },
        header("ms-diagnostics") { MSDiagnostics($0)?.description },
    ]

    /// Every parsed header must be written as text that parses to the same value.
    private static func header(_ name: String, _ rewrite: @escaping @Sendable (String) -> String?) -> FuzzTarget {
        FuzzTarget("header-\(name)", seeds: ["Fuzz/Seeds/headers/\(name)"]) { bytes in
            guard let written = rewrite(String(decoding: bytes, as: UTF8.self)) else { return }
            require(rewrite(written) == written, "\(name) is written as what reads otherwise: \(written)")
        }
    }
}
