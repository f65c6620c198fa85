@testable import FederationRouting
import SIPCore
import Testing

/// Writes replies octet by octet, as servers do.
struct ReplyWriter {
    private var sections: [[[UInt8]]] = [[], [], []]
    var code: UInt8 = 0
    var question = NameQuestion(.srv, "_sip._udp.example.org")

    static func name(_ text: String) -> [UInt8] {
        text.split(separator: ".").flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) } + [0]
    }

    static func half(_ value: Int) -> [UInt8] { [UInt8(value >> 8 & 255), UInt8(value & 255)] }

    mutating func add(_ owner: [UInt8], type: Int, timeToLive: Int, data: [UInt8], section: Int = 0) {
        let life = Self.half(timeToLive >> 16) + Self.half(timeToLive & 0xFFFF)
        sections[section].append(owner + Self.half(type) + Self.half(1) + life + Self.half(data.count) + data)
    }

    mutating func srv(_ owner: String, _ priority: Int, _ weight: Int, _ port: Int, _ host: String, timeToLive: Int = 300) {
        let data = Self.half(priority) + Self.half(weight) + Self.half(port) + Self.name(host)
        add(Self.name(owner), type: 33, timeToLive: timeToLive, data: data)
    }

    mutating func soa(_ zone: String, timeToLive: Int, minimum: Int) {
        let numbers = [UInt8](repeating: 0, count: 16) + Self.half(minimum >> 16) + Self.half(minimum & 0xFFFF)
        add(
            Self.name(zone), type: 6, timeToLive: timeToLive, data: Self.name("ns.example.org") + Self.name("hm.example.org") + numbers,
            section: 1)
    }

    var bytes: [UInt8] {
        [0x12, 0x34, 0x81, 0x80 | code] + Self.half(1) + sections.flatMap { Self.half($0.count) }
            + Self.name(question.name) + Self.half(Int(question.kind.rawValue)) + Self.half(1) + sections.flatMap { $0.flatMap { $0 } }
    }

    var answer: NameAnswer { DNSReply.answer(to: question, in: bytes) }
}

@Suite struct DNSReplyTests {
    @Test("RFC 2782: SRV records are read with the shortest of their lifetimes")
    func srv() {
        var reply = ReplyWriter()
        reply.srv("_SIP._udp.Example.ORG", 10, 60, 5060, "Edge1.example.org", timeToLive: 300)
        reply.srv("_sip._udp.example.org", 20, 0, 5070, "edge2.example.org", timeToLive: 120)
        #expect(
            reply.answer
                == NameAnswer(
                    .records([
                        .service(ServiceRecord(priority: 10, weight: 60, port: 5060, host: "edge1.example.org")),
                        .service(ServiceRecord(priority: 20, weight: 0, port: 5070, host: "edge2.example.org")),
                    ]), timeToLive: .seconds(120)))
    }

    @Test("RFC 1035 4.1.4: compressed names are read, pointers that lead forwards or in a circle are not")
    func compression() {
        var reply = ReplyWriter()
        // The question's name stands at octet 12; its label example.org at 22.
        reply.add([0xC0, 12], type: 33, timeToLive: 60, data: [0, 1, 0, 2, 0x13, 0xC4, 1, 0x61, 0xC0, 22])
        #expect(
            reply.answer.outcome == .records([.service(ServiceRecord(priority: 1, weight: 2, port: 5_060, host: "a.example.org"))]))
        let start = reply.bytes.count - 22
        for hopTarget in [start, start + 4] {
            var circle = ReplyWriter()
            circle.add([0xC0, UInt8(hopTarget)], type: 33, timeToLive: 60, data: [0, 1, 0, 2, 0x13, 0xC4, 1, 0x61, 0])
            #expect(circle.answer.outcome == .failed(.malformed))
        }
    }

    @Test("RFC 3403 4.1: NAPTR records are read; those with a regular expression are left out")
    func naptr() {
        var reply = ReplyWriter()
        reply.question = NameQuestion(.naptr, "example.org")
        let service = [1, 0x53, 8] + Array("sips+d2t".utf8)
        reply.add(
            ReplyWriter.name("example.org"), type: 35, timeToLive: 60,
            data: [0, 10, 0, 20] + service + [0] + ReplyWriter.name("_sips._tcp.example.org"))
        reply.add(ReplyWriter.name("example.org"), type: 35, timeToLive: 60, data: [0, 10, 0, 20] + service + [1, 0x21, 0])
        #expect(
            reply.answer.outcome
                == .records([
                    .pointer(
                        NamingPointer(order: 10, preference: 20, flags: "s", service: "SIPS+D2T", replacement: "_sips._tcp.example.org"))
                ]))
    }

    @Test("addresses of both families are read, IPv6 in the form of RFC 5952")
    func addresses() {
        var reply = ReplyWriter()
        reply.question = NameQuestion(.aaaa, "h.example.org")
        for octets: [UInt8] in [
            [0x20, 0x01, 0x0D, 0xB8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [UInt8](repeating: 0, count: 16),
            [0x20, 0x01, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1], [0, 1, 0, 0, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7],
        ] { reply.add(ReplyWriter.name("h.example.org"), type: 28, timeToLive: 9, data: octets) }
        let texts = ["2001:db8::1", "::", "2001:0:0:1::1", "1:0:2:3:4:5:6:7"]
        #expect(reply.answer.outcome == .records(texts.map { .address($0) }))
        reply = ReplyWriter()
        reply.question = NameQuestion(.a, "h.example.org")
        reply.add(ReplyWriter.name("h.example.org"), type: 1, timeToLive: 9, data: [192, 0, 2, 255])
        reply.add(ReplyWriter.name("h.example.org"), type: 1, timeToLive: 9, data: [192, 0, 2])
        #expect(reply.answer.outcome == .records([.address("192.0.2.255")]))
    }

    @Test("RFC 1034 3.6.2: aliases within an answer are followed with the shortest lifetime; circles and long chains are refused")
    func aliases() {
        func chain(_ length: Int, closed: Bool = false) -> ReplyWriter {
            var reply = ReplyWriter()
            for place in 0..<length {
                let owner = place == 0 ? reply.question.name : "n\(place).example.org"
                let hopTarget = closed && place == length - 1 ? reply.question.name : "n\(place + 1).example.org"
                reply.add(ReplyWriter.name(owner), type: 5, timeToLive: 100 - place, data: ReplyWriter.name(hopTarget))
            }
            reply.srv("n\(length).example.org", 1, 1, 5060, "h.example.org")
            return reply
        }
        #expect(chain(3).answer.timeToLive == .seconds(98))
        guard case .records(let records) = chain(3).answer.outcome else {
            Issue.record("no records")
            return
        }
        #expect(records.count == 1)
        #expect(chain(20).answer.outcome == .failed(.aliasLoop))
        #expect(chain(2, closed: true).answer.outcome == .failed(.aliasLoop))
    }

    @Test("an alias that leads out of the answer is said so")
    func alias() {
        var reply = ReplyWriter()
        reply.add(ReplyWriter.name(reply.question.name), type: 5, timeToLive: 77, data: ReplyWriter.name("_sip._udp.example.net"))
        #expect(reply.answer == NameAnswer(.alias("_sip._udp.example.net"), timeToLive: .seconds(77)))
    }

    @Test("RFC 2308 5: an absence holds for the lesser of the SOA's lifetime and its minimum")
    func absence() {
        var reply = ReplyWriter()
        reply.soa("example.org", timeToLive: 3_600, minimum: 300)
        #expect(reply.answer == NameAnswer(.noData, timeToLive: .seconds(300)))
        reply.code = 3
        #expect(reply.answer == NameAnswer(.noSuchName, timeToLive: .seconds(300)))
        reply = ReplyWriter()
        #expect(reply.answer == NameAnswer(.noData))
    }

    @Test("RFC 2181 8: a lifetime with its highest bit set counts as 0")
    func hugeLifetime() {
        var reply = ReplyWriter()
        reply.srv(reply.question.name, 1, 1, 5060, "h.example.org", timeToLive: 0x8000_0001)
        #expect(reply.answer.timeToLive == .zero)
    }

    @Test("records of other names do not count")
    func foreignRecords() {
        var reply = ReplyWriter()
        reply.srv("_sip._udp.example.com", 1, 1, 5060, "evil.example.com")
        #expect(reply.answer.outcome == .noData)
    }

    @Test(
        "what the server could not do is told apart",
        arguments: [(UInt8(2), NameFailure.serverFailure), (5, .refused), (4, .serverFailure)])
    func codes(code: UInt8, failure: NameFailure) {
        var reply = ReplyWriter()
        reply.code = code
        #expect(reply.answer.outcome == .failed(failure))
    }

    @Test("a reply cut off anywhere, and one with any octet changed, is read without harm")
    func damaged() {
        var reply = ReplyWriter()
        reply.add(ReplyWriter.name(reply.question.name), type: 5, timeToLive: 77, data: ReplyWriter.name("n.example.org"))
        reply.srv("n.example.org", 1, 1, 5060, "h.example.org")
        reply.soa("example.org", timeToLive: 3_600, minimum: 300)
        let whole = reply.bytes
        for length in 0..<whole.count {
            #expect(DNSReply.answer(to: reply.question, in: Array(whole[..<length])).outcome == .failed(.malformed))
        }
        var random = TokenGenerator(seed: 5)
        var kinds: Set<String> = []
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0..<3 { bytes[Int(random.number(below: UInt64(bytes.count)))] = UInt8(truncatingIfNeeded: random.next()) }
            kinds.insert("\(DNSReply.answer(to: reply.question, in: bytes).outcome)".prefix(8).description)
        }
        #expect(kinds.count > 2)
    }
}
