/// Where a message came from: what the answer needs besides Via.
public struct MessageSource: Hashable, Sendable {
    public var local: TransportAddress
    public var remote: TransportAddress
    public var connection: ConnectionID?

    public init(local: TransportAddress, remote: TransportAddress, connection: ConnectionID? = nil) {
        self.local = local
        self.remote = remote
        self.connection = connection
    }

    public init(_ message: InboundMessage) {
        self.init(local: message.local, remote: message.remote, connection: message.connection)
    }
}

extension SIPRequest {
    /// Notes the packet's source in the top Via: `received` when sent-by says otherwise, both when `rport` is asked for (RFC 3261 18.2.1,
    /// RFC 3581 4).
    public mutating func noteReception(from source: MessageSource) {
        guard var via = headers.topVia else { return }
        let isSame = ASCII.equal(via.sentByHost, source.remote.host)
        // Whatever the sender wrote there himself is worth nothing.
        var changed = via.parameters.contains("received")
        if changed { via.received = nil }
        if via.wantsRport {
            via.rport = source.remote.port
            via.received = source.remote.host
            changed = true
        } else if !isSame {
            via.received = source.remote.host
            changed = true
        }
        if changed { headers.topVia = via }
    }
}

extension SIPResponse {
    /// Where the response goes: back over the connection, else by the top Via (RFC 3261 18.2.2, RFC 3581 4); nil without a Via.
    public func destination(from source: MessageSource) -> Destination? {
        guard let via = headers.topVia else { return nil }
        let transport = source.remote.transport
        let port = via.sentByPort ?? transport.defaultPort
        if transport.isReliable {
            let fallback = TransportAddress(transport, via.received ?? via.sentByHost, port)
            guard let connection = source.connection else { return .address(fallback, from: nil) }
            return .connection(connection, fallback: fallback)
        }
        let address: TransportAddress
        if let maddr = via.maddr, !maddr.isEmpty {
            address = TransportAddress(transport, maddr, port)
        } else if let received = via.received {
            address = TransportAddress(transport, received, via.rport ?? port)
        } else {
            address = TransportAddress(transport, via.sentByHost, port)
        }
        return .address(address, from: source.local)
    }
}
