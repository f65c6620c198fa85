/// Seam between the pure modules and the transport: NIO sockets in production, the simulated network in tests.
///
/// Bytes and `now` go in, bytes and destinations come out. The transport frames messages (RFC 3261 18.3), so that each
/// `InboundMessage` is exactly one SIP message; the core parses them, once each.

/// Transport of a message (RFC 3261 18; the token of Via is the upper-case raw value).
public enum TransportProtocol: String, Hashable, Sendable, CaseIterable {
    case udp, tcp, tls

    /// Whether the transport delivers every byte in order, so that no retransmission is needed (RFC 3261 17.1.2.2).
    public var isReliable: Bool { self != .udp }

    /// Default port: 5060, for TLS 5061 (RFC 3261 19.1.2).
    public var defaultPort: Int { self == .tls ? 5061 : 5060 }
}

/// Transport, host (name or address literal without brackets) and port.
public struct TransportAddress: Hashable, Sendable, CustomStringConvertible {
    /// Transport protocol to use.
    public var transport: TransportProtocol
    /// Name or address literal, without brackets.
    public var host: String
    /// Port number.
    public var port: Int
    /// Name that the certificate of a TLS peer must prove, in lower case: the one before name resolution (RFC 5922 4); nil: the
    /// host. Two peers at one address differ in it, and share no connection.
    public var provenName: String?

    /// Creates an address; by default a TLS peer must prove the host.
    public init(_ transport: TransportProtocol, _ host: String, _ port: Int, proving name: String? = nil) {
        self.transport = transport
        self.host = host
        self.port = port
        provenName = name
    }

    /// Form used in the configuration: `tcp:127.0.0.1:5060`, `udp:[::1]:5060`.
    public var description: String {
        host.contains(":") ? "\(transport.rawValue):[\(host)]:\(port)" : "\(transport.rawValue):\(host):\(port)"
    }

    /// Whether a host is an address rather than a name: digits and dots only, or with a colon.
    public static func isNumeric(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || (!host.isEmpty && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) })
    }

    /// Whether the host needs no name resolution.
    public var isNumeric: Bool { Self.isNumeric(host) }
}

/// Accepted or opened connection; not reused within a process.
public struct ConnectionID: Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// Framed SIP message as received.
public struct InboundMessage: Sendable {
    /// Octets of exactly one message.
    public let bytes: [UInt8]
    /// Listener, or local end of an outgoing connection.
    public var local: TransportAddress
    /// Source of the packet, or remote end of the connection.
    public var remote: TransportAddress
    /// Connection, for stream transports only.
    public var connection: ConnectionID?
    /// Identity that the remote end of a TLS connection proved; nil without one.
    public var peer: PeerIdentity?
    private var kept: KeptParse?

    /// Result of parsing the octets, shared by the copies of a message.
    private final class KeptParse: Sendable {
        let limits: SIPLimits
        let result: Result<SIPMessage, SIPParseError>

        init(_ result: Result<SIPMessage, SIPParseError>, limits: SIPLimits) {
            self.limits = limits
            self.result = result
        }
    }

    public init(
        bytes: [UInt8], local: TransportAddress, remote: TransportAddress, connection: ConnectionID? = nil, peer: PeerIdentity? = nil
    ) {
        self.bytes = bytes
        self.local = local
        self.remote = remote
        self.connection = connection
        self.peer = peer
    }

    /// Whether ``parse(limits:)`` has kept its result.
    public var isParsed: Bool { kept != nil }

    /// Parses the message and keeps the result in it, so that the endpoint does not parse the message again.
    public mutating func parse(limits: SIPLimits = .standard) -> Result<SIPMessage, SIPParseError> {
        let result = parsed(limits: limits)
        if kept?.limits != limits { kept = KeptParse(result, limits: limits) }
        return result
    }

    /// Message by the framing rule of its transport; parsed here, unless a result with these limits was kept.
    func parsed(limits: SIPLimits) -> Result<SIPMessage, SIPParseError> {
        if let kept, kept.limits == limits { return kept.result }
        return SIPParser.parse(bytes, framing: remote.transport.isReliable ? .stream : .datagram, limits: limits)
    }
}

/// Equality of messages is that of what was received; a kept parse is no part of it.
extension InboundMessage: Hashable {
    public static func == (one: Self, other: Self) -> Bool {
        one.bytes == other.bytes && one.local == other.local && one.remote == other.remote && one.connection == other.connection
            && one.peer == other.peer
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(bytes)
        hasher.combine(local)
        hasher.combine(remote)
        hasher.combine(connection)
        hasher.combine(peer)
    }
}

/// Destination of a message.
public enum Destination: Hashable, Sendable {
    /// This connection if it is open; else the fallback, else sending fails.
    case connection(ConnectionID, fallback: TransportAddress?)
    /// This address: from the given listener for UDP; over any open or new connection for streams.
    case address(TransportAddress, from: TransportAddress?)
}

/// SIP message to send.
public struct OutboundMessage: Hashable, Sendable {
    /// Octets of exactly one message.
    public var bytes: [UInt8]
    /// Destination of the message.
    public var destination: Destination
    /// Returned in `TransportNotice.failed` to identify the message; 0: no report is needed.
    public var token: UInt64
    /// Longest wait for a connection, TLS included, before `TransportNotice.failed` returns the message, so that another server can
    /// be tried; nil: as long as connecting takes.
    public var connectPatience: TimeSpan?

    public init(bytes: [UInt8], destination: Destination, token: UInt64 = 0, connectPatience: TimeSpan? = nil) {
        self.bytes = bytes
        self.destination = destination
        self.token = token
        self.connectPatience = connectPatience
    }
}

/// Carrier of a request; the response arrives by the same one.
public enum Carrier: Hashable, Sendable {
    case connection(ConnectionID)
    /// Datagram to this host: an address literal, as the transport writes the source of a datagram.
    case datagram(host: String)
}

/// End of a connection.
public enum ConnectionEnd: Hashable, Sendable {
    /// Closed by this side as idle.
    case idle
    /// The peer ended its stream: it closed an idle connection, or its process ended. All that it sent has arrived.
    case byPeer
    /// Reset, cut off, dead, or closed by this side for a fault.
    case broken
}

/// Report of the transport other than a message.
public enum TransportNotice: Hashable, Sendable {
    /// Carrier of the message with this token, if its destination does not name it: a stream was addressed, the named connection is
    /// gone, a name was resolved, or the transport was changed (RFC 3261 18.1.1). Precedes any response.
    case carried(token: UInt64, by: Carrier)
    /// The connection was closed, by either side.
    case closed(ConnectionID, ConnectionEnd = .broken)
    /// The message with this token could not be sent.
    case failed(token: UInt64, reason: String)
    /// The endpoint was called that much later than required; zero once it is on time again.
    case late(TimeSpan)
    /// Answer to a question of ``SansIOEndpoint/takeQuestions()``.
    case answered(NameQuestion, NameAnswer)
}

/// SIP endpoint without I/O: the gateway, and the scripted peers of the tests.
public protocol SansIOEndpoint: AnyObject {
    func receive(_ message: InboundMessage, at now: Instant)
    func receive(_ notice: TransportNotice, at now: Instant)
    /// Reports the wall clock regularly: it may be set, while `now` advances evenly.
    func receive(wallClock: Instant, at now: Instant)
    /// Fires every timer due at or before `now`.
    func advance(to now: Instant)
    /// Time at which `advance` must be called; nil when no timer runs.
    var nextDeadline: Instant? { get }
    /// Messages to send since the last call, in order.
    func takeOutput() -> [OutboundMessage]
    /// Questions to the Domain Name System since the last call; each is answered by ``TransportNotice/answered(_:_:)``.
    func takeQuestions() -> [NameQuestion]
    /// Processes a value of another shard.
    func receive(_ envelope: ShardEnvelope, at now: Instant)
    /// Values for other shards since the last call, in order; to be taken after ``takeOutput()``.
    func takeEnvelopes() -> [ShardEnvelope]
}

/// A value that one shard sends to another. The transport carries those of a tick together; they arrive once each, in any order.
public struct ShardEnvelope: Sendable {
    /// Index of the sending shard.
    public let source: Int
    /// Index of the receiving shard.
    public let target: Int
    /// Number among the envelopes of the two shards in this direction, from 1, without gaps.
    public let sequence: UInt64
    /// Value from one endpoint to the other.
    public let content: any Sendable

    /// Creates an envelope.
    public init(from source: Int, to target: Int, sequence: UInt64, _ content: any Sendable) {
        self.source = source
        self.target = target
        self.sequence = sequence
        self.content = content
    }
}

extension SansIOEndpoint {
    /// Ignores the wall clock, by default.
    public func receive(wallClock: Instant, at now: Instant) {}

    /// Returns no questions, by default.
    public func takeQuestions() -> [NameQuestion] { [] }

    /// Ignores other shards, by default.
    public func receive(_ envelope: ShardEnvelope, at now: Instant) {}

    /// Returns no values for other shards, by default.
    public func takeEnvelopes() -> [ShardEnvelope] { [] }
}
