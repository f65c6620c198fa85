/// Where a message came from: what the answer needs besides Via.
public struct MessageSource: Hashable, Sendable {
    public var local: TransportAddress
    public var remote: TransportAddress
    public var connection: ConnectionID?
    /// What the sender has proved of itself by TLS.
    public var peer: PeerIdentity?

    public init(local: TransportAddress, remote: TransportAddress, connection: ConnectionID? = nil, peer: PeerIdentity? = nil) {
        self.local = local
        self.remote = remote
        self.connection = connection
        self.peer = peer
    }

    public init(_ message: InboundMessage) {
        self.init(local: message.local, remote: message.remote, connection: message.connection, peer: message.peer)
    }
}

extension SIPRequest {
    /// Notes the packet's source in the top Via: `received` when sent-by says otherwise, both when `rport` is asked for (RFC 3261 18.2.1,
    /// RFC 3581 4). Clients of MS-SIPRE are told their port and their connection besides, as their servers do.
    ///
    /// - Parameter isPlace: whether the answer to this sender may go to another host, which `maddr` names; where it may not, that is removed.
    public mutating func noteReception(from source: MessageSource, isPlace: ((String, MessageSource) -> Bool)? = nil) {
        if let via = headers.topVia { noteReception(via, from: source, isPlace: isPlace) }
    }

    /// The same with the top Via already read; returns it as it is afterwards.
    @discardableResult
    mutating func noteReception(
        _ received: Via, from source: MessageSource, isPlace: ((String, MessageSource) -> Bool)? = nil
    ) -> Via {
        var via = received
        let isSame = ASCII.equal(via.sentByHost, source.remote.host)
        // Whatever the sender wrote there himself is worth nothing.
        var changed = via.parameters.contains("received")
        if changed { via.received = nil }
        if let isPlace, let maddr = via.maddr, maddr != source.remote.host, !isPlace(maddr, source) {
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

    /// Whether From has the parameter epid, which only clients of MS-SIPRE write (MS-SIPRE 2.2.1).
    private var isFromEndpointWithID: Bool { headers.first(.from)?.contains(";epid=") == true }
}

extension SIPResponse {
    /// Where the response goes: back over the connection, else by the top Via (RFC 3261 18.2.2, RFC 3581 4), and where that cannot be read,
    /// to where the request came from; nil without a Via.
    public func destination(from source: MessageSource) -> Destination? {
        if let via = headers.topVia { return via.responseDestination(from: source) }
        guard headers.contains(.via) else { return nil }
        return source.connection.map { .connection($0, fallback: nil) } ?? .address(source.remote, from: source.local)
    }
}

extension Via {
    /// Where a response with this top Via goes (RFC 3261 18.2.2, RFC 3581 4).
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
