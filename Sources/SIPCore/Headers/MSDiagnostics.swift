/// One ms-diagnostics value (MS-OCER 2.2.1): a number, a reason and the name of the server that gives it.
public struct MSDiagnostics: Hashable, Sendable, CustomStringConvertible {
    /// The error id, such as 1003 for an unknown user.
    public var errorID: UInt32
    public var parameters: SIPParameters

    public init(_ errorID: UInt32, reason: String, source: String) {
        self.errorID = errorID
        parameters = SIPParameters([.init("reason", reason, isQuoted: true), .init("source", source, isQuoted: true)])
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    public var reason: String? { parameters["reason"] }
    public var source: String? { parameters["source"] }
    public var description: String { String(errorID) + parameters.description }
}

extension MSDiagnostics: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let number = scanner.number(), let parameters = SIPParameters(scanner: &scanner) else { return nil }
        errorID = UInt32(number)
        self.parameters = parameters
    }
}
