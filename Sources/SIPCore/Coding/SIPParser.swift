/// Parser of one SIP message (RFC 3261 7 and 25).
///
/// Checks the start line and the fields in which an error would change the meaning of the message (Via, From, To, Contact, Route,
/// Record-Route, Call-ID, CSeq, Max-Forwards, Content-Length); other fields are kept as received and parsed when accessed.
public enum SIPParser {
    /// Rule for the length of the body.
    public enum Framing: Sendable {
        /// Without Content-Length the body is the rest; surplus octets are dropped, missing ones are an error (RFC 3261 18.3).
        case datagram
        /// Content-Length is mandatory.
        case stream
    }

    /// Parses one message.
    ///
    /// - Parameter bytes: Whole message; empty lines before it are skipped.
    /// - Returns: The message, or the error with the parts needed to respond.
    public static func parse(
        _ bytes: [UInt8], framing: Framing = .datagram, limits: SIPLimits = .standard
    ) -> Result<SIPMessage, SIPParseError> {
        guard bytes.count <= limits.headerBytes + limits.bodyBytes else {
            return .failure(SIPParseError(.tooLarge, status: .messageTooLarge, reason: "Message Too Large"))
        }
        var state = ParserState(framing: framing, limits: limits)
        var bodyRange = 0..<0
        var unfolded: [UInt8] = []
        bytes.withUnsafeBufferPointer { buffer in
            state.read(buffer, unfolded: &unfolded, body: &bodyRange)
        }
        var storage = bytes
        if !unfolded.isEmpty { storage += unfolded }
        let headers = SIPHeaders(storage: storage, entries: state.entries)
        if var error = state.error {
            if !state.isResponse, let method = state.method {
                error.request = SIPRequest(method, requestURI: state.requestURI, headers: headers)
            }
            return .failure(error)
        }
        let body = bodyRange.isEmpty ? [] : Array(bytes[bodyRange])
        if let status = state.status {
            return .success(.response(SIPResponse(status, reason: state.reason, headers: headers, body: body)))
        }
        guard let method = state.method else { return .failure(SIPParseError(.startLine, reason: "Malformed Start Line")) }
        return .success(.request(SIPRequest(method, requestURI: state.requestURI, headers: headers, body: body)))
    }
}

/// State of parsing one message.
private struct ParserState {
    let framing: SIPParser.Framing
    let limits: SIPLimits
    var entries: [SIPHeaders.Entry] = []
    var method: SIPMethod?
    var requestURI = ""
    var status: SIPStatus?
    var reason = ""
    var isResponse = false
    /// First error; parsing continues, so that the response can be routed.
    var error: SIPParseError?

    private var contentLength: Int?
    private var cSeqMethod: Range<Int> = 0..<0
    private var methodRange: Range<Int> = 0..<0
    /// Single-value headers seen, as bits by known number.
    private var seen: UInt64 = 0

    init(framing: SIPParser.Framing, limits: SIPLimits) {
        self.framing = framing
        self.limits = limits
    }

    mutating func fail(_ code: SIPParseError.Code, _ reason: String, status: SIPStatus = .badRequest) {
        if error == nil { error = SIPParseError(code, status: status, reason: reason) }
    }

    mutating func read(_ bytes: UnsafeBufferPointer<UInt8>, unfolded: inout [UInt8], body: inout Range<Int>) {
        var start = 0
        while start < bytes.count, bytes[start] == 0x0D || bytes[start] == 0x0A { start += 1 }
        var isSound = true
        guard start < bytes.count else { return fail(.empty, "Empty Message") }
        guard let line = HeaderBlockReader.lineEnd(bytes, start, bytes.count, &isSound) else {
            return fail(.startLine, "Start Line Not Ended")
        }
        readStartLine(ByteScanner(bytes, start..<line.end))
        if !isSound { fail(.startLine, "Control Character In Start Line") }
        entries.reserveCapacity(24)
        var reader = HeaderBlockReader(bytes, from: line.next, to: min(bytes.count, start + limits.headerBytes))
        readLines: while true {
            switch reader.next() {
            case .field(let name, let value, let known, let isFolded):
                guard entries.count < limits.headerCount else {
                    fail(.tooLarge, "Too Many Header Fields", status: .messageTooLarge)
                    break readLines
                }
                readField(bytes, name, value, known, isFolded, &unfolded)
            case .end:
                break readLines
            case .malformed(let range):
                let text = ByteScanner(bytes, range).string(range.lowerBound..<min(range.upperBound, range.lowerBound + 24))
                fail(.headerSyntax, "Malformed Header Field (\(text.filter { $0.isASCII && !$0.isNewline && $0 != "\0" }))")
            case .truncated:
                if reader.end < bytes.count {
                    fail(.tooLarge, "Header Fields Too Large", status: .messageTooLarge)
                } else {
                    fail(.headerSyntax, "Header Fields Not Ended By An Empty Line")
                }
                break readLines
            }
        }
        checkMandatory(bytes)
        findBody(bytes, from: reader.position, &body)
    }

    // MARK: Start line

    private mutating func readStartLine(_ line: ByteScanner) {
        var scanner = line
        guard let first = scanner.token() else { return fail(.startLine, "Malformed Start Line") }
        if scanner.matches(first, "sip"), scanner.current == 0x2F { return readStatusLine(line) }
        methodRange = first
        guard scanner.consume(0x20) else { return fail(.startLine, "Malformed Request Line") }
        method = SIPMethod(rawValue: scanner.string(first))
        let start = scanner.position
        while let byte = scanner.current, byte != 0x20 { scanner.position += 1 }
        let uri = start..<scanner.position
        guard scanner.consume(0x20) else { return fail(.startLine, "Malformed Request Line (No Version)") }
        requestURI = scanner.string(uri)
        let version = scanner.position..<scanner.end
        guard scanner.matches(version, "sip/2.0") else {
            guard version.count >= 5, version.allSatisfy({ scanner.bytes[$0] > 0x20 }),
                scanner.matches(version.lowerBound..<version.lowerBound + 4, "sip/")
            else { return fail(.startLine, "Malformed Request Line (Blanks Or Version)") }
            return fail(.version, "Version Not Supported", status: .versionNotSupported)
        }
        if URISpans(ByteScanner(scanner.bytes, uri)) == nil { fail(.startLine, "Malformed Request-URI") }
    }

    private mutating func readStatusLine(_ line: ByteScanner) {
        isResponse = true
        var scanner = line
        let start = scanner.position
        while let byte = scanner.current, byte != 0x20 { scanner.position += 1 }
        guard scanner.matches(start..<scanner.position, "sip/2.0") else { return fail(.version, "Version Not Supported") }
        guard scanner.consume(0x20), let digits = scanner.run(of: ASCII.digit), digits.count == 3,
            scanner.bytes[digits.lowerBound] >= 0x31, scanner.bytes[digits.lowerBound] <= 0x36
        else { return fail(.startLine, "Malformed Status Line") }
        var code = 0
        for index in digits { code = code * 10 + Int(scanner.bytes[index] - 0x30) }
        // The space before an empty reason phrase is mandatory, but old stacks omit it.
        guard scanner.isAtEnd || scanner.consume(0x20) else { return fail(.startLine, "Malformed Status Line") }
        status = SIPStatus(rawValue: code)
        reason = scanner.string(scanner.position..<scanner.end)
    }

    // MARK: Header fields

    private mutating func readField(
        _ bytes: UnsafeBufferPointer<UInt8>, _ name: Range<Int>, _ value: Range<Int>, _ known: KnownHeader, _ isFolded: Bool,
        _ unfolded: inout [UInt8]
    ) {
        switch known {
        case .via:
            var scanner = ByteScanner(bytes, value)
            // Keep the value as received: the response repeats it.
            if !Self.isViaList(&scanner) { fail(.badHeader, "Malformed Via") }
            mark(known)
        case .from, .to:
            var scanner = ByteScanner(bytes, value)
            if once(known, "From or To"), NameAddr.scanTag(&scanner) == nil {
                fail(.badHeader, known == .from ? "Malformed From" : "Malformed To")
            }
        case .callID:
            if once(known, "Call-ID"), value.isEmpty || value.contains(where: { bytes[$0] <= 0x20 }) {
                fail(.badHeader, "Malformed Call-ID")
            }
        case .cSeq:
            if once(known, "CSeq") { readCSeq(ByteScanner(bytes, value)) }
        case .maxForwards:
            var scanner = ByteScanner(bytes, value)
            if once(known, "Max-Forwards"), scanner.number(limit: 255) == nil || !scanner.isAtEnd {
                fail(.badHeader, "Malformed Max-Forwards (Not 0 To 255)")
            }
        case .contact, .route, .recordRoute:
            var scanner = ByteScanner(bytes, value)
            if !Self.isNameAddrList(&scanner, allowsWildcard: known == .contact) {
                fail(.badHeader, "Malformed \(HeaderTable.shared.name(known))")
            }
        case .contentLength:
            var scanner = ByteScanner(bytes, value)
            if once(known, "Content-Length") {
                if let number = scanner.number(limit: UInt64(UInt32.max)), scanner.isAtEnd {
                    contentLength = Int(number)
                } else {
                    fail(.contentLength, "Malformed Content-Length")
                }
            }
            return
        default:
            break
        }
        var entry = SIPHeaders.Entry(
            known: known, nameStart: UInt32(name.lowerBound), nameLength: UInt32(name.count), valueStart: UInt32(value.lowerBound),
            valueLength: UInt32(value.count))
        if isFolded {
            let text = HeaderBlockReader.unfold(bytes, value)
            entry.valueStart = UInt32(bytes.count + unfolded.count)
            entry.valueLength = UInt32(text.count)
            unfolded += text
        }
        entries.append(entry)
    }

    @inline(__always)
    private mutating func mark(_ known: KnownHeader) { seen |= 1 << UInt64(known.rawValue & 63) }

    /// Records a header that may occur only once; false, with an error, at its second occurrence.
    @inline(__always)
    private mutating func once(_ known: KnownHeader, _ name: StaticString) -> Bool {
        let bit: UInt64 = 1 << UInt64(known.rawValue & 63)
        if seen & bit != 0 {
            fail(.duplicateHeader, "Repeated \(name)")
            return false
        }
        seen |= bit
        return true
    }

    private static func isViaList(_ scanner: inout ByteScanner) -> Bool {
        while true {
            guard ViaSpans(&scanner) != nil, SIPParameters.scan(&scanner, { _, _, _, _ in }) else { return false }
            scanner.skipLWS()
            if scanner.isAtEnd { return true }
            guard scanner.consume(0x2C) else { return false }
        }
    }

    private static func isNameAddrList(_ scanner: inout ByteScanner, allowsWildcard: Bool) -> Bool {
        scanner.skipLWS()
        if allowsWildcard, scanner.current == 0x2A {
            var star = scanner
            star.position += 1
            star.skipLWS()
            if star.isAtEnd { return true }
        }
        while true {
            scanner.skipLWS()
            if scanner.isAtEnd { return true }
            guard NameAddrSpans(&scanner) != nil, SIPParameters.scan(&scanner, { _, _, _, _ in }) else { return false }
            scanner.skipLWS()
            if scanner.isAtEnd { return true }
            guard scanner.consume(0x2C) else { return false }
        }
    }

    private mutating func readCSeq(_ value: ByteScanner) {
        var scanner = value
        guard scanner.number(limit: UInt64(CSeq.limit)) != nil else { return fail(.badHeader, "Malformed CSeq (Not Below 2^31)") }
        let gap = scanner.position
        scanner.skipLWS()
        guard scanner.position > gap, let method = scanner.token(), scanner.isAtEnd else { return fail(.badHeader, "Malformed CSeq") }
        cSeqMethod = method
    }

    // MARK: Whole message

    private mutating func checkMandatory(_ bytes: UnsafeBufferPointer<UInt8>) {
        for (known, name) in Self.mandatory where seen & (1 << UInt64(known.rawValue & 63)) == 0 {
            fail(.missingHeader, "Missing \(name)")
        }
        guard error == nil, !isResponse else { return }
        let isSame =
            cSeqMethod.count == methodRange.count
            && (0..<methodRange.count).allSatisfy { bytes[cSeqMethod.lowerBound + $0] == bytes[methodRange.lowerBound + $0] }
        if !isSame { fail(.badHeader, "CSeq Method Differs From Request Method") }
    }

    private static let mandatory: [(KnownHeader, StaticString)] = [
        (.via, "Via"), (.from, "From"), (.to, "To"), (.callID, "Call-ID"), (.cSeq, "CSeq"),
    ]

    private mutating func findBody(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int, _ body: inout Range<Int>) {
        let rest = bytes.count - start
        switch contentLength {
        case .some(let length):
            if length > limits.bodyBytes { return fail(.tooLarge, "Body Too Large", status: .requestEntityTooLarge) }
            guard length <= rest else { return fail(.contentLength, "Body Shorter Than Content-Length") }
            body = start..<start + length
        case nil where framing == .stream:
            fail(.contentLength, "Missing Content-Length")
        case nil:
            if rest > limits.bodyBytes { return fail(.tooLarge, "Body Too Large", status: .requestEntityTooLarge) }
            body = start..<bytes.count
        }
    }
}
