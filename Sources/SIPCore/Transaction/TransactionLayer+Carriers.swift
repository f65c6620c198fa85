extension TransactionLayer {
    /// The carrier that a destination names; nil: the transport chooses a connection, and names it before any answer can come.
    static func carrier(to destination: Destination) -> Carrier? {
        switch destination {
        case .connection(let connection, _): .connection(connection)
        case .address(let address, _): address.transport == .udp ? .datagram(host: address.host) : nil
        }
    }

    /// Notes by what a request left, and lets its transaction end with that connection. One that repeats its request (UDP moved to TCP,
    /// RFC 3261 18.1.1) outlives it.
    mutating func setCarrier(_ carrier: Carrier?, of id: UInt64) {
        guard let client = clients[id] else { return }
        if case .connection(let old)? = client.carrier {
            connectionClients[old]?.remove(id)
            if connectionClients[old]?.isEmpty == true { connectionClients[old] = nil }
        }
        clients[id]?.carrier = carrier
        if case .connection(let connection)? = carrier, client.machine.isReliable {
            connectionClients[connection, default: []].insert(id)
        }
    }
}
