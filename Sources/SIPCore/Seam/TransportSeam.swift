/// The seam between the pure rooms and whatever moves bytes: NIO sockets in production, the simulated network in tests.
///
/// Bytes and `now` go in, bytes and destinations come out. Framing (RFC 3261 18.3) is done on the far side of this seam, so
/// each `InboundMessage` is exactly one SIP message; parsing is done on this side.

/// How a message travels (RFC 3261 section 18; the token of Via is the upper-case raw value).
public enum TransportProtocol: String, Hashable, Sendable, CaseIterable {
    case udp, tcp, tls

    /// Whether the transport delivers every byte in order, so that no retransmission is needed (RFC 3261 17.1.2.2).
    public var isReliable: Bool { self != .udp }

    /// The port when none is written: 5060, for TLS 5061 (RFC 3261 19.1.2).
    public var defaultPort: Int { self == .tls ? 5061 : 5060 }
}

/// A transport, a host (name or address literal without brackets) and a port.
public struct TransportAddress: Hashable, Sendable, CustomStringConvertible {
    public var transport: TransportProtocol
    public var host: String
    public var port: Int
    /// The name that a TLS peer at this address has to prove by its certificate, in lower case: what was asked for before names were
    /// looked up (RFC 5922 4); nil: the host. Two peers behind one address are two addresses by it, and share no connection.
    public var provenName: String?

    public init(_ transport: TransportProtocol, _ host: String, _ port: Int, proving name: String? = nil) {
        self.transport = transport
        self.host = host
        self.port = port
        provenName = name
    }

    /// `tcp:127.0.0.1:5060`, `udp:[::1]:5060`: the form used in the configuration.
    public var description: String {
        host.contains(":") ? "\(transport.rawValue):[\(host)]:\(port)" : "\(transport.rawValue):\(host):\(port)"
    }

    /// Whether a host is an address rather than a name: digits and dots, or a colon.
    public static func isNumeric(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || (!host.isEmpty && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) })
    }

    /// Whether nobody has to be asked where this is.
    public var isNumeric: Bool { Self.isNumeric(host) }
}

/// One accepted or opened connection; never reused within a process.
public struct ConnectionID: Hashable, Sendable {
    public var rawValue: UInt64
    public init(rawValue: UInt64) { self.rawValue = rawValue }
}

/// One framed SIP message as it arrived.
public struct InboundMessage: Hashable, Sendable {
    public var bytes: [UInt8]
    /// The listener, or the local end of a connection that we opened.
    public var local: TransportAddress
    /// The packet's source or the connection's far end.
    public var remote: TransportAddress
    /// Present on stream transports.
    public var connection: ConnectionID?
    /// What the far end of a TLS connection has proved of itself; nil: nothing.
    public var peer: PeerIdentity?

    public init(
        bytes: [UInt8], local: TransportAddress, remote: TransportAddress, connection: ConnectionID? = nil, peer: PeerIdentity? = nil
    ) {
        self.bytes = bytes
        self.local = local
        self.remote = remote
        self.connection = connection
        self.peer = peer
    }
}

/// Where a message is to go.
public enum Destination: Hashable, Sendable {
    /// Over this connection if it still lives; else to the fallback, else it fails.
    case connection(ConnectionID, fallback: TransportAddress?)
    /// To this address: from the given listener for UDP; over any live or new connection for streams.
    case address(TransportAddress, from: TransportAddress?)
}

/// One SIP message to be sent.
public struct OutboundMessage: Hashable, Sendable {
    public var bytes: [UInt8]
    public var destination: Destination
    /// Handed back in `TransportNotice.failed`, so that the core knows which message it was. 0: not interested.
    public var token: UInt64
    /// How long it may wait for its connection, TLS included, before it is given back by `TransportNotice.failed`, so that another server
    /// can be asked; nil: as long as connecting takes.
    public var connectPatience: TimeSpan?

    public init(bytes: [UInt8], destination: Destination, token: UInt64 = 0, connectPatience: TimeSpan? = nil) {
        self.bytes = bytes
        self.destination = destination
        self.token = token
        self.connectPatience = connectPatience
    }
}

/// What a request left by; its answer comes back the same way.
public enum Carrier: Hashable, Sendable {
    case connection(ConnectionID)
    /// A datagram to this host: an address literal, written as the transport writes the source of a datagram.
    case datagram(host: String)
}

/// What the transport reports besides messages.
public enum TransportNotice: Hashable, Sendable {
    /// The carrier of the message with this token, which its destination does not name: a stream was addressed, the named connection is
    /// gone, a name was resolved, or the transport was changed (RFC 3261 18.1.1). Comes before any answer.
    case carried(token: UInt64, by: Carrier)
    /// The connection ended, by either side.
    case closed(ConnectionID)
    /// The message with this token could not be sent.
    case failed(token: UInt64, reason: String)
    /// The endpoint was served that much later than it should have been; zero once it is in time again.
    case late(TimeSpan)
    /// What became of a question of ``SansIOEndpoint/takeQuestions()``.
    case answered(NameQuestion, NameAnswer)
}

/// Anything that speaks SIP without doing I/O: the gateway, and the scripted peers of the tests.
public protocol SansIOEndpoint: AnyObject {
    func receive(_ message: InboundMessage, at now: Instant)
    func receive(_ notice: TransportNotice, at now: Instant)
    /// What the wall clock says, told regularly: it may be set, while `now` goes on evenly.
    func receive(wallClock: Instant, at now: Instant)
    /// Fires every timer due at or before `now`.
    func advance(to now: Instant)
    /// When `advance` next has something to do; nil: never.
    var nextDeadline: Instant? { get }
    /// Everything to be sent since the last call, in order.
    func takeOutput() -> [OutboundMessage]
    /// What has to be asked of the Domain Name System since the last call; each is answered by ``TransportNotice/answered(_:_:)``.
    func takeQuestions() -> [NameQuestion]
}

extension SansIOEndpoint {
    /// Has no use for the wall clock.
    public func receive(wallClock: Instant, at now: Instant) {}

    /// Asks nothing.
    public func takeQuestions() -> [NameQuestion] { [] }
}
