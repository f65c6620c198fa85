/// Framer that splits a byte stream into messages by Content-Length (RFC 3261 18.3) and recognises the keep-alives of RFC 5626
/// 3.5.1.
///
/// Each octet is examined a bounded number of times, however small the pieces. After a failure the stream is unusable: respond,
/// then close.
///
///     idle --CRLF--> idle (pong)   idle --CRLFCRLF--> idle (ping)
///     idle --octet--> head --empty line--> body --Content-Length octets--> idle (message)
///     head, body --violation--> failed
public struct StreamFramer: Sendable {
    /// Event found in the stream.
    public enum Event: Equatable, Sendable {
        /// Exactly one message.
        case message([UInt8])
        /// Double CRLF between messages: answer with one CRLF.
        case ping
        /// Single CRLF between messages: the response to a ping. A ping that arrives in two halves is reported as pong, then ping.
        case pong
        /// Unusable stream; no event follows. See ``SIPParseError/response(toTag:)``.
        case failure(SIPParseError)
    }

    private enum State: Sendable {
        case idle(halfPing: Bool)
        /// `scanned`: index at which the search for the empty line continues.
        case head(scanned: Int)
        case body(end: Int)
        case failed
    }

    private let limits: SIPLimits
    private var buffer: [UInt8] = []
    private var start = 0
    private var state = State.idle(halfPing: false)

    /// Creates a framer for one connection.
    public init(limits: SIPLimits = .standard) { self.limits = limits }

    /// Octets received and not yet returned.
    public var bufferedCount: Int { buffer.count - start }

    /// Octets of memory allocated for received data: the figure to limit.
    public var reservedCount: Int { buffer.capacity }

    /// Whether a message has begun and is incomplete: the state to limit in time.
    public var isInsideMessage: Bool {
        if case .idle = state { return false }
        return true
    }

    /// Adds octets; call ``next()`` afterwards until it returns nil.
    public mutating func append(_ bytes: some Collection<UInt8>) {
        if case .failed = state { return }
        if start == buffer.count {
            releaseBuffer()
        } else if start > 1 << 16, start > buffer.count / 2 {
            buffer.removeFirst(start)
            rebase(start)
        }
        buffer.append(contentsOf: bytes)
    }

    /// Releases more than 4,096 octets of memory between messages, so that an idle stream keeps nothing of a large message.
    private mutating func releaseBuffer() {
        if buffer.capacity > 4_096 { buffer = [] } else { buffer.removeAll(keepingCapacity: true) }
        start = 0
    }

    private mutating func rebase(_ offset: Int) {
        switch state {
        case .head(let scanned): state = .head(scanned: scanned - offset)
        case .body(let end): state = .body(end: end - offset)
        case .idle, .failed: break
        }
        start = 0
    }

    /// Next event; nil when more octets are needed or the stream has failed.
    public mutating func next() -> Event? {
        while true {
            switch state {
            case .failed:
                return nil
            case .idle(let halfPing):
                guard start < buffer.count else {
                    releaseBuffer()
                    return nil
                }
                switch buffer[start] {
                case 0x0D:
                    guard start + 1 < buffer.count else { return nil }
                    guard buffer[start + 1] == 0x0A else { return fail(SIPParseError(.startLine, reason: "Bare CR Between Messages")) }
                    if !halfPing, start + 3 < buffer.count, buffer[start + 2] == 0x0D, buffer[start + 3] == 0x0A {
                        start += 4
                        return .ping
                    }
                    start += 2
                    state = .idle(halfPing: !halfPing)
                    return halfPing ? .ping : .pong
                case 0x0A:
                    start += 1
                default:
                    state = .head(scanned: start)
                }
            case .head(let scanned):
                guard let bodyStart = findBody(from: scanned) else {
                    if buffer.count - start > limits.headerBytes {
                        return fail(SIPParseError(.tooLarge, status: .messageTooLarge, reason: "Header Fields Too Large"))
                    }
                    return nil
                }
                switch contentLength(in: start..<bodyStart) {
                case .success(let length): state = .body(end: bodyStart + length)
                case .failure(let error): return fail(error)
                }
            case .body(let end):
                guard buffer.count >= end else { return nil }
                state = .idle(halfPing: false)
                guard start > 0 || end < buffer.count else {
                    // Move the buffer instead of copying it.
                    defer { buffer = [] }
                    return .message(buffer)
                }
                defer { start = end }
                return .message(Array(buffer[start..<end]))
            }
        }
    }

    private mutating func fail(_ error: SIPParseError) -> Event {
        state = .failed
        buffer = []
        start = 0
        return .failure(error)
    }

    /// Start of the body: after the first empty line.
    private mutating func findBody(from scanned: Int) -> Int? {
        let limit = min(buffer.count, start + limits.headerBytes)
        let found: Int? = buffer.withUnsafeBufferPointer { bytes in
            var index = scanned
            while true {
                index = HeaderBlockReader.nextControl(bytes, index, limit)
                guard index < limit else { return nil }
                if bytes[index] == 0x0A {
                    if index + 1 < limit, bytes[index + 1] == 0x0A { return index + 2 }
                    if index + 2 < limit, bytes[index + 1] == 0x0D, bytes[index + 2] == 0x0A { return index + 3 }
                }
                index += 1
            }
        }
        // The last three octets may begin the empty line.
        if found == nil { state = .head(scanned: max(start, max(scanned, limit - 3))) }
        return found
    }

    private func contentLength(in head: Range<Int>) -> Result<Int, SIPParseError> {
        let length: Int? = buffer.withUnsafeBufferPointer { bytes in
            var isSound = true
            guard let line = HeaderBlockReader.lineEnd(bytes, head.lowerBound, head.upperBound, &isSound) else { return nil }
            var reader = HeaderBlockReader(bytes, from: line.next, to: head.upperBound)
            var length: Int?
            var lines = 0
            while true {
                // Read only lines that begin like Content-Length or its compact form, and the empty line.
                guard let first = reader.first else { return length }
                let isContinuation = first == 0x20 || first == 0x09
                if !isContinuation {
                    lines += 1
                    guard lines <= limits.headerCount + 1 else { return nil }
                }
                if isContinuation || (first > 0x20 && first | 0x20 != 0x63 && first | 0x20 != 0x6C) {
                    guard reader.skipLine() else { return length }
                    continue
                }
                guard case let field = reader.next(), field != .end, field != .truncated else { return length }
                guard case .field(_, let value, .contentLength, _) = field else { continue }
                var scanner = ByteScanner(bytes, value)
                guard length == nil, let number = scanner.number(), scanner.isAtEnd, number <= UInt64(limits.bodyBytes) else { return nil }
                length = Int(number)
            }
        }
        if let length { return .success(length) }
        // The parser finds the exact error, and the request to respond to.
        switch SIPParser.parse(Array(buffer[head]), framing: .stream, limits: limits) {
        case .failure(let error): return .failure(error)
        case .success: return .failure(SIPParseError(.contentLength, reason: "Malformed Content-Length"))
        }
    }
}
