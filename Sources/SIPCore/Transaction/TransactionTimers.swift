/// Base intervals of RFC 3261 17, from which all timers follow.
public struct TransactionTimers: Hashable, Sendable {
    /// Estimate of the round trip.
    public var t1: TimeSpan
    /// Longest interval between two transmissions of a non-INVITE request.
    public var t2: TimeSpan
    /// How long a message may stay in the network.
    public var t4: TimeSpan
    /// How long a server transaction may wait for its answer before it is forgotten; not in the RFC, so that nothing waits for ever.
    public var abandonment: TimeSpan

    public init(
        t1: TimeSpan = .milliseconds(500), t2: TimeSpan = .seconds(4), t4: TimeSpan = .seconds(5), abandonment: TimeSpan = .seconds(180)
    ) {
        self.t1 = t1
        self.t2 = t2
        self.t4 = t4
        self.abandonment = abandonment
    }

    public static let standard = TransactionTimers()

    /// 64*T1: timers F, H, J and RFC 6665's N.
    public var timeout: TimeSpan { t1 * 64 }
}
