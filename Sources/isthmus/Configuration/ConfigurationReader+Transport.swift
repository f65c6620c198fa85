import SIPCore
import SIPTransport

/// `transport`: bounds and habits of the sockets.
extension ConfigurationReader {
    mutating func readTransport(_ transport: ConfigurationNode) {
        enum LargeRequests: String, CaseIterable { case tcp, udp }
        let known = ["idle-s", "connect-ms", "queue-bytes", "header-bytes", "connections", "large-udp-requests", "messages-per-tick"]
        guard let fields = transport.fields(known) else { return }
        if let value = fields["idle-s"]?.integer(1...604_800) { configuration.transport.idleTimeout = .seconds(value) }
        if let value = fields["connect-ms"]?.integer(1...600_000) { configuration.transport.connectTimeout = .milliseconds(value) }
        if let value = fields["queue-bytes"]?.integer(65_536...1_073_741_824) { configuration.transport.maximumQueuedBytes = value }
        if let value = fields["header-bytes"]?.integer(1_024...1_048_576) { configuration.transport.maximumHeaderBytes = value }
        if let value = fields["connections"]?.integer(1...10_000_000) { configuration.transport.maximumConnections = value }
        if let value = fields["messages-per-tick"]?.integer(1...1_000_000) { configuration.transport.messagesPerTick = value }
        if fields["large-udp-requests"]?.choice(LargeRequests.self) == .udp { configuration.transport.largestDatagramRequest = nil }
    }
}
