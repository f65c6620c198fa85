/// Warning value (RFC 3261 20.43): three-digit code, agent and text.
public struct Warning: Hashable, Sendable, CustomStringConvertible {
    /// Code, at most 999; RFC 3261 uses 300 to 399.
    public var code: Int
    /// Agent: a host with port, or a pseudonym.
    public var agent: String
    /// Text without quotes and escapes.
    public var text: String

    /// Creates a value; agent and code are written unchecked.
    public init(code: Int, agent: String, text: String) {
        self.code = code
        self.agent = agent
        self.text = text
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    public var description: String { "\(code) \(agent) \(SIPParameters.quoted(text))" }
}

extension Warning: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let code = scanner.number(limit: 999) else { return nil }
        self.code = Int(code)
        scanner.skipLWS()
        let start = scanner.position
        while let byte = scanner.current, byte != 0x20, byte != 0x09, byte != 0x2C, byte != 0x22 { scanner.position += 1 }
        guard scanner.position > start else { return nil }
        agent = scanner.string(start..<scanner.position)
        scanner.skipLWS()
        guard let text = scanner.quotedString() else { return nil }
        self.text = scanner.unquoted(text)
    }
}
