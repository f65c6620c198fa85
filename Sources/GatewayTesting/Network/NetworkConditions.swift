import SIPCore

/// What a simulated link does to the messages that travel over it.
///
/// Loss, duplication and reordering touch UDP only; on streams order is kept and every message arrives unless the connection dies.
public struct NetworkConditions: Sendable, Hashable {
    /// The time every message takes at least.
    public var delay: TimeSpan
    /// Added to `delay`, evenly between zero and this; on UDP it reorders messages that are sent closer together than it is wide.
    public var jitter: TimeSpan
    /// The share of datagrams that never arrive, 0...1.
    public var loss: Double
    /// The share of datagrams that arrive twice, 0...1.
    public var duplication: Double
    /// The share of datagrams that are held back by three times `delay + jitter`, 0...1.
    public var reordering: Double
    /// The chance that a connection dies with the message that is sent over it, 0...1.
    public var connectionDeath: Double
    /// Why no connection can be made, such as a refused TLS handshake; connections that live go on. nil: it can.
    public var refusal: String?

    public init(
        delay: TimeSpan = .milliseconds(1), jitter: TimeSpan = .zero, loss: Double = 0, duplication: Double = 0,
        reordering: Double = 0, connectionDeath: Double = 0
    ) {
        self.delay = delay
        self.jitter = jitter
        self.loss = loss
        self.duplication = duplication
        self.reordering = reordering
        self.connectionDeath = connectionDeath
    }

    /// One millisecond, and nothing goes wrong.
    public static let perfect = NetworkConditions()
    /// A wide-area path on a bad day.
    public static let poor = NetworkConditions(
        delay: .milliseconds(20), jitter: .milliseconds(60), loss: 0.1, duplication: 0.05, reordering: 0.1)
    /// Hardly usable: every third datagram is lost.
    public static let terrible = NetworkConditions(
        delay: .milliseconds(50), jitter: .milliseconds(300), loss: 0.33, duplication: 0.15, reordering: 0.2)
    /// Nothing arrives.
    public static let partitioned = NetworkConditions(loss: 1, connectionDeath: 1)
}
