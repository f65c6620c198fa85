import XMLCore

// RFC 4481, Timed Presence Extensions to PIDF
// namespace urn:ietf:params:xml:ns:pidf:timed-status, inside a tuple

/// A status of the past or the future (RFC 4481 2); never the current one.
public struct TimedStatus: Hashable, Sendable {
    public var from: DateTime
    /// Nil when the end is open.
    public var until: DateTime?
    public var basic: BasicStatus?
    public var notes: [PIDFNote] = []
    public var rpid = RPID()
    public var extensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []

    public init(from: DateTime, until: DateTime? = nil, basic: BasicStatus? = nil) {
        self.from = from
        self.until = until
        self.basic = basic
    }
}
