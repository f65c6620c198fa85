/// Event value (RFC 6665 8.2.1): package, templates and `id`, all case-sensitive.
public struct Event: Hashable, Sendable, CustomStringConvertible {
    /// Package with templates, such as `presence.winfo`.
    public var package: String
    /// Header parameters, such as `id`.
    public var parameters: SIPParameters

    /// Creates a value; by default without parameters.
    public init(_ package: String, parameters: SIPParameters = SIPParameters()) {
        self.package = package
        self.parameters = parameters
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// `id` parameter; nil when absent.
    public var id: String? { parameters["id"] }

    /// Whether both name the same subscription (RFC 6665 8.2.1): equal package and `id`; other parameters are ignored.
    public func matches(_ other: Event) -> Bool { package == other.package && id == other.id }

    public var description: String { package + parameters.description }
}

extension Event: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let package = scanner.token(), let parameters = SIPParameters(scanner: &scanner) else { return nil }
        self.package = scanner.string(package)
        self.parameters = parameters
    }
}
