/// Reason value (RFC 3326): protocol, cause and text.
public struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// Protocol: `SIP`, `Q.850` or another token.
    public var protocolName: String
    /// Header parameters, `cause` and `text` among them.
    public var parameters: SIPParameters

    /// Creates a value; a nil cause or text is omitted.
    public init(_ protocolName: String, cause: Int?, text: String?) {
        self.protocolName = protocolName
        parameters = SIPParameters()
        if let cause { parameters.set("cause", String(cause)) }
        if let text { parameters.set("text", text, isQuoted: true) }
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// Cause code of the protocol, such as a SIP status; nil when absent or not a number.
    public var cause: Int? { parameters["cause"].flatMap { Int($0) } }
    /// Text in a human language; nil when absent.
    public var text: String? { parameters["text"] }
    public var description: String { protocolName + parameters.description }
}

extension Reason: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let name = scanner.token(), let parameters = SIPParameters(scanner: &scanner) else { return nil }
        protocolName = scanner.string(name)
        self.parameters = parameters
    }
}
