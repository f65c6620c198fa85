/// Limits of a message; a message beyond one is refused.
public struct SIPLimits: Hashable, Sendable {
    /// Octets of start line and headers.
    public var headerBytes: Int
    /// Number of header lines.
    public var headerCount: Int
    /// Octets of the body.
    public var bodyBytes: Int

    /// Creates limits; by default 65,536 octets of headers, 256 header lines and 1,048,576 octets of body.
    public init(headerBytes: Int = 65_536, headerCount: Int = 256, bodyBytes: Int = 1_048_576) {
        self.headerBytes = headerBytes
        self.headerCount = headerCount
        self.bodyBytes = bodyBytes
    }

    /// Default limits: 65,536 octets of headers, 256 header lines, 1,048,576 octets of body.
    public static let standard = SIPLimits()
}
