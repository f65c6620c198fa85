/// Serializer of messages: long header names, no folding, Content-Length last (RFC 3261 7.3, 18.3).
public enum SIPSerializer {
    /// Encodes a request or response.
    public static func serialize(_ message: SIPMessage) -> [UInt8] {
        switch message {
        case .request(let request): return serialize(request)
        case .response(let response): return serialize(response)
        }
    }

    /// Encodes a request; characters that the request line does not allow are omitted.
    public static func serialize(_ request: SIPRequest) -> [UInt8] {
        let capacity = capacity(request.headers, request.body) + request.method.rawValue.utf8.count + request.requestURI.utf8.count
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var writer = ByteWriter(buffer)
            appendStartLine(of: request, to: &writer)
            appendRest(request.headers, request.body, to: &writer)
            count = writer.count
        }
    }

    /// Encodes a response; the status is limited to 100...699, control characters in the reason phrase are omitted.
    public static func serialize(_ response: SIPResponse) -> [UInt8] {
        let capacity = capacity(response.headers, response.body) + response.reason.utf8.count
        return [UInt8](unsafeUninitializedCapacity: capacity) { buffer, count in
            var writer = ByteWriter(buffer)
            writer.append("SIP/2.0 ")
            writer.append(number: min(max(response.status.rawValue, 100), 699))
            writer.append(0x20)
            appendText(response.reason, keepsBlanks: true, to: &writer)
            writer.append("\r\n")
            appendRest(response.headers, response.body, to: &writer)
            count = writer.count
        }
    }

    /// Header lines without the empty line after them.
    static func fields(_ headers: SIPHeaders) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: capacity(headers, [])) { buffer, count in
            var writer = ByteWriter(buffer)
            appendFields(headers, to: &writer)
            count = writer.count
        }
    }

    /// Upper bound of the length, without the texts of the start line.
    static func capacity(_ headers: SIPHeaders, _ body: [UInt8]) -> Int {
        var total = body.count + 96
        for entry in headers.entries { total += Int(entry.valueLength) + Int(entry.nameLength) + 44 }
        return total
    }

    static func appendStartLine(of request: SIPRequest, to writer: inout ByteWriter) {
        for byte in request.method.rawValue.utf8 where ASCII.isToken(byte) { writer.append(byte) }
        writer.append(0x20)
        appendText(request.requestURI, keepsBlanks: false, to: &writer)
        writer.append(" SIP/2.0\r\n")
    }

    /// Writes text of a start line without control characters.
    private static func appendText(_ text: String, keepsBlanks: Bool, to writer: inout ByteWriter) {
        for byte in text.utf8 where byte > 0x20 || (byte == 0x20 && keepsBlanks) { writer.append(byte) }
    }

    private static func appendRest(_ headers: SIPHeaders, _ body: [UInt8], to writer: inout ByteWriter) {
        appendFields(headers, to: &writer)
        appendEnd(body, to: &writer)
    }

    /// Writes Content-Length, the empty line and the body.
    static func appendEnd(_ body: [UInt8], to writer: inout ByteWriter) {
        writer.append("Content-Length: ")
        writer.append(number: body.count)
        writer.append("\r\n\r\n")
        body.withUnsafeBufferPointer { writer.append($0) }
    }

    private static func appendFields(_ headers: SIPHeaders, to writer: inout ByteWriter) {
        headers.storage.withUnsafeBufferPointer { bytes in
            for entry in headers.entries { _ = appendField(entry, bytes, to: &writer) }
        }
    }

    /// Writes a header line, unless it is Content-Length.
    /// - Returns: the end of its value.
    @inline(__always)
    static func appendField(_ entry: SIPHeaders.Entry, _ bytes: UnsafeBufferPointer<UInt8>, to writer: inout ByteWriter) -> Int {
        if entry.known == .contentLength { return writer.count }
        if entry.known == .unknown {
            writer.append(UnsafeBufferPointer(rebasing: bytes[entry.nameRange]))
            writer.append(": ")
        } else {
            writer.append(HeaderTable.shared.head(entry.known))
        }
        writer.append(UnsafeBufferPointer(rebasing: bytes[entry.valueRange]))
        writer.append("\r\n")
        return writer.count - 2
    }
}

/// Cursor over memory that is known to be large enough.
struct ByteWriter {
    private let buffer: UnsafeMutableBufferPointer<UInt8>
    private(set) var count = 0

    init(_ buffer: UnsafeMutableBufferPointer<UInt8>) { self.buffer = buffer }

    @inline(__always)
    mutating func append(_ byte: UInt8) {
        precondition(count < buffer.count)
        buffer[count] = byte
        count += 1
    }

    @inline(__always)
    mutating func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        guard let source = bytes.baseAddress, let target = buffer.baseAddress else { return }
        precondition(bytes.count <= buffer.count - count)
        (target + count).update(from: source, count: bytes.count)
        count += bytes.count
    }

    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(number: Int) {
        if number >= 10 { append(number: number / 10) }
        append(0x30 + UInt8(number % 10))
    }

    /// Appends a number in digits of 0-9, a-v.
    mutating func append(base32 number: UInt64) {
        var shift = number == 0 ? 0 : (63 - number.leadingZeroBitCount) / 5 * 5
        while shift >= 0 {
            append(TokenGenerator.digit(number >> UInt64(shift)))
            shift -= 5
        }
    }
}

extension SIPRequest {
    /// Encoded request, with Content-Length.
    public func serialized() -> [UInt8] { SIPSerializer.serialize(self) }
}

extension SIPResponse {
    /// Encoded response, with Content-Length.
    public func serialized() -> [UInt8] { SIPSerializer.serialize(self) }
}
