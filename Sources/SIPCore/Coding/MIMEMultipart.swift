/// Part of a multipart body (RFC 2046 5.1).
public struct MIMEPart: Equatable, Sendable {
    /// Header fields of the part.
    public var headers: SIPHeaders
    /// Octets of the content, without the empty line before it.
    public var body: [UInt8]

    /// Creates a part; by default without header fields and content.
    public init(headers: SIPHeaders = SIPHeaders(), body: [UInt8] = []) {
        self.headers = headers
        self.body = body
    }

    /// Creates a part with Content-Transfer-Encoding `binary`.
    /// - Parameter contentID: Content-ID without angle brackets.
    public init(contentType: MediaType, contentID: String? = nil, body: [UInt8]) {
        self.init(body: body)
        headers.append("Content-Transfer-Encoding", "binary")
        if let contentID { headers.append(.contentID, "<\(contentID)>") }
        headers.contentType = contentType
    }

    /// Media type of the content; nil when absent or malformed.
    public var contentType: MediaType? { headers.contentType }

    /// Content-ID without angle brackets (RFC 2392); nil when absent.
    public var contentID: String? {
        guard let text = headers.first(.contentID) else { return nil }
        return text.hasPrefix("<") && text.hasSuffix(">") ? String(text.dropFirst().dropLast()) : text
    }
}

/// Error of a multipart body; the sender is at fault.
public enum MIMEError: Error, Equatable, Sendable {
    /// The media type is not multipart or has no boundary of 1 to 70 characters.
    case noBoundary
    /// No delimiter line, or no closing one.
    case unterminated
    /// Malformed header fields in a part, or more than 64 of them.
    case malformedHeaders
    /// More parts or levels than the limit.
    case tooLarge
}

/// Multipart body (RFC 2046 5.1); `multipart/related` (RFC 2387) carries resource lists and category documents.
public struct MIMEMultipart: Equatable, Sendable {
    /// Subtype, such as `related`, `mixed` or `alternative`; in lower case when parsed.
    public var subtype: String
    /// Boundary without the leading hyphens.
    public var boundary: String
    /// Parts in order.
    public var parts: [MIMEPart]
    /// Other Content-Type parameters, such as `type` and `start` of RFC 2387.
    public var parameters: SIPParameters

    /// Creates a body.
    /// - Parameter boundary: A token; ``serialized()`` lengthens it while it occurs in a part.
    public init(subtype: String = "related", boundary: String, parts: [MIMEPart], parameters: SIPParameters = SIPParameters()) {
        self.subtype = subtype
        self.boundary = boundary
        self.parts = parts
        self.parameters = parameters
    }

    /// Part that `start` names, else the first (RFC 2387 3.2); nil without parts.
    public var root: MIMEPart? {
        if let start = parameters["start"] {
            let identifier = start.hasPrefix("<") && start.hasSuffix(">") ? String(start.dropFirst().dropLast()) : start
            if let part = part(contentID: identifier) { return part }
        }
        return parts.first
    }

    /// First part with this Content-ID, given without angle brackets; nil when there is none.
    public func part(contentID: String) -> MIMEPart? { parts.first { $0.contentID == contentID } }

    /// Parts that are not multipart, in order; nested bodies are opened down to `depth` levels. Throws `tooLarge` beyond `depth` or
    /// `partLimit`, or the error of a nested body.
    public func leaves(depth: Int = 4, partLimit: Int = 1000) throws(MIMEError) -> [MIMEPart] {
        var result: [MIMEPart] = []
        for part in parts {
            guard let type = part.contentType, ASCII.equal(type.type, "multipart") else {
                result.append(part)
                continue
            }
            guard depth > 1 else { throw .tooLarge }
            let nested = try MIMEMultipart(part.body, contentType: type, partLimit: partLimit)
            result += try nested.leaves(depth: depth - 1, partLimit: partLimit)
            if result.count > partLimit { throw .tooLarge }
        }
        return result
    }

    /// Parses a body; text before the first and after the closing delimiter is ignored. Throws ``MIMEError`` if the body is
    /// malformed or has more than `partLimit` parts.
    public init(_ body: [UInt8], contentType: MediaType, partLimit: Int = 1000) throws(MIMEError) {
        guard ASCII.equal(contentType.type, "multipart"), let boundary = contentType.parameters["boundary"],
            (1...70).contains(boundary.utf8.count)
        else { throw .noBoundary }
        subtype = ASCII.lowercased(contentType.subtype)
        self.boundary = boundary
        parameters = contentType.parameters
        parameters.remove("boundary")
        parts = []
        var partStart: Int?
        var isClosed = false
        for line in DelimiterLines(body, boundary: boundary) {
            if let partStart {
                guard parts.count < partLimit else { throw .tooLarge }
                parts.append(try Self.part(body, partStart..<max(partStart, line.contentEnd)))
            }
            partStart = line.next
            if line.isClosing {
                isClosed = true
                break
            }
        }
        guard isClosed else { throw .unterminated }
    }

    private static func part(_ body: [UInt8], _ range: Range<Int>) throws(MIMEError) -> MIMEPart {
        var entries: [SIPHeaders.Entry] = []
        var storage: [UInt8] = []
        var contentStart = range.lowerBound
        var isSound = true
        body.withUnsafeBufferPointer { bytes in
            var reader = HeaderBlockReader(bytes, from: range.lowerBound, to: range.upperBound)
            while true {
                switch reader.next() {
                case .field(let name, let value, let known, _):
                    let text = HeaderBlockReader.unfold(bytes, value)
                    entries.append(
                        SIPHeaders.Entry(
                            known: known, nameStart: UInt32(storage.count), nameLength: UInt32(name.count),
                            valueStart: UInt32(storage.count + name.count), valueLength: UInt32(text.count)))
                    storage.append(contentsOf: UnsafeBufferPointer(rebasing: bytes[name]))
                    storage += text
                    if entries.count > 64 {
                        isSound = false
                        return
                    }
                case .end:
                    contentStart = reader.position
                    return
                case .truncated:
                    // Header fields only, or nothing: an empty part.
                    contentStart = range.upperBound
                    isSound = reader.position >= range.upperBound
                    return
                case .malformed:
                    isSound = false
                    return
                }
            }
        }
        guard isSound else { throw .malformedHeaders }
        return MIMEPart(headers: SIPHeaders(storage: storage, entries: entries), body: Array(body[contentStart..<range.upperBound]))
    }

    /// Returns Content-Type and body.
    ///
    /// Each part ends with an empty line before the delimiter, because an old client of the enhanced model cuts the last four
    /// octets of every part. Parsing the body again yields each part with one more CRLF at its end.
    public func serialized() -> (contentType: MediaType, body: [UInt8]) {
        var boundary = self.boundary
        while parts.contains(where: { Self.contains($0.body, Array("--\(boundary)".utf8)) }) { boundary += "x" }
        var out: [UInt8] = []
        out.reserveCapacity(parts.reduce(64) { $0 + $1.body.count + 256 })
        for part in parts {
            out += "--\(boundary)\r\n".utf8
            out += SIPSerializer.fields(part.headers)
            out += [0x0D, 0x0A]
            out += part.body
            out += [0x0D, 0x0A, 0x0D, 0x0A]
        }
        out += "--\(boundary)--\r\n".utf8
        var all = SIPParameters()
        for parameter in parameters.all { all.set(parameter.name, parameter.value, isQuoted: true) }
        all.set("boundary", boundary)
        return (MediaType("multipart", subtype, parameters: all), out)
    }

    private static func contains(_ bytes: [UInt8], _ pattern: [UInt8]) -> Bool {
        guard bytes.count >= pattern.count else { return false }
        var index = 0
        while index + pattern.count <= bytes.count {
            if bytes[index] == pattern[0], bytes[index..<index + pattern.count].elementsEqual(pattern) { return true }
            index += 1
        }
        return false
    }
}

/// Delimiter lines of a multipart body, in order.
private struct DelimiterLines: Sequence, IteratorProtocol {
    struct Line {
        /// End of the preceding part: before the line break that belongs to the delimiter.
        var contentEnd: Int
        /// First octet after the line.
        var next: Int
        var isClosing: Bool
    }

    private let body: [UInt8]
    private let delimiter: [UInt8]
    private var position = 0

    init(_ body: [UInt8], boundary: String) {
        self.body = body
        delimiter = Array("--\(boundary)".utf8)
    }

    mutating func next() -> Line? {
        while position < body.count {
            let start = position
            var end = start
            while end < body.count, body[end] != 0x0A { end += 1 }
            position = Swift.min(end + 1, body.count)
            guard end - start >= delimiter.count, body[start..<start + delimiter.count].elementsEqual(delimiter) else { continue }
            var rest = start + delimiter.count
            let isClosing = rest + 1 < body.count && body[rest] == 0x2D && body[rest + 1] == 0x2D
            if isClosing { rest += 2 }
            var isBlank = true
            for index in rest..<Swift.max(rest, end) where body[index] != 0x20 && body[index] != 0x09 && body[index] != 0x0D {
                isBlank = false
            }
            guard isBlank else { continue }
            var contentEnd = start
            if contentEnd > 0, body[contentEnd - 1] == 0x0A { contentEnd -= 1 }
            if contentEnd > 0, contentEnd < start, body[contentEnd - 1] == 0x0D { contentEnd -= 1 }
            return Line(contentEnd: contentEnd, next: position, isClosing: isClosing)
        }
        return nil
    }
}
