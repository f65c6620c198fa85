import SIPCore

/// Conditions of a simulated link: delay, loss, duplication, reordering and connection failures.
///
/// Loss, duplication and reordering apply to UDP only; streams keep the order, and lose messages only when the connection dies.
package struct NetworkConditions: Sendable, Hashable {
    /// Minimum delay of every message.
    package var delay: TimeSpan
    /// Additional random delay, uniform between zero and this value; on UDP it reorders messages that are sent at shorter intervals.
    package var jitter: TimeSpan
    /// Probability that a datagram is lost, 0...1.
    package var loss: Double
    /// Probability that a datagram is duplicated, 0...1.
    package var duplication: Double
    /// Probability that a datagram is delayed by a further three times `delay + jitter`, 0...1.
    package var reordering: Double
    /// Probability that a connection dies with the message sent over it, 0...1; with 1 no connection can be opened.
    package var connectionDeath: Double
    /// Reason why new connections fail, such as a refused TLS handshake; existing ones continue. nil allows connections.
    package var refusal: String?

    /// Creates conditions; by default a delay of 1 ms without any failure.
    package init(
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

    /// Delay of 1 ms, no failures.
    package static let perfect = NetworkConditions()
    /// A congested wide-area path: 10 % loss, delays of 20 to 80 ms.
    package static let poor = NetworkConditions(
        delay: .milliseconds(20), jitter: .milliseconds(60), loss: 0.1, duplication: 0.05, reordering: 0.1)
    /// A barely usable path: 33 % loss, delays of 50 to 350 ms.
    package static let terrible = NetworkConditions(
        delay: .milliseconds(50), jitter: .milliseconds(300), loss: 0.33, duplication: 0.15, reordering: 0.2)
    /// No message arrives and no connection opens.
    package static let partitioned = NetworkConditions(loss: 1, connectionDeath: 1)
}
