/// How large a message may be before it is refused.
public struct SIPLimits: Hashable, Sendable {
    /// Start line and headers, in bytes.
    public var headerBytes: Int
    /// Header lines.
    public var headerCount: Int
    /// Body, in bytes.
    public var bodyBytes: Int

    public init(headerBytes: Int = 65_536, headerCount: Int = 256, bodyBytes: Int = 1_048_576) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
    }

    public static let standard = SIPLimits()
}
