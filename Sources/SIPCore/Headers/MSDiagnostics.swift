/// Value of ms-diagnostics (MS-OCER 2.2.1): error number, reason and name of the reporting server.
public struct MSDiagnostics: Hashable, Sendable, CustomStringConvertible {
    /// Error id, such as 1003 for an unknown user.
    public var errorID: UInt32
    /// Header parameters, `reason` and `source` among them.
    public var parameters: SIPParameters

    /// Creates a value with quoted `reason` and `source`.
    public init(_ errorID: UInt32, reason: String, source: String) {
        self.errorID = errorID
        parameters = SIPParameters([.init("reason", reason, isQuoted: true), .init("source", source, isQuoted: true)])
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// Reason in English; nil when absent.
    public var reason: String? { parameters["reason"] }
    /// Name of the reporting server; nil when absent.
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
