/// Base intervals of RFC 3261 17, from which all timers follow.
public struct TransactionTimers: Hashable, Sendable {
    /// T1: estimate of the round-trip time.
    public var t1: TimeSpan
    /// T2: longest interval between two transmissions of a non-INVITE request.
    public var t2: TimeSpan
    /// T4: longest time that a message stays in the network.
    public var t4: TimeSpan
    /// Longest wait of a server transaction for the user's response; not in the RFC, so that no transaction waits for ever.
    public var abandonment: TimeSpan

    /// Creates intervals; by default T1 is 500 ms, T2 4 s, T4 5 s and the wait for the user 180 s.
    public init(
        t1: TimeSpan = .milliseconds(500), t2: TimeSpan = .seconds(4), t4: TimeSpan = .seconds(5), abandonment: TimeSpan = .seconds(180)
    ) {
        self.t1 = t1
        self.t2 = t2
        self.t4 = t4
        self.abandonment = abandonment
    }

    /// Default values of RFC 3261 17.
    public static let standard = TransactionTimers()

    /// Timers F, H and J, and timer N of RFC 6665: 64*T1.
    public var timeout: TimeSpan { t1 * 64 }
}
