import SIPCore

/// Bounds and habits of the sockets; the defaults suit a federation edge.
public struct TransportOptions: Hashable, Sendable {
    /// How long a stream connection may be silent in both directions before it is closed.
    public var idleTimeout: TimeSpan = .seconds(3_600)
    /// How long a peer may take from the first to the last octet of one message.
    public var messageTimeout: TimeSpan = .seconds(32)
    /// How long a connect may take before the messages that wait for it fail.
    public var connectTimeout: TimeSpan = .seconds(5)
    /// After how much silence a connection of ours is pinged (RFC 5626 4.4.1), a fifth less by chance; zero: never.
    public var pingInterval: TimeSpan = .seconds(120)
    /// How long any octet may be in coming after a ping, of a peer that is known to answer.
    public var pongTimeout: TimeSpan = .seconds(10)
    /// How long an address is not tried again to which a connection failed, and up to what each further failure doubles that; zero: tried
    /// by each message.
    public var reconnectPause: TimeSpan = .milliseconds(500)
    public var longestReconnectPause: TimeSpan = .seconds(30)
    /// Octets that may wait for one connection; a peer that reads slower than that is closed with a notice.
    public var maximumQueuedBytes = 8 << 20
    /// Octets of one framed message's start line and headers.
    public var maximumHeaderBytes = 65_536
    /// Octets of one framed message's body; what is larger is refused and the connection closed.
    public var maximumBodyBytes = 1 << 20
    /// Stream connections of one loop, accepted and opened together; beyond it new ones are closed or fail.
    public var maximumConnections = 50_000
    /// Of these, connections that the hosts at one address have opened, over all loops; an IPv6 address counts by its first 64 bits. 0: any
    /// number.
    public var connectionsPerAddress = 5_000
    /// Octets of messages that are not complete, held by the connections of one loop, and by those of one address (as above). Beyond it
    /// connections are closed, the one first whose message began first.
    public var unfinishedOctets = 128 << 20
    public var unfinishedOctetsPerAddress = 16 << 20
    /// How long a connection whose input is over is kept for the answers to what was taken.
    public var lingerTimeout: TimeSpan = .seconds(5)
    /// Requests longer than this go over TCP although UDP was asked for (RFC 3261 18.1.1 says 1300 when the MTU is unknown); nil: never.
    public var largestDatagramRequest: Int? = 1_300
    /// UDP peers known to listen on nothing else: the rule of `largestDatagramRequest` is not applied to them.
    public var datagramOnlyPeers: Set<TransportAddress> = []
    /// How long a peer that refused TCP is taken for UDP-only (RFC 3261 18.1.1 falls back to UDP).
    public var datagramFallbackMemory: TimeSpan = .seconds(60)
    /// TLS listeners, as they are asked for, that take clients without a certificate; all others insist on one.
    public var optionalCertificateListeners: Set<TransportAddress> = []
    /// How often the endpoint is told what the wall clock says.
    public var wallClockInterval: TimeSpan = .seconds(10)
    /// How late a loop must be for its endpoint to be told.
    public var latenessReported: TimeSpan = .milliseconds(100)
    /// Datagrams read by one system call.
    public var datagramsPerRead = 16
    /// Messages of one connection, or of one UDP source, that are taken in one tick of a loop; what comes beyond them waits for the next,
    /// so that no sender delays the others.
    public var messagesPerTick = 64

    /// Where copies of all messages go; nil: nowhere.
    public var capture: CaptureOptions?

    public init() {}
}

/// Numbers of one loop's sockets that only grow, for metrics.
public struct TransportCounters: Hashable, Sendable {
    public var messagesReceived: UInt64 = 0
    public var messagesSent: UInt64 = 0
    public var bytesReceived: UInt64 = 0
    public var bytesSent: UInt64 = 0
    public var connectionsAccepted: UInt64 = 0
    public var connectionsOpened: UInt64 = 0
    public var connectionsClosed: UInt64 = 0
    public var connectionsRefused: UInt64 = 0
    public var sendFailures: UInt64 = 0
    public var framingErrors: UInt64 = 0
    public var queueOverflows: UInt64 = 0
    public var idleCloses: UInt64 = 0
    public var largeRequestsOverTCP: UInt64 = 0
    public var handedToOtherShards: UInt64 = 0
    /// Connections that were closed at once because their address had as many as it may have.
    public var connectionsOverShare: UInt64 = 0
    /// Connections closed because too many octets of unfinished messages were held.
    public var unfinishedCloses: UInt64 = 0
    /// Messages that failed at once because connecting had failed a moment before.
    public var sendsPutOff: UInt64 = 0
    public var pingsSent: UInt64 = 0
    /// Requests that went over a connection which the partner had opened.
    public var sendsOverReused: UInt64 = 0
    /// Connections that did not answer a ping.
    public var flowsFailed: UInt64 = 0
    /// Copies sent to the collector, copies that it would not take in time, and copies that were cut to the length of a datagram.
    public var captured: UInt64 = 0
    public var captureDropped: UInt64 = 0
    public var captureCut: UInt64 = 0
    /// How often a sender that had its share of a tick had to wait.
    public var readsPaused: UInt64 = 0
    /// Datagrams of sources that went on sending while they waited.
    public var datagramsDropped: UInt64 = 0
    /// How often a listener stopped accepting because file descriptors were scarce.
    public var acceptsPaused: UInt64 = 0
    /// Connections closed because their peer's certificate counted no longer.
    public var peersDistrusted: UInt64 = 0

    public init() {}

    public static func + (left: TransportCounters, right: TransportCounters) -> TransportCounters {
        var sum = left
        for path in Self.all.map(\.path) { sum[keyPath: path] &+= right[keyPath: path] }
        return sum
    }

    /// Every counter with its name as metrics spell it.
    public static var all: [(name: String, path: WritableKeyPath<TransportCounters, UInt64>)] {
        [
            ("messages_received", \.messagesReceived), ("messages_sent", \.messagesSent), ("bytes_received", \.bytesReceived),
            ("bytes_sent", \.bytesSent), ("connections_accepted", \.connectionsAccepted), ("connections_opened", \.connectionsOpened),
            ("connections_closed", \.connectionsClosed), ("connections_refused", \.connectionsRefused),
            ("send_failures", \.sendFailures), ("framing_errors", \.framingErrors), ("queue_overflows", \.queueOverflows),
            ("idle_closes", \.idleCloses), ("large_requests_over_tcp", \.largeRequestsOverTCP),
            ("handed_to_other_shards", \.handedToOtherShards), ("captured", \.captured), ("capture_dropped", \.captureDropped),
            ("capture_cut", \.captureCut), ("reads_paused", \.readsPaused), ("datagrams_dropped", \.datagramsDropped),
            ("connections_over_share", \.connectionsOverShare), ("sends_put_off", \.sendsPutOff), ("pings_sent", \.pingsSent),
            ("flows_failed", \.flowsFailed), ("unfinished_closes", \.unfinishedCloses), ("sends_over_reused", \.sendsOverReused),
            ("accepts_paused", \.acceptsPaused), ("peers_distrusted", \.peersDistrusted),
        ]
    }
}
