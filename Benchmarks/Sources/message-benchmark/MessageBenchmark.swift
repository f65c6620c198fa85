import Measurement
import Glibc
@_spi(TokenSource) import SIPCore

/// Measures SIP messages per second on one core, in memory.
@main
struct MessageBenchmark {
    static func main() {
        let arguments = Arguments()
        let benchmark = MessageBenchmark()
        if !arguments.profile(bodySizes.flatMap(benchmark.entries)) { benchmark.run(quick: arguments.isQuick) }
    }

    private static let bodySizes = [0, 1_493, 6_349]

    /// NOTIFY with 15 header lines, 612 octets without its body.
    static func notify(body: Int) -> [UInt8] {
        func message(_ filling: Int) -> [UInt8] {
            let text =
                "NOTIFY sip:alice@192.0.2.10:5061;transport=tls SIP/2.0\r\n"
                + "Via: SIP/2.0/TCP 192.0.2.20:5060;branch=z9hG4bK776asdhds3f4k2;rport\r\n"
                + "Max-Forwards: 70\r\n"
                + "Record-Route: <sip:proxy1.example.org;lr>\r\n"
                + "Route: <sip:edge1.example.net;lr>\r\n"
                + "From: <sip:bob@example.org>;tag=9fxced76sl\r\n"
                + "To: <sip:alice@contoso.com>;tag=a6c85cf\r\n"
                + "Call-ID: 3848276298220188511@host.example.org\r\n"
                + "CSeq: 20 NOTIFY\r\n"
                + "Contact: <sip:bob@192.0.2.20:5060;transport=tcp>\r\n"
                + "Event: presence\r\n"
                + "Subscription-State: active;expires=3549\r\n"
                + "Allow: SUBSCRIBE, NOTIFY, PUBLISH\r\n"
                + "User-Agent: agent/" + String(repeating: "1", count: filling) + "\r\n"
                + "Content-Type: application/pidf+xml\r\n"
                + "Content-Length: \(body)\r\n\r\n"
            return Array(text.utf8)
        }
        let head = message(max(1, 612 - message(0).count))
        return head + [UInt8](repeating: UInt8(ascii: "x"), count: body)
    }

    /// The message as BENOTIFY, which needs no transaction.
    private static func unanswered(_ message: [UInt8]) -> InboundMessage {
        let text = String(decoding: message, as: UTF8.self).replacing("NOTIFY sip:", with: "BENOTIFY sip:")
        return InboundMessage(
            bytes: Array(text.replacing("20 NOTIFY", with: "20 BENOTIFY").utf8), local: TransportAddress(.tcp, "192.0.2.10", 5060),
            remote: TransportAddress(.tcp, "192.0.2.20", 40_000), connection: ConnectionID(rawValue: 1))
    }

    /// Receives a message as an endpoint does, with or without a parse before it that selects the shard.
    private static func receive(_ message: InboundMessage, count: Int, isSelected: Bool) {
        var layer = TransactionLayer(configuration: .init(sentBy: [:]), tokens: TokenGenerator(key: TokenKey(7, 0, 0, 0)))
        for _ in 0..<count {
            var message = message
            if isSelected { keep(message.parse()) }
            let actions = layer.receive(message, at: Instant(secondsSince1970: 1_800_000_000))
            guard case .deliverUnanswered? = actions.first else { exit(1) }
        }
    }

    /// Frames input in reads of 64 KiB, parses and answers it; returns the number of octets of the responses.
    private static func answer(_ stream: [UInt8], _ framer: inout StreamFramer) -> Int {
        var written = 0
        framer.append(stream)
        while case .message(let bytes)? = framer.next() {
            guard case .success(.request(let request)) = SIPParser.parse(bytes, framing: .stream) else { exit(1) }
            guard request.headers.callID != nil, request.headers.cSeq != nil else { exit(1) }
            written += SIPResponse(to: request, status: .ok).serialized().count
        }
        return written
    }

    private func entries(_ size: Int) -> [Contest.Entry] {
        let message = Self.notify(body: size)
        let perRead = max(1, 65_536 / message.count)
        let stream = Array(repeatElement(message, count: perRead).joined())
        guard case .success(let parsed) = SIPParser.parse(message, framing: .stream), case .request(let request) = parsed else {
            print("message-benchmark: the message cannot be read")
            exit(1)
        }
        let unanswered = Self.unanswered(message)
        return [
            Contest.Entry("sip-\(size)/frame+parse+answer") { count in
                var framer = StreamFramer()
                var done = 0
                while done < count {
                    keep(Self.answer(stream, &framer))
                    done += perRead
                }
            },
            Contest.Entry("sip-\(size)/frame") { count in
                var framer = StreamFramer()
                var done = 0
                while done < count {
                    framer.append(stream)
                    while let event = framer.next() { keep(event) }
                    done += perRead
                }
            },
            Contest.Entry("sip-\(size)/parse") { count in
                for _ in 0..<count { keep(SIPParser.parse(message, framing: .stream)) }
            },
            Contest.Entry("sip-\(size)/answer") { count in
                for _ in 0..<count { keep(SIPResponse(to: request, status: .ok).serialized()) }
            },
            Contest.Entry("sip-\(size)/serialise") { count in
                for _ in 0..<count { keep(request.serialized()) }
            },
            Contest.Entry("sip-\(size)/receive") { Self.receive(unanswered, count: $0, isSelected: false) },
            Contest.Entry("sip-\(size)/select+receive") { Self.receive(unanswered, count: $0, isSelected: true) },
        ]
    }

    func run(quick: Bool) {
        var table = Table(
            "body octets", "frame+parse+answer", "of 400 k", "frame", "parse", "answer", "serialise", "receive", "select+receive")
        for size in Self.bodySizes {
            let results = Contest(entries(size)).run(quick: quick)
            table.add(
                String(size), perSecond(results[0].nanoseconds), text(1e9 / results[0].nanoseconds / 400_000) + "x",
                perSecond(results[1].nanoseconds), perSecond(results[2].nanoseconds), perSecond(results[3].nanoseconds),
                perSecond(results[4].nanoseconds), perSecond(results[5].nanoseconds), perSecond(results[6].nanoseconds))
        }
        table.show(title: "SIP messages per CPU second (NOTIFY, 15 header lines, 612 octets and a body)")
    }
}
