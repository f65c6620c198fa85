/// CSeq value (RFC 3261 20.16): a number below 2^31 and the method of the request.
public struct CSeq: Hashable, Sendable, CustomStringConvertible {
    /// Highest number: 2^31 - 1.
    public static let limit: UInt32 = 0x7FFF_FFFF

    /// Sequence number, at most ``limit``.
    public var number: UInt32
    /// Method of the request; also in its responses.
    public var method: SIPMethod

    /// Creates a value; the number is not checked.
    public init(_ number: UInt32, _ method: SIPMethod) {
        self.number = number
        self.method = method
    }

    /// Reads the whole text; nil if it is malformed or the number is 2^31 or more.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    public var description: String { "\(number) \(method)" }
}

extension CSeq: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let number = scanner.number(limit: UInt64(Self.limit)) else { return nil }
        let gap = scanner.position
        scanner.skipLWS()
        guard scanner.position > gap, let method = scanner.token() else { return nil }
        self.number = UInt32(number)
        self.method = SIPMethod(rawValue: scanner.string(method))
    }
}
