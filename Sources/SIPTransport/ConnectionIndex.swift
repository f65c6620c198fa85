import SIPCore

/// Connections of one loop by id, and those that may be reused by remote address.
struct ConnectionIndex {
    private(set) var byID: [ConnectionID: StreamConnection] = [:]
    private var byAddress: [TransportAddress: StreamConnection] = [:]
    private var next: UInt64 = 1
    private let loop: Int

    /// - Parameter loop: Number of the loop, which each id contains.
    init(loop: Int) { self.loop = loop }

    var count: Int { byID.count }

    var all: Dictionary<ConnectionID, StreamConnection>.Values { byID.values }

    subscript(id: ConnectionID) -> StreamConnection? { byID[id] }

    /// The connection to reuse for an address.
    subscript(address: TransportAddress) -> StreamConnection? { byAddress[address] }

    mutating func makeID() -> ConnectionID {
        defer { next += 1 }
        return ConnectionID(rawValue: UInt64(loop) << 48 | next)
    }

    /// Number of the loop that made an id.
    static func loop(of id: ConnectionID) -> Int { Int(id.rawValue >> 48) }

    mutating func add(_ connection: StreamConnection) { byID[connection.id] = connection }

    /// Replaces the connection that is reused for its address.
    mutating func reuse(_ connection: StreamConnection) { byAddress[connection.remote] = connection }

    /// Stops the reuse of a connection for its address.
    mutating func withdraw(_ connection: StreamConnection) {
        if byAddress[connection.remote] === connection { byAddress[connection.remote] = nil }
    }

    mutating func remove(_ connection: StreamConnection) { byID[connection.id] = nil }
}
