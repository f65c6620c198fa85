extension TransactionLayer {
    /// Carrier that a destination names; nil if the transport chooses a connection, which it reports before any response.
    static func carrier(to destination: Destination) -> Carrier? {
        switch destination {
        case .connection(let connection, _): .connection(connection)
        case .address(let address, _): address.transport == .udp ? .datagram(host: address.host) : nil
        }
    }

    /// Records the carrier of a request, so that its transaction ends with that connection. A transaction that repeats its request
    /// (UDP moved to TCP, RFC 3261 18.1.1) outlives the connection.
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
