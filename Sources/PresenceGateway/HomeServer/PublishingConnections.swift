import SIPCore

/// Which endpoints that never registered published over which connection: without registration an endpoint is there as long as one of its
/// connections is (MS-PRES 3.2.5.5).
struct PublishingConnections {
    private var byConnection: [ConnectionID: [String: Set<String>]] = [:]
    /// Per user and endpoint, over how many connections it published.
    private var byUser: [String: [String: Int]] = [:]

    mutating func note(_ endpoint: String, of user: String, over connection: ConnectionID) {
        guard byConnection[connection, default: [:]][user, default: []].insert(endpoint).inserted else { return }
        byUser[user, default: [:]][endpoint, default: 0] += 1
    }

    /// Endpoints of a user whose connection lives.
    func endpoints(of user: String) -> Set<String> { Set(byUser[user].map { Array($0.keys) } ?? []) }

    /// Forgets a connection.
    /// - Returns: by user, in order, the endpoints that published over it and now have none.
    mutating func close(_ connection: ConnectionID) -> [(user: String, endpoints: [String])] {
        let closed = (byConnection.removeValue(forKey: connection) ?? [:]).sorted { $0.key < $1.key }
        return closed.map { user, endpoints in
            (user, endpoints.sorted().filter { isLastConnection(of: $0, user) })
        }
    }

    private mutating func isLastConnection(of endpoint: String, _ user: String) -> Bool {
        guard let count = byUser[user]?[endpoint] else { return false }
        byUser[user]?[endpoint] = count > 1 ? count - 1 : nil
        if byUser[user]?.isEmpty == true { byUser[user] = nil }
        return count == 1
    }
}
