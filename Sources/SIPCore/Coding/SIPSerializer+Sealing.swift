/// A request as it is sent, under a Via of this node, and the places of the values that its response repeats (RFC 3261 8.2.6.2).
///
///     NOTIFY sip:… SIP/2.0 | Via: SIP/2.0/TCP sent-by ;alias;branch= branch | … From: from | … Call-ID: call-id | … | body
///     ^method                                 ^sentBy                ^branch          ^from            ^callID
///
/// The request is not changed, and none of these values is copied: the transaction compares its responses with the octets that it keeps
/// for retransmission.
struct SealedRequest: Equatable, Sendable {
    /// Place of a value in ``bytes``; empty if the request has no such line.
    struct Place: Equatable, Sendable {
        private var start: UInt32 = 0
        private var end: UInt32 = 0

        init() {}

        init(_ range: Range<Int>) {
            start = UInt32(clamping: range.lowerBound)
            end = UInt32(clamping: range.upperBound)
        }

        var range: Range<Int> { Int(start)..<Int(end) }
    }

    /// The places of all values.
    struct Places: Equatable, Sendable {
        var method = Place()
        var sentBy = Place()
        var branch = Place()
        /// Whole value of the first From.
        var from = Place()
        /// Whole value of the first Call-ID.
        var callID = Place()
    }

    /// The octets of the request.
    let bytes: [UInt8]
    let places: Places
}

/// Branch of a Via: the cookie of RFC 3261 8.1.1.7, a prefix, and 128 random bits, which make it unguessable. The id of a transaction
/// follows them, so that a response finds it.
struct Branch {
    let prefix: String
    let words: (UInt64, UInt64)
    /// nil: the request has no transaction.
    let id: UInt64?

    static let cookie: StaticString = "z9hG4bK"
    /// Separates the id.
    static let dot: UInt8 = 0x2E

    /// Upper bound of its length.
    var capacity: Int { Self.cookie.utf8CodeUnitCount + prefix.utf8.count + 2 * TokenGenerator.digitsPerWord + 1 + 13 }

    /// Id at the end of a branch; nil if there is none.
    static func id(_ bytes: UnsafeBufferPointer<UInt8>, _ range: Range<Int>) -> UInt64? {
        var id: UInt64 = 0
        var index = range.upperBound
        var shift: UInt64 = 0
        while index > range.lowerBound {
            index -= 1
            let digit: UInt8
            switch bytes[index] {
            case dot: return shift > 0 ? id : nil
            case let byte where byte >= 0x30 && byte <= 0x39: digit = byte - 0x30
            case let byte where byte >= 0x61 && byte <= 0x76: digit = byte - 0x57
            default: return nil
            }
            guard shift < 60 || shift == 60 && digit < 16 else { return nil }
            id |= UInt64(digit) << shift
            shift += 5
        }
        return nil
    }
}

/// Beginning of the Via of this node for one transport: `SIP/2.0/TCP host:port;branch=`.
struct OwnVia: Sendable {
    let head: [UInt8]
    /// Place of `host:port` in ``head``.
    let sentBy: Range<Int>

    init(_ transport: TransportProtocol, _ local: TransactionLayer.HostPort, isAlias: Bool) {
        let via = Via(transport, host: local.host, port: local.port, branch: "")
        let wish = transport == .udp ? ";rport" : isAlias ? ";alias" : ""
        let start = "SIP/2.0/\(via.transportToken) ".utf8.count
        // A control character of a configured name must not begin another line.
        head = "SIP/2.0/\(via.transportToken) \(via.sentBy)\(wish);branch=".utf8.map { $0 < 0x20 ? 0x20 : $0 }
        sentBy = start..<start + via.sentBy.utf8.count
    }
}

extension SIPSerializer {
    /// Encodes a request under a Via, which precedes the Via lines that it has.
    static func seal(_ request: SIPRequest, under via: OwnVia, _ branch: Branch) -> SealedRequest {
        var places = SealedRequest.Places()
        let capacity =
            capacity(request.headers, request.body) + request.method.rawValue.utf8.count + request.requestURI.utf8.count + via.head.count
            + branch.capacity
        let bytes = [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var writer = ByteWriter(buffer)
            appendStartLine(of: request, to: &writer)
            places.method = .init(0..<min(request.method.rawValue.utf8.count, writer.count))
            let entries = request.headers.entries
            let place = entries.firstIndex { $0.known == .via } ?? 0
            request.headers.storage.withUnsafeBufferPointer { storage in
                for index in 0...entries.count {
                    if index == place { append(via, branch, to: &writer, &places) }
                    guard index < entries.count else { break }
                    let end = appendField(entries[index], storage, to: &writer)
                    switch entries[index].known {
                    case .from where places.from.range.isEmpty:
                        places.from = .init(end - Int(entries[index].valueLength)..<end)
                    case .callID where places.callID.range.isEmpty:
                        places.callID = .init(end - Int(entries[index].valueLength)..<end)
                    default: break
                    }
                }
            }
            appendEnd(request.body, to: &writer)
            count = writer.count
        }
        return SealedRequest(bytes: bytes, places: places)
    }

    private static func append(_ via: OwnVia, _ branch: Branch, to writer: inout ByteWriter, _ places: inout SealedRequest.Places) {
        writer.append("Via: ")
        let start = writer.count
        via.head.withUnsafeBufferPointer { writer.append($0) }
        places.sentBy = .init(start + via.sentBy.lowerBound..<start + via.sentBy.upperBound)
        let beginning = writer.count
        writer.append(Branch.cookie)
        for byte in branch.prefix.utf8 { writer.append(byte) }
        TokenGenerator.digits(branch.words.0) { writer.append($0) }
        TokenGenerator.digits(branch.words.1) { writer.append($0) }
        if let id = branch.id {
            writer.append(Branch.dot)
            writer.append(base32: id)
        }
        places.branch = .init(beginning..<writer.count)
        writer.append("\r\n")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Whether two ranges have the same octets; the time depends on the length alone, so that it does not tell how much of a secret was
    /// guessed.
    func isEqual(_ range: Range<Int>, to other: UnsafeBufferPointer<UInt8>, _ otherRange: Range<Int>) -> Bool {
        guard range.count == otherRange.count, range.lowerBound >= 0, range.upperBound <= count, otherRange.lowerBound >= 0,
            otherRange.upperBound <= other.count, let one = UnsafeRawPointer(baseAddress), let two = UnsafeRawPointer(other.baseAddress)
        else { return range.isEmpty && otherRange.isEmpty }
        let left = one + range.lowerBound
        let right = two + otherRange.lowerBound
        var difference: UInt64 = 0
        var index = 0
        while index &+ 8 <= range.count {
            difference |=
                left.loadUnaligned(fromByteOffset: index, as: UInt64.self) ^ right.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < range.count {
            difference |=
                UInt64(left.load(fromByteOffset: index, as: UInt8.self) ^ right.load(fromByteOffset: index, as: UInt8.self))
            index &+= 1
        }
        return difference == 0
    }
}
