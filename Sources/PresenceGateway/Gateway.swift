import SIPCore

/// One shard of the gateway: a back-to-back user agent between enterprise watchers and presentities (MS-PRES) and those of the
/// SIMPLE family (RFC 3856), without I/O and without a clock.
///
/// Bytes, notices and `now` go in through ``SansIOEndpoint``; messages to send come out of ``takeOutput()``. Not Sendable: one
/// event loop owns it.
public final class Gateway: SansIOEndpoint {
    public private(set) var configuration: GatewayConfiguration
    public private(set) var counters = GatewayCounters()

    /// - Parameters:
    ///   - shard: which of `shards` this is; written into tags, branches and Call-IDs so that ``ShardRouter`` finds it again.
    ///   - seed: of every identifier that is made; take it from the system's randomness in production, from the test otherwise.
    public init(configuration: GatewayConfiguration, shard: Int = 0, shards: Int = 1, seed: UInt64) {
        self.configuration = configuration
    }

    public func receive(_ message: InboundMessage, at now: Instant) {}
    public func receive(_ notice: TransportNotice, at now: Instant) {}
    public func advance(to now: Instant) {}
    public var nextDeadline: Instant? { nil }
    public func takeOutput() -> [OutboundMessage] { [] }

    /// The log records since the last call, oldest first.
    public func takeLogs() -> [GatewayLog] { [] }

    /// What is alive now.
    public var counts: GatewayCounts { GatewayCounts() }

    /// Ends every dialog: watchers get `terminated;reason=deactivated`, upstream subscriptions are given up (RFC 6665 4.2.2).
    /// Done when ``isDrained``.
    public func shutdown(at now: Instant) {}

    /// Whether nothing is left to be sent or awaited after ``shutdown(at:)``.
    public var isDrained: Bool { true }

    /// Replaces domains, limits and timing; dialogs that live keep what they were granted.
    public func reconfigure(_ configuration: GatewayConfiguration, at now: Instant) {
        self.configuration = configuration
    }
}
