import SIPCore

/// Connections over which unregistered endpoints published. Without a registration an endpoint is present as long as one of its
/// connections is open (MS-PRES 3.2.5.5).
struct PublishingConnections {
    private var byConnection: [ConnectionID: [String: Set<String>]] = [:]
    /// Connections by user and endpoint.
    private var byUser: [String: [String: Set<ConnectionID>]] = [:]

    /// Number of entries: connections and users.
    var count: Int { byConnection.count + byUser.count }

    mutating func note(_ endpoint: String, of user: String, over connection: ConnectionID) {
        byConnection[connection, default: [:]][user, default: []].insert(endpoint)
        byUser[user, default: [:]][endpoint, default: []].insert(connection)
    }

    /// Endpoints of a user with an open connection.
    func endpoints(of user: String) -> Set<String> { Set(byUser[user].map { Array($0.keys) } ?? []) }

    /// Connections of each endpoint of a user.
    func connections(of user: String) -> [String: Set<ConnectionID>] { byUser[user] ?? [:] }

    func knows(_ user: String) -> Bool { byUser[user] != nil }

    /// Removes a closed connection.
    /// - Returns: the endpoints by user that have no connection left; users and endpoints in order.
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

    /// Forgets a user without publications that depend on an endpoint, because connections shared by many users stay open long.
    mutating func forget(_ user: String) {
        for connection in Set((byUser.removeValue(forKey: user) ?? [:]).values.joined()) {
            byConnection[connection]?[user] = nil
            if byConnection[connection]?.isEmpty == true { byConnection[connection] = nil }
        }
    }
}
