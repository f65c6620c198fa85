/// One Reason value (RFC 3326): the protocol that speaks, a cause and a text.
public struct Reason: Hashable, Sendable, CustomStringConvertible {
    /// `SIP`, `Q.850` or another token.
    public var protocolName: String
    public var parameters: SIPParameters

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

    public var cause: Int? { parameters["cause"].flatMap { Int($0) } }
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
