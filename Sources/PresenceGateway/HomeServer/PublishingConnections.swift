import SIPCore

/// Which endpoints that never registered published over which connection: without registration an endpoint is there as long as one of its
/// connections is (MS-PRES 3.2.5.5).
struct PublishingConnections {
    private var byConnection: [ConnectionID: [String: Set<String>]] = [:]
    /// Per user and endpoint, over which connections it published.
    private var byUser: [String: [String: Set<ConnectionID>]] = [:]

    /// Of connections and of users.
    var count: Int { byConnection.count + byUser.count }

    mutating func note(_ endpoint: String, of user: String, over connection: ConnectionID) {
        byConnection[connection, default: [:]][user, default: []].insert(endpoint)
        byUser[user, default: [:]][endpoint, default: []].insert(connection)
    }

    /// Endpoints of a user whose connection lives.
    func endpoints(of user: String) -> Set<String> { Set(byUser[user].map { Array($0.keys) } ?? []) }

    /// Endpoints of a user, each with the connections over which it published.
    func connections(of user: String) -> [String: Set<ConnectionID>] { byUser[user] ?? [:] }

    func knows(_ user: String) -> Bool { byUser[user] != nil }

    /// Forgets a connection.
    /// - Returns: by user, in order, the endpoints that published over it and now have none.
    mutating func close(_ connection: ConnectionID) -> [(user: String, endpoints: [String])] {
        let closed = (byConnection.removeValue(forKey: connection) ?? [:]).sorted { $0.key < $1.key }
        return closed.map { user, endpoints in
            (user, endpoints.sorted().filter { isLast(connection, of: $0, user) })
        }
    }

    private mutating func isLast(_ connection: ConnectionID, of endpoint: String, _ user: String) -> Bool {
        byUser[user]?[endpoint]?.remove(connection)
        guard byUser[user]?[endpoint]?.isEmpty == true else { return false }
        byUser[user]?[endpoint] = nil
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        return true
    }

    /// Forgets a user of whose publications none depends on an endpoint any more: connections that carry many users live for long.
    mutating func forget(_ user: String) {
        for connection in Set((byUser.removeValue(forKey: user) ?? [:]).values.joined()) {
            byConnection[connection]?[user] = nil
            if byConnection[connection]?.isEmpty == true { byConnection[connection] = nil }
        }
    }
}
