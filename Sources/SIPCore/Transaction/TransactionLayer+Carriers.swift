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
        unlink(client)
        let link = link(id, to: carrier, isReliable: client.machine.isReliable)
        clients[id]?.carrier = carrier
        clients[id]?.link = link
    }

    // MARK: transactions of a connection

    /// Names of the transactions before and after one in the list of its connection, newest first; 0: none.
    struct Link: Sendable {
        var previous: UInt64 = 0
        var next: UInt64 = 0
    }

    /// Puts a transaction in front of the list of its connection.
    /// - Returns: its place, for ``Client/link``; nil: it does not end with a connection.
    mutating func link(_ id: UInt64, to carrier: Carrier?, isReliable: Bool) -> Link? {
        guard case .connection(let connection)? = carrier, isReliable else { return nil }
        let next = connectionClients.updateValue(id, forKey: connection) ?? 0
        if next != 0 { clients[next]?.link?.previous = id }
        return Link(previous: 0, next: next)
    }

    /// Takes a transaction out of the list of its connection, if it is in one; its own link is for the caller to replace.
    mutating func unlink(_ client: Client) {
        guard let link = client.link, case .connection(let connection)? = client.carrier else { return }
        if link.next != 0 { clients[link.next]?.link?.previous = link.previous }
        if link.previous != 0 {
            clients[link.previous]?.link?.next = link.next
        } else {
            connectionClients[connection] = link.next == 0 ? nil : link.next
        }
    }

    /// The transactions that end with a connection, in order of their names.
    func clients(over connection: ConnectionID) -> [UInt64] {
        var result: [UInt64] = []
        var id = connectionClients[connection] ?? 0
        while id != 0 {
            result.append(id)
            id = clients[id]?.link?.next ?? 0
        }
        return result.sorted()
    }
}
