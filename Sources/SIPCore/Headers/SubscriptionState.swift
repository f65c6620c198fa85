/// Subscription-State value of a NOTIFY (RFC 6665 8.2.3).
public struct SubscriptionState: Hashable, Sendable, CustomStringConvertible {
    /// State token, in lower case.
    public struct State: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Accepted: NOTIFYs carry state (RFC 6665 4.1.3).
        public static let active = State(rawValue: "active")
        /// Not authorized yet (RFC 6665 4.1.3).
        public static let pending = State(rawValue: "pending")
        /// Ended (RFC 6665 4.1.3).
        public static let terminated = State(rawValue: "terminated")
    }

    /// Reason for the end of a subscription (RFC 6665 4.1.3).
    public struct TerminationReason: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        /// Subscribe again at once, in a new dialog.
        public static let deactivated = TerminationReason(rawValue: "deactivated")
        /// Subscribe again later, after `retry-after`.
        public static let probation = TerminationReason(rawValue: "probation")
        /// Policy does not allow the subscription.
        public static let rejected = TerminationReason(rawValue: "rejected")
        /// The subscription was not refreshed in time.
        public static let timeout = TerminationReason(rawValue: "timeout")
        /// Authorization was not obtained in time.
        public static let giveup = TerminationReason(rawValue: "giveup")
        /// The resource no longer exists.
        public static let noresource = TerminationReason(rawValue: "noresource")
        /// The state will not change again.
        public static let invariant = TerminationReason(rawValue: "invariant")
    }

    /// State; in lower case when parsed.
    public var state: State
    /// Header parameters, such as `expires`, `reason` and `retry-after`.
    public var parameters: SIPParameters

    /// Creates a value; by default without parameters.
    public init(_ state: State, parameters: SIPParameters = SIPParameters()) {
        self.state = state
        self.parameters = parameters
    }

    /// Active, with the seconds left.
    public static func active(expires: UInt32) -> SubscriptionState {
        SubscriptionState(.active, parameters: SIPParameters([.init("expires", String(expires))]))
    }

    /// Pending, with the seconds left.
    public static func pending(expires: UInt32) -> SubscriptionState {
        SubscriptionState(.pending, parameters: SIPParameters([.init("expires", String(expires))]))
    }

    /// Terminated, with an optional reason.
    /// - Parameter retryAfter: Seconds.
    public static func terminated(_ reason: TerminationReason?, retryAfter: UInt32? = nil) -> SubscriptionState {
        var value = SubscriptionState(.terminated)
        if let reason { value.parameters["reason"] = reason.rawValue }
        if let retryAfter { value.parameters["retry-after"] = String(retryAfter) }
        return value
    }

    /// Reads the whole text; nil if it is malformed.
    public init?(_ text: String) {
        guard let value = Self.scanWhole(text) else { return nil }
        self = value
    }

    /// Seconds left; nil when absent, and numbers above 2^32 - 1 are read as that.
    public var expires: UInt32? { parameters["expires"].flatMap(DeltaSeconds.parse) }
    /// Seconds to wait before the next SUBSCRIBE; nil when absent.
    public var retryAfter: UInt32? { parameters["retry-after"].flatMap(DeltaSeconds.parse) }
    /// Reason in lower case; nil when absent.
    public var reason: TerminationReason? { parameters["reason"].map { TerminationReason(rawValue: ASCII.lowercased($0)) } }

    public var description: String { state.rawValue + parameters.description }
}

extension SubscriptionState: ScannedValue {
    init?(scanner: inout ByteScanner) {
        guard let state = scanner.token(), let parameters = SIPParameters(scanner: &scanner) else { return nil }
        self.state = State(rawValue: ASCII.lowercased(scanner.string(state)))
        self.parameters = parameters
    }
}

/// Parser of delta-seconds (RFC 3261 25.1).
public enum DeltaSeconds {
    /// Number of seconds; 2^32 - 1 for larger numbers; nil if the text is not a number.
    public static func parse(_ text: String) -> UInt32? {
        let digits = text.utf8.drop { $0 == 0x20 || $0 == 0x09 }
        var value: UInt64 = 0
        var count = 0
        for byte in digits {
            if byte == 0x20 || byte == 0x09 || byte == 0x3B { break }
            guard (0x30...0x39).contains(byte) else { return nil }
            value = min(value * 10 + UInt64(byte - 0x30), UInt64(UInt32.max))
            count += 1
        }
        return count > 0 ? UInt32(value) : nil
    }
}
