/// Source of a message: the addresses that its response needs besides Via.
public struct MessageSource: Hashable, Sendable {
    /// Local address at which the message arrived.
    public var local: TransportAddress
    /// Remote address from which the message was sent.
    public var remote: TransportAddress
    /// Connection, for stream transports only.
    public var connection: ConnectionID?
    /// Identity that the sender proved by TLS; nil without one.
    public var peer: PeerIdentity?

    public init(local: TransportAddress, remote: TransportAddress, connection: ConnectionID? = nil, peer: PeerIdentity? = nil) {
        self.local = local
        self.remote = remote
        self.connection = connection
        self.peer = peer
    }

    /// Source of a received message.
    public init(_ message: InboundMessage) {
        self.init(local: message.local, remote: message.remote, connection: message.connection, peer: message.peer)
    }
}

extension SIPRequest {
    /// Records the packet's source in the top Via: `received` if sent-by differs, `received` and `rport` if `rport` is present (RFC
    /// 3261 18.2.1, RFC 3581 4). Clients of MS-SIPRE without `rport` also get their port and connection.
    ///
    /// - Parameter isAddress: Whether responses to this sender may go to the host that `maddr` names; if not, `maddr` is removed.
    public mutating func noteReception(from source: MessageSource, isAddress: ((String, MessageSource) -> Bool)? = nil) {
        if let via = headers.topVia { noteReception(via, from: source, isAddress: isAddress) }
    }

    /// Same, with the top Via already parsed; returns the new one.
    @discardableResult
    mutating func noteReception(
        _ received: Via, from source: MessageSource, isAddress: ((String, MessageSource) -> Bool)? = nil
    ) -> Via {
        var via = received
        let isSame = ASCII.equal(via.sentByHost, source.remote.host)
        // Remove `received` that the sender wrote: it is not trustworthy.
        var changed = via.parameters.contains("received")
        if changed { via.received = nil }
        if let isAddress, let maddr = via.maddr, maddr != source.remote.host, !isAddress(maddr, source) {
            via.parameters.remove("maddr")
            changed = true
        }
        if via.wantsRport {
            via.rport = source.remote.port
            via.received = source.remote.host
            changed = true
        } else if !isSame {
            via.received = source.remote.host
            changed = true
        }
        if let connection = source.connection, !via.wantsRport, isFromEndpointWithID {
            via.parameters.set("ms-received-port", String(source.remote.port))
            via.parameters.set("ms-received-cid", String(connection.rawValue, radix: 16, uppercase: true))
            changed = true
        }
        if changed { headers.topVia = via }
        return via
    }

    /// Whether From has the parameter `epid`, which only clients of MS-SIPRE send (MS-SIPRE 2.2.1).
    private var isFromEndpointWithID: Bool { headers.first(.from)?.contains(";epid=") == true }
}

extension SIPResponse {
    /// Destination of the response: the connection, else by the top Via (RFC 3261 18.2.2, RFC 3581 4), or the source of the request
    /// if that Via is malformed; nil without a Via.
    public func destination(from source: MessageSource) -> Destination? {
        if let via = headers.topVia { return via.responseDestination(from: source) }
        guard headers.contains(.via) else { return nil }
        return source.connection.map { .connection($0, fallback: nil) } ?? .address(source.remote, from: source.local)
    }
}

extension Via {
    /// Destination of a response with this top Via (RFC 3261 18.2.2, RFC 3581 4).
    func responseDestination(from source: MessageSource) -> Destination {
        let transport = source.remote.transport
        let port = sentByPort ?? transport.defaultPort
        if transport.isReliable {
            let fallback = TransportAddress(transport, received ?? sentByHost, port)
            guard let connection = source.connection else { return .address(fallback, from: nil) }
            return .connection(connection, fallback: fallback)
        }
        let address: TransportAddress
        if let maddr {
            address = TransportAddress(transport, maddr, port)
        } else if let received {
            address = TransportAddress(transport, received, rport ?? port)
        } else {
            address = TransportAddress(transport, sentByHost, port)
        }
        return .address(address, from: source.local)
    }
}
