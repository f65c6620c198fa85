import Testing

@testable import SIPCore

/// Responses of which only success counts are matched without parsing; the result must equal that of parsing.
@Suite struct BriefAnswerTests {
    private let start = Instant(secondsSince1970: 1_000)
    private let local = TransportAddress(.tcp, "192.0.2.1", 5060)
    private let remote = TransportAddress(.tcp, "192.0.2.9", 40_001)

    private func layer() -> TransactionLayer {
        TransactionLayer(
            configuration: .init(sentBy: [.tcp: .init("gw.Example.net", 5060)]), tokens: TokenGenerator(seed: 7, prefix: "s03"))
    }

    private func inbound(_ bytes: [UInt8]) -> InboundMessage {
        InboundMessage(bytes: bytes, local: local, remote: remote, connection: ConnectionID(rawValue: 4))
    }

    private func send(_ layer: inout TransactionLayer, isBrief: Bool) throws -> (ClientTransactionID, SIPRequest) {
        let (id, actions) = layer.send(
            notify, to: .connection(ConnectionID(rawValue: 4), fallback: remote), over: .tcp, isBrief: isBrief, at: start)
        guard case .send(let message)? = actions.first else { throw Missing() }
        return (id, try #require(SIPParser.parse(message.bytes, framing: .stream).request))
    }

    private struct Missing: Error {}

    @Test("a 2xx to a request of which only the success counts is told without its headers, once")
    func brief() throws {
        var layer = layer()
        let (id, request) = try send(&layer, isBrief: true)
        var answer = SIPResponse(to: request, status: .accepted)
        answer.headers.append(.server, "example")
        let actions = layer.receive(inbound(answer.serialized()), at: start)
        guard case .response(let found, let response, let source)? = actions.first else { throw Missing() }
        #expect(found == id && response.status == .accepted && response.headers.isEmpty && source.remote == remote)
        #expect(layer.clientCount == 0)
        #expect(layer.receive(inbound(answer.serialized()), at: start) == [.dropped(.strayResponse)])
    }

    @Test("RFC 6665 4.4.1: an answer that names a new Contact, and every refusal, is told whole")
    func whole() throws {
        for change in [("contact", "<sip:bob@192.0.2.77>"), ("m", "<sip:bob@192.0.2.77>")] {
            var layer = layer()
            let (_, request) = try send(&layer, isBrief: true)
            var answer = SIPResponse(to: request, status: .ok)
            answer.headers.append(SIPHeaderName(change.0), change.1)
            guard case .response(_, let response, _)? = layer.receive(inbound(answer.serialized()), at: start).first else {
                throw Missing()
            }
            #expect(response.headers.contact?.uri.host == "192.0.2.77")
        }
        var layer = layer()
        let (_, request) = try send(&layer, isBrief: true)
        var refusal = SIPResponse(to: request, status: .serviceUnavailable)
        refusal.headers.append(.retryAfter, "7")
        guard case .response(_, let response, _)? = layer.receive(inbound(refusal.serialized()), at: start).first else { throw Missing() }
        #expect(response.headers.retryAfter?.seconds == 7)
    }

    @Test("RFC 3261 17.1.3: whatever is done to an answer, the brief way finds the transaction exactly when the whole way does")
    func sameAsReading() throws {
        var random = TokenGenerator(seed: 41)
        var answered = 0
        for _ in 0..<4_000 {
            var layers = (layer(), layer())
            let (_, request) = try send(&layers.0, isBrief: true)
            let (_, same) = try send(&layers.1, isBrief: false)
            #expect(request == same)
            var bytes = SIPResponse(to: request, status: .ok).serialized()
            for _ in 0..<random.number(below: 3) {
                let place = Int(random.number(below: UInt64(bytes.count)))
                switch random.number(below: 4) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.insert([0x20, 0x2C, 0x3B, 0x0D, 0x0A, 0x41][Int(random.number(below: 6))], at: place)
                case 2: bytes.remove(at: place)
                default: bytes.insert(contentsOf: Array("Via: SIP/2.0/TCP x;branch=y\r\n".utf8), at: place)
                }
            }
            func isAnswered(_ actions: [TransactionAction]) -> Bool {
                actions.contains { if case .response(_, let response, _) = $0 { response.status.isSuccess } else { false } }
            }
            let brief = isAnswered(layers.0.receive(inbound(bytes), at: start))
            let whole = isAnswered(layers.1.receive(inbound(bytes), at: start))
            if whole { answered += 1 }
            // The full parser also sees errors in other fields and then refuses the message; the response belongs to this request
            // all the same.
            guard whole != brief else { continue }
            #expect(
                brief && SIPParser.parse(bytes, framing: .stream).response == nil, "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(answered > 1_000)
    }

    @Test("RFC 3261 17.1.4: the end of a connection ends its transactions, in whatever order others were answered, and no other")
    func connections() throws {
        let other = ConnectionID(rawValue: 5)
        for seed in 0..<50 {
            var random = TokenGenerator(seed: UInt64(seed))
            var layer = layer()
            var waiting: [(id: ClientTransactionID, request: SIPRequest)] = []
            for _ in 0..<Int(random.number(below: 12)) { waiting.append(try send(&layer, isBrief: true)) }
            let (kept, _) = layer.send(notify, to: .connection(other, fallback: nil), over: .tcp, isBrief: true, at: start)
            for _ in 0..<waiting.count where random.number(below: 2) == 0 {
                let (id, request) = waiting.remove(at: Int(random.number(below: UInt64(waiting.count))))
                let actions = layer.receive(inbound(SIPResponse(to: request, status: .ok).serialized()), at: start)
                guard case .response(id, _, _)? = actions.first else { throw Missing() }
            }
            // A connection that the transport chose counts as the named one.
            let (chosen, _) = layer.send(notify, to: .address(remote, from: nil), over: .tcp, isBrief: true, at: start)
            _ = layer.receive(.carried(token: chosen.rawValue, by: .connection(ConnectionID(rawValue: 4))), at: start)
            let ended = (waiting.map(\.id) + [chosen]).sorted { $0.rawValue < $1.rawValue }
            #expect(
                layer.receive(.closed(ConnectionID(rawValue: 4)), at: start)
                    == ended.map { .transportFailed($0, reason: "connection closed") })
            #expect(layer.clientCount == 1 && layer.receive(.closed(ConnectionID(rawValue: 4)), at: start).isEmpty)
            #expect(layer.receive(.closed(other), at: start) == [.transportFailed(kept, reason: "connection closed")])
            #expect(layer.clientCount == 0)
        }
    }

    @Test("a sealed request is the request with the Via in front, and its places are those of its values")
    func sealed() throws {
        var request = notify
        request.headers.append(.via, "SIP/2.0/TCP 192.0.2.77;branch=z9hG4bKinner")
        request.body = Array("a body".utf8)
        for id in [nil, 1 << 63 | 7 << 32 | 12, UInt64.max, 0, 31, 32] as [UInt64?] {
            var tokens = TokenGenerator(seed: 7, prefix: "s03")
            var same = tokens
            let branch = same.branch() + (id.map { "." + String($0, radix: 32) } ?? "")
            let sealed = SIPSerializer.seal(
                request, under: OwnVia(.tcp, .init("gw.Example.net", 5060), isAlias: false), tokens.branch(of: id))
            var expected = request
            expected.headers.prepend(.via, "SIP/2.0/TCP gw.example.net:5060;branch=" + branch)
            #expect(sealed.bytes == expected.serialized())
            func text(_ place: SealedRequest.Place) -> String { String(decoding: sealed.bytes[place.range], as: UTF8.self) }
            #expect(text(sealed.places.method) == "NOTIFY" && text(sealed.places.sentBy) == "gw.example.net:5060")
            #expect(text(sealed.places.branch) == branch && text(sealed.places.from) == request.headers.first(.from))
            #expect(text(sealed.places.callID) == request.headers.first(.callID))
            let found = sealed.bytes.withUnsafeBufferPointer { Branch.id($0, sealed.places.branch.range) }
            #expect(found == id)
        }
        for text in ["", "z9hG4bK", ".", "z9hG4bK.", "z9hG4bK.w", "z9hG4bK.A", "z9hG4bK.g000000000000", "z9hG4bK.10000000000000"] {
            #expect(Array(text.utf8).withUnsafeBufferPointer { Branch.id($0, 0..<$0.count) } == nil, "\(text)")
        }
    }

    @Test("octets are equal if all are, at every length and place")
    func equality() {
        let octets = (0..<64).map { UInt8($0) }
        octets.withUnsafeBufferPointer { one in
            for start in 0..<9 {
                for count in 0..<40 {
                    #expect(one.isEqual(start..<start + count, to: one, start..<start + count))
                    #expect(!one.isEqual(start..<start + count, to: one, start..<start + count + 1))
                    for index in 0..<count {
                        var other = octets
                        other[start + index] ^= 1
                        #expect(!other.withUnsafeBufferPointer { one.isEqual(start..<start + count, to: $0, start..<start + count) })
                    }
                }
            }
            #expect(!one.isEqual(60..<65, to: one, 60..<65))
        }
    }

    @Test("names of slots are never used twice, and an old one finds nothing")
    func slots() {
        var table = SlotTable<Int>()
        var names: Set<UInt64> = []
        var live: [UInt64] = []
        var random = TokenGenerator(seed: 5)
        for number in 0..<10_000 {
            let next = table.nextName
            let name = table.insert(number)
            #expect(name == next && table[name] == number)
            #expect(names.insert(name).inserted)
            live.append(name)
            if random.number(below: 2) == 0 {
                let gone = live.remove(at: Int(random.number(below: UInt64(live.count))))
                #expect(table.remove(gone) && table[gone] == nil && !table.remove(gone))
            }
        }
        #expect(table.count == live.count && live.allSatisfy { table[$0] != nil })
        for name in live { _ = table.remove(name) }
        #expect(table.count == 0 && table[names.first ?? 1] == nil)
    }
}
