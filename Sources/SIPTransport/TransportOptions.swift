import SIPCore

/// Limits and timers of the sockets; the defaults suit a federation edge.
public struct TransportOptions: Hashable, Sendable {
    /// Time without any traffic after which a stream connection is closed; answers to pings do not count as traffic.
    package var idleTimeout: TimeSpan = .seconds(3_600)
    /// Time limit from the first to the last octet of one message on a stream connection.
    package var messageTimeout: TimeSpan = .seconds(32)
    /// Time limit of a connect; then the waiting messages fail.
    package var connectTimeout: TimeSpan = .seconds(5)
    /// Silence after which an outgoing connection is pinged (RFC 5626 4.4.1), shortened by up to 20 % at random; zero disables pings.
    package var pingInterval: TimeSpan = .seconds(120)
    /// Time to wait for input after a ping; then a peer known to answer pings counts as dead.
    package var pongTimeout: TimeSpan = .seconds(10)
    /// Pause after a failed connection, doubled by each further failure; zero tries again with each message.
    package var reconnectPause: TimeSpan = .milliseconds(500)
    /// Upper limit of ``reconnectPause`` after doubling, before up to 25 % jitter.
    package var longestReconnectPause: TimeSpan = .seconds(30)
    /// Limit of octets waiting for one connection; the connection of a slower peer is closed.
    package var maximumQueuedBytes = 8 << 20
    /// Limit of a message's start line and headers on a stream, in octets.
    package var maximumHeaderBytes = 65_536
    /// Limit of a message's body on a stream, in octets; a longer one is refused and the connection closed.
    package var maximumBodyBytes = 1 << 20
    /// Limit of stream connections of one loop, accepted and opened together; further ones are closed or fail.
    package var maximumConnections = 50_000
    /// Limit of accepted connections from one address, over all loops; the addresses of an IPv6 /64 count as one. 0 means unlimited.
    package var connectionsPerAddress = 5_000
    /// Limit of octets of incomplete messages held by the connections of one loop. Beyond it connections are closed, starting with the
    /// oldest incomplete message.
    package var unfinishedOctets = 128 << 20
    /// As ``unfinishedOctets``, for the connections from one address, counted as in ``connectionsPerAddress``.
    package var unfinishedOctetsPerAddress = 16 << 20
    /// Time that a connection with ended input stays open for responses to earlier requests.
    package var lingerTimeout: TimeSpan = .seconds(5)
    /// Requests longer than this number of octets use TCP instead of UDP (RFC 3261 18.1.1: 1300 when the path MTU is unknown); nil disables
    /// the rule.
    package var largestDatagramRequest: Int? = 1_300
    /// UDP peers that do not listen on TCP: ``largestDatagramRequest`` does not apply to them.
    package var datagramOnlyPeers: Set<TransportAddress> = []
    /// Time during which large requests to a peer that refused TCP use UDP (RFC 3261 18.1.1).
    package var datagramFallbackMemory: TimeSpan = .seconds(60)
    /// TLS listeners, by requested address, that accept clients without a certificate; all others require one.
    package var optionalCertificateListeners: Set<TransportAddress> = []
    /// Interval at which the endpoint receives the wall-clock time.
    package var wallClockInterval: TimeSpan = .seconds(10)
    /// Shortest delay of a loop that is reported to its endpoint.
    package var latenessReported: TimeSpan = .milliseconds(100)
    /// Number of datagrams read by one system call.
    package var datagramsPerRead = 16
    /// Messages of one connection or UDP source handled in one tick of a loop; further ones wait for the next tick, so that no sender
    /// delays the others.
    package var messagesPerTick = 64

    /// Octets of the last messages that each loop holds at all times; 0 holds messages only while they are read.
    package var recalledOctets = 0

    /// Collector that receives a copy of every message; nil disables capturing.
    package var capture: CaptureOptions?

    public init() {}
}

/// Counters of one loop's sockets, for metrics; they only grow.
package struct TransportCounters: Hashable, Sendable {
    /// Framed messages and datagrams received, keep-alives excluded.
    package var messagesReceived: UInt64 = 0
    /// Messages handed to an open connection or a UDP socket.
    package var messagesSent: UInt64 = 0
    /// Octets received, after TLS decryption, keep-alives included.
    package var bytesReceived: UInt64 = 0
    /// Octets sent, before TLS encryption, pings excluded.
    package var bytesSent: UInt64 = 0
    /// Connections accepted, before any TLS handshake.
    package var connectionsAccepted: UInt64 = 0
    /// Connections opened by this node, after any TLS handshake.
    package var connectionsOpened: UInt64 = 0
    /// Open connections that ended, whichever side closed them.
    package var connectionsClosed: UInt64 = 0
    /// Connections refused or not opened because of a limit of connections, handshakes or file descriptors.
    package var connectionsRefused: UInt64 = 0
    /// Messages that could not be sent.
    package var sendFailures: UInt64 = 0
    /// Connections ended because their input could not be framed.
    package var framingErrors: UInt64 = 0
    /// Connections closed because too many octets waited for the peer.
    package var queueOverflows: UInt64 = 0
    /// Connections closed as idle, or because a message exceeded ``TransportOptions/messageTimeout``.
    package var idleCloses: UInt64 = 0
    /// Requests moved from UDP to TCP because of their length.
    package var largeRequestsOverTCP: UInt64 = 0
    /// Received messages passed to another shard.
    package var handedToOtherShards: UInt64 = 0
    /// Connections refused because their address had reached ``TransportOptions/connectionsPerAddress``.
    package var connectionsOverShare: UInt64 = 0
    /// Connections closed because too many octets of incomplete messages were held.
    package var unfinishedCloses: UInt64 = 0
    /// Sends during the pause that follows a failed connect; they fail at once, or return to UDP.
    package var sendsPutOff: UInt64 = 0
    /// Keep-alive pings sent (RFC 5626 4.4.1).
    package var pingsSent: UInt64 = 0
    /// Messages sent over a connection that the partner opened (RFC 5923).
    package var sendsOverReused: UInt64 = 0
    /// Connections closed because a ping was not answered.
    package var flowsFailed: UInt64 = 0
    /// Copies written to the collector's socket.
    package var captured: UInt64 = 0
    /// Copies dropped because the collector's socket was not writable.
    package var captureDropped: UInt64 = 0
    /// Copies truncated to the length of a datagram; they count in ``captured`` too.
    package var captureCut: UInt64 = 0
    /// Number of times a sender had to wait because it had used its share of a tick.
    package var readsPaused: UInt64 = 0
    /// Datagrams dropped because their source, or all sources together, had too many waiting.
    package var datagramsDropped: UInt64 = 0
    /// Number of times a listener paused because file descriptors were scarce or accepting failed.
    package var acceptsPaused: UInt64 = 0
    /// Connections closed because the peer's certificate was no longer accepted.
    package var peersDistrusted: UInt64 = 0

    package init() {}

    /// Adds two sets of counters, field by field, with wraparound.
    package static func + (left: TransportCounters, right: TransportCounters) -> TransportCounters {
        var sum = left
        for path in Self.all.map(\.path) { sum[keyPath: path] &+= right[keyPath: path] }
        return sum
    }

    /// All counters with their names and sentences in metrics.
    package static var all: [(name: String, help: String, path: WritableKeyPath<TransportCounters, UInt64>)] {
        [
            ("messages_received", "SIP messages and datagrams received, keep-alives excluded.", \.messagesReceived),
            ("messages_sent", "SIP messages handed to an open connection or a UDP socket.", \.messagesSent),
            ("bytes_received", "Octets received, after TLS decryption, keep-alives included.", \.bytesReceived),
            ("bytes_sent", "Octets sent, before TLS encryption, pings excluded.", \.bytesSent),
            ("connections_accepted", "Connections accepted, before any TLS handshake.", \.connectionsAccepted),
            ("connections_opened", "Connections opened by this node, after any TLS handshake.", \.connectionsOpened),
            ("connections_closed", "Open connections that ended, whichever side closed them.", \.connectionsClosed),
            (
                "connections_refused",
                "Connections refused or not opened because of a limit of connections, handshakes or file descriptors.",
                \.connectionsRefused
            ),
            ("send_failures", "SIP messages that could not be sent.", \.sendFailures),
            ("framing_errors", "Connections ended because their input could not be divided into messages.", \.framingErrors),
            ("queue_overflows", "Connections closed because too many octets waited for the peer.", \.queueOverflows),
            ("idle_closes", "Connections closed as idle, or because a message took too long to arrive.", \.idleCloses),
            ("large_requests_over_tcp", "Requests sent over TCP in place of UDP because of their length.", \.largeRequestsOverTCP),
            ("handed_to_other_shards", "Received messages that another shard serves.", \.handedToOtherShards),
            ("captured", "Copies of messages written to the collector's socket.", \.captured),
            ("capture_dropped", "Copies of messages dropped because the collector's socket was not writable.", \.captureDropped),
            ("capture_cut", "Copies of messages truncated to the length of a datagram.", \.captureCut),
            ("reads_paused", "Pauses of a sender that had used its share of a turn of the event loop.", \.readsPaused),
            ("datagrams_dropped", "Datagrams dropped because too many of their source, or of all sources, waited.", \.datagramsDropped),
            ("connections_over_share", "Connections refused because their address had too many.", \.connectionsOverShare),
            ("sends_put_off", "Sends during the pause that follows a failed connect.", \.sendsPutOff),
            ("pings_sent", "Keep-alive pings sent over connections (RFC 5626 4.4.1).", \.pingsSent),
            ("flows_failed", "Connections closed because a ping was not answered.", \.flowsFailed),
            ("unfinished_closes", "Connections closed because too many octets of incomplete messages were held.", \.unfinishedCloses),
            ("sends_over_reused", "Messages sent over a connection that the partner opened (RFC 5923).", \.sendsOverReused),
            ("accepts_paused", "Pauses of a listener because file descriptors were scarce or accepting failed.", \.acceptsPaused),
            ("peers_distrusted", "Connections closed because the peer's certificate was no longer accepted.", \.peersDistrusted),
        ]
    }
}
