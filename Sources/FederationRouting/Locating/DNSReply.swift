import SIPCore

/// Parses a DNS reply (RFC 1035 4.1) as the answer to one question: follows aliases within the reply and computes the
/// lifetime. Names, lengths, records and compression pointers are bounded, because the bytes are untrusted.
public enum DNSReply {
    /// Longest chain of aliases; a longer one is treated as a loop.
    static let aliasLimit = 8
    private static let recordLimit = 512

    /// Returns the answer to a question; `failed` for a malformed reply, a server failure or an alias loop.
    /// - Parameter bytes: the message without the length prefix of TCP.
    public static func answer(to question: NameQuestion, in bytes: [UInt8]) -> NameAnswer {
        var reader = DNSReader(bytes)
        guard let head = reader.head(), head.isResponse else { return NameAnswer(.failed(.malformed)) }
        switch head.code {
        case 0, 3: break
        case 5: return NameAnswer(.failed(.refused))
        default: return NameAnswer(.failed(.serverFailure))
        }
        for _ in 0..<head.questions {
            guard reader.name() != nil, reader.skip(4) else { return NameAnswer(.failed(.malformed)) }
        }
        var found = Found(question)
        let counts = [head.answers, head.authorities]
        guard counts.reduce(0, +) <= recordLimit else { return NameAnswer(.failed(.malformed)) }
        for (section, count) in counts.enumerated() {
            for _ in 0..<count {
                guard let record = reader.record() else { return NameAnswer(.failed(.malformed)) }
                found.take(record, isAuthority: section == 1, from: reader)
            }
        }
        return found.answer(noSuchName: head.code == 3)
    }

    /// The name in the question section of a reply; nil if there is none or it is malformed.
    public static func askedName(in bytes: [UInt8]) -> String? {
        var reader = DNSReader(bytes)
        guard let head = reader.head(), head.questions > 0 else { return nil }
        return reader.name()
    }

    /// The records of a reply that matter for the question.
    private struct Found {
        let question: NameQuestion
        var records: [String: [NameRecord]] = [:]
        var lifetimes: [String: Int] = [:]
        var aliases: [String: String] = [:]
        /// Lifetime of a negative answer in seconds, from the SOA record (RFC 2308 5).
        var absence: Int?

        init(_ question: NameQuestion) { self.question = question }

        mutating func take(_ record: DNSReader.Record, isAuthority: Bool, from reader: DNSReader) {
            var data = reader
            data.place = record.data.lowerBound
            guard record.isInternet else { return }
            if isAuthority {
                guard record.type == 6, data.name() != nil, data.name() != nil, data.skip(16), let minimum = data.word() else { return }
                absence = min(record.lifetime, minimum)
            } else if record.type == 5 {
                guard let target = data.name(), aliases[record.owner] == nil else { return }
                aliases[record.owner] = target
                shorten(record)
            } else if record.type == question.kind.rawValue, let value = data.value(question.kind, end: record.data.upperBound) {
                records[record.owner, default: []].append(value)
                shorten(record)
            }
        }

        private mutating func shorten(_ record: DNSReader.Record) {
            lifetimes[record.owner] = min(lifetimes[record.owner] ?? .max, record.lifetime)
        }

        func answer(noSuchName: Bool) -> NameAnswer {
            var name = question.name
            var lifetime: Int?
            for _ in 0...DNSReply.aliasLimit {
                if let own = lifetimes[name] { lifetime = min(lifetime ?? .max, own) }
                if let list = records[name], !list.isEmpty {
                    return NameAnswer(.records(list), timeToLive: lifetime.map { .seconds($0) })
                }
                guard let next = aliases[name] else {
                    let absence = absence.map { TimeSpan.seconds(min($0, lifetime ?? .max)) }
                    if noSuchName { return NameAnswer(.noSuchName, timeToLive: absence) }
                    // Without a SOA record the server has stated nothing about the end of the alias chain.
                    if name != question.name, absence == nil { return NameAnswer(.alias(name), timeToLive: lifetime.map { .seconds($0) }) }
                    return NameAnswer(.noData, timeToLive: absence)
                }
                name = next
            }
            return NameAnswer(.failed(.aliasLoop))
        }
    }
}

/// A read position in a DNS message.
struct DNSReader {
    struct Head {
        var isResponse: Bool
        var code: UInt8
        var questions: Int
        var answers: Int
        var authorities: Int
    }

    struct Record {
        var owner: String
        var type: UInt16
        var isInternet: Bool
        /// Lifetime in seconds; a value with the highest bit set counts as 0 (RFC 2181 8).
        var lifetime: Int
        var data: Range<Int>
    }

    private let bytes: [UInt8]
    var place = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func head() -> Head? {
        guard bytes.count >= 12 else { return nil }
        place = 12
        func half(_ at: Int) -> Int { Int(bytes[at]) << 8 | Int(bytes[at + 1]) }
        return Head(
            isResponse: bytes[2] & 0x80 != 0, code: bytes[3] & 0x0F, questions: half(4), answers: half(6), authorities: half(8))
    }

    mutating func skip(_ count: Int) -> Bool {
        guard bytes.count - place >= count else { return false }
        place += count
        return true
    }

    private mutating func half() -> UInt16? {
        guard bytes.count - place >= 2 else { return nil }
        defer { place += 2 }
        return UInt16(bytes[place]) << 8 | UInt16(bytes[place + 1])
    }

    /// Reads 32 bits as seconds, with the rule of RFC 2181 8.
    mutating func word() -> Int? {
        guard let high = half(), let low = half() else { return nil }
        return high & 0x8000 != 0 ? 0 : Int(high) << 16 | Int(low)
    }

    mutating func record() -> Record? {
        guard let owner = name(), let type = half(), let category = half(), let lifetime = word(), let length = half(),
            bytes.count - place >= Int(length)
        else { return nil }
        let data = place..<(place + Int(length))
        place = data.upperBound
        return Record(owner: owner, type: type, isInternet: category == 1, lifetime: lifetime, data: data)
    }

    /// Reads a name in lower case without the final dot (RFC 1035 4.1.4); nil if it is truncated, longer than 255 octets,
    /// or has a pointer that does not lead backwards.
    mutating func name() -> String? {
        var text: [UInt8] = []
        var at = place
        var end: Int?
        while true {
            guard at < bytes.count else { return nil }
            let length = Int(bytes[at])
            switch length >> 6 {
            case 0:
                at += 1
                if length == 0 {
                    place = end ?? at
                    return String(decoding: text, as: UTF8.self)
                }
                guard bytes.count - at >= length, text.count + length < 255 else { return nil }
                if !text.isEmpty { text.append(UInt8(ascii: ".")) }
                for byte in bytes[at..<(at + length)] {
                    // Bytes that no host name contains become `?`, so that the name equals no name that is looked up.
                    guard byte > 0x20, byte < 0x7F, byte != UInt8(ascii: ".") else {
                        text.append(UInt8(ascii: "?"))
                        continue
                    }
                    text.append((0x41...0x5A).contains(byte) ? byte | 0x20 : byte)
                }
                at += length
            case 3:
                guard at + 1 < bytes.count else { return nil }
                let goal = (length & 0x3F) << 8 | Int(bytes[at + 1])
                if end == nil { end = at + 2 }
                guard goal < at else { return nil }
                at = goal
            default: return nil
            }
        }
    }

    /// Reads a character-string (RFC 1035 3.3).
    private mutating func string() -> String? {
        guard place < bytes.count else { return nil }
        let length = Int(bytes[place])
        guard bytes.count - place - 1 >= length else { return nil }
        defer { place += 1 + length }
        return String(decoding: bytes[(place + 1)..<(place + 1 + length)], as: UTF8.self)
    }

    /// Reads record data of a type; nil unless it ends exactly at `end`.
    mutating func value(_ kind: NameQuestion.Kind, end: Int) -> NameRecord? {
        let value: NameRecord?
        switch kind {
        case .a: value = address(4)
        case .aaaa: value = address(16)
        case .srv:
            guard let priority = half(), let weight = half(), let port = half(), let host = name() else { return nil }
            value = .service(ServiceRecord(priority: priority, weight: weight, port: port, host: host))
        case .naptr:
            guard let order = half(), let preference = half(), let flags = string(), let service = string(), let expression = string(),
                let replacement = name(), expression.isEmpty
            else { return nil }
            value = .pointer(
                NamingPointer(
                    order: order, preference: preference, flags: flags.lowercased(), service: service.uppercased(),
                    replacement: replacement))
        }
        return place == end ? value : nil
    }

    private mutating func address(_ count: Int) -> NameRecord? {
        guard bytes.count - place >= count else { return nil }
        defer { place += count }
        let octets = bytes[place..<(place + count)]
        return .address(count == 4 ? octets.map { String($0) }.joined(separator: ".") : IPv6Text.text(Array(octets)))
    }
}

/// The text form of IPv6 addresses (RFC 5952 4).
enum IPv6Text {
    /// - Parameter octets: 16 octets.
    static func text(_ octets: [UInt8]) -> String {
        let groups = stride(from: 0, to: 16, by: 2).map { UInt16(octets[$0]) << 8 | UInt16(octets[$0 + 1]) }
        var longest = 0..<0
        var start = 0
        while start < 8 {
            guard groups[start] == 0 else {
                start += 1
                continue
            }
            let end = groups[start...].firstIndex { $0 != 0 } ?? 8
            if end - start > longest.count { longest = start..<end }
            start = end
        }
        func hexadecimal(_ part: Range<Int>) -> String { groups[part].map { String($0, radix: 16) }.joined(separator: ":") }
        guard longest.count > 1 else { return hexadecimal(0..<8) }
        return hexadecimal(0..<longest.lowerBound) + "::" + hexadecimal(longest.upperBound..<8)
    }
}
