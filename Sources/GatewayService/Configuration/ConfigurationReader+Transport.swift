import SIPCore
import SIPTransport

/// `transport`: limits and timers of the sockets.
extension ConfigurationReader {
    mutating func readTransport(_ transport: ConfigurationNode) {
        enum LargeRequests: String, CaseIterable { case tcp, udp }
        let known = [
            "idle-s", "connect-ms", "ping-s", "reconnect-minimum-ms", "reconnect-maximum-ms", "queue-bytes", "header-bytes", "connections",
            "connections-per-address", "unfinished-bytes", "unfinished-bytes-per-address", "large-udp-requests", "messages-per-tick",
        ]
        guard let fields = transport.fields(known) else { return }
        if let value = fields["idle-s"]?.integer(1...604_800) { configuration.transport.idleTimeout = .seconds(value) }
        if let value = fields["connect-ms"]?.integer(1...600_000) { configuration.transport.connectTimeout = .milliseconds(value) }
        if let value = fields["ping-s"]?.integer(0...86_400) { configuration.transport.pingInterval = .seconds(value) }
        if let value = fields["reconnect-minimum-ms"]?.integer(0...600_000) {
            configuration.transport.reconnectPause = .milliseconds(value)
        }
        if let field = fields["reconnect-maximum-ms"], let value = field.integer(1...3_600_000) {
            configuration.transport.longestReconnectPause = .milliseconds(value)
            if configuration.transport.reconnectPause > .milliseconds(value) {
                field.refuse(
                    "is less than `reconnect-minimum-ms`, which is \(configuration.transport.reconnectPause.nanoseconds / 1_000_000)")
            }
        }
        if let value = fields["queue-bytes"]?.integer(65_536...1_073_741_824) { configuration.transport.maximumQueuedBytes = value }
        if let value = fields["header-bytes"]?.integer(1_024...1_048_576) { configuration.transport.maximumHeaderBytes = value }
        if let value = fields["connections"]?.integer(1...10_000_000) { configuration.transport.maximumConnections = value }
        if let value = fields["connections-per-address"]?.integer(0...10_000_000) { configuration.transport.connectionsPerAddress = value }
        let unfinished: [(String, WritableKeyPath<TransportOptions, Int>)] = [
            ("unfinished-bytes", \.unfinishedOctets), ("unfinished-bytes-per-address", \.unfinishedOctetsPerAddress),
        ]
        for (name, path) in unfinished {
            if let value = fields[name]?.integer(4_194_304...1_099_511_627_776) { configuration.transport[keyPath: path] = value }
        }
        if let value = fields["messages-per-tick"]?.integer(1...1_000_000) { configuration.transport.messagesPerTick = value }
        if fields["large-udp-requests"]?.choice(LargeRequests.self) == .udp { configuration.transport.largestDatagramRequest = nil }
    }
}
