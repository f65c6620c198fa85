import SIPCore

/// Tables of the relayed publications: those of users of simple domains and of enterprise domains, and the connections of their endpoints.
struct Publications {
    private var pidfBridges: [String: PIDFBridge] = [:]
    private var categoryBridges: [String: CategoryBridge] = [:]
    /// Connections over which endpoints published for users of simple domains.
    private var connections = PublishingConnections()

    init() {}

    // MARK: lookup

    /// Number of relayed publications.
    var count: Int { pidfBridges.count + categoryBridges.count }

    /// Sizes of the tables, for the inspection of growth.
    var sizes: [String: Int] {
        [
            "pidfBridges": pidfBridges.count, "heldPublications": pidfBridges.values.reduce(0) { $0 + $1.held.count },
            "categoryBridges": categoryBridges.count, "queuedPublications": categoryBridges.values.reduce(0) { $0 + $1.queue.count },
            "bridgeConnections": connections.count,
        ]
    }

    /// Keys of all users, each once; a user may have both bridges for a while after the domain changed its presence model.
    var keys: [String] { Array(pidfBridges.keys) + categoryBridges.keys.filter { pidfBridges[$0] == nil } }

    func isRelayed(_ key: String) -> Bool { pidfBridges[key] != nil || categoryBridges[key] != nil }

    func pidfBridge(_ key: String) -> PIDFBridge? { pidfBridges[key] }

    func categoryBridge(_ key: String) -> CategoryBridge? { categoryBridges[key] }

    /// In the order of their keys.
    var allPIDFBridges: [PIDFBridge] { pidfBridges.values.sorted { $0.key < $1.key } }

    /// In the order of their keys.
    var allCategoryBridges: [CategoryBridge] { categoryBridges.values.sorted { $0.key < $1.key } }

    func contains(_ bridge: PIDFBridge) -> Bool { pidfBridges[bridge.key] === bridge }

    func contains(_ bridge: CategoryBridge) -> Bool { categoryBridges[bridge.key] === bridge }

    // MARK: life

    mutating func insert(_ bridge: PIDFBridge) { pidfBridges[bridge.key] = bridge }

    mutating func insert(_ bridge: CategoryBridge) { categoryBridges[bridge.key] = bridge }

    /// Removes a bridge with the connections of its endpoints.
    mutating func remove(_ bridge: PIDFBridge) {
        pidfBridges[bridge.key] = nil
        connections.forget(bridge.key)
    }

    mutating func remove(_ bridge: CategoryBridge) { categoryBridges[bridge.key] = nil }

    // MARK: connections

    /// Notes the connection of an endpoint that published.
    mutating func note(_ endpoint: String, of bridge: PIDFBridge, over connection: ConnectionID) {
        connections.note(endpoint, of: bridge.key, over: connection)
    }

    /// Notes the connections of endpoints again, after a bridge was removed and restored.
    mutating func restore(_ earlier: [String: Set<ConnectionID>], of bridge: PIDFBridge) {
        for (endpoint, lines) in earlier { for line in lines { note(endpoint, of: bridge, over: line) } }
    }

    /// Endpoints of a user with an open connection.
    func connected(_ key: String) -> Set<String> { connections.endpoints(of: key) }

    /// Connections of each endpoint of a user.
    func connections(of key: String) -> [String: Set<ConnectionID>] { connections.connections(of: key) }

    /// Removes a closed connection.
    /// - Returns: the bridges with the endpoints that have no connection left.
    mutating func closed(_ connection: ConnectionID) -> [(bridge: PIDFBridge, endpoints: [String])] {
        connections.close(connection).compactMap { key, endpoints in pidfBridges[key].map { ($0, endpoints) } }
    }
}
