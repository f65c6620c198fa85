/// The Subscription-State value of a NOTIFY (RFC 6665 8.2.3).
public struct SubscriptionState: Hashable, Sendable, CustomStringConvertible {
    public struct State: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let active = State(rawValue: "active")
        public static let pending = State(rawValue: "pending")
        public static let terminated = State(rawValue: "terminated")
    }

    /// Why a subscription ended (RFC 6665 4.1.3).
    public struct TerminationReason: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }
        public static let deactivated = TerminationReason(rawValue: "deactivated")
        public static let probation = TerminationReason(rawValue: "probation")
        public static let rejected = TerminationReason(rawValue: "rejected")
        public static let timeout = TerminationReason(rawValue: "timeout")
        public static let giveup = TerminationReason(rawValue: "giveup")
        public static let noresource = TerminationReason(rawValue: "noresource")
        public static let invariant = TerminationReason(rawValue: "invariant")
    }

    /// In lower case.
    public var state: State
    public var parameters: SIPParameters

    public init(_ state: State, parameters: SIPParameters = SIPParameters()) {
        self.state = state
        self.parameters = parameters
    }

    public static func active(expires: UInt32) -> SubscriptionState {
        SubscriptionState(.active, parameters: SIPParameters([.init("expires", String(expires))]))
    }

    public static func pending(expires: UInt32) -> SubscriptionState {
        SubscriptionState(.pending, parameters: SIPParameters([.init("expires", String(expires))]))
    }

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

    /// Seconds; numbers beyond 2^32-1 read as that.
    public var expires: UInt32? { parameters["expires"].flatMap(DeltaSeconds.parse) }
    /// Seconds.
    public var retryAfter: UInt32? { parameters["retry-after"].flatMap(DeltaSeconds.parse) }
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

/// delta-seconds (RFC 3261 25.1).
public enum DeltaSeconds {
    /// The number; 2^32-1 for anything larger; nil if the text is no number.
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
