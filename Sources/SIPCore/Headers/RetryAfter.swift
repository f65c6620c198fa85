/// Retry-After value (RFC 3261 20.33).
public struct RetryAfter: Hashable, Sendable, CustomStringConvertible {
    /// Seconds to wait.
    public var seconds: UInt32
    /// Header parameters, such as `duration`.
    public var parameters: SIPParameters

    /// Creates a value; by default without parameters.
    public init(seconds: UInt32, parameters: SIPParameters = SIPParameters()) {
        self.seconds = seconds
        self.parameters = parameters
    }

    /// Reads the whole text, skipping comments; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    public var description: String { String(seconds) + parameters.description }
}

extension RetryAfter: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let digits = scanner.run(of: ASCII.digit), let seconds = DeltaSeconds.parse(scanner.string(digits)) else { return nil }
        self.seconds = seconds
        scanner.skipLWS()
        var depth = 0
        while let byte = scanner.current, depth > 0 || byte == 0x28 {
            if byte == 0x28 { depth += 1 }
            if byte == 0x29 { depth -= 1 }
            if byte == 0x5C { scanner.position += 1 }
            scanner.position += 1
        }
        guard depth == 0, scanner.position <= scanner.end, let parameters = SIPParameters(scanner: &scanner) else { return nil }
        self.parameters = parameters
    }
}
