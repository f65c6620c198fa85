import SIPCore

/// TLS handshakes that are not over: each has an end, and both their number and the number of one address are bounded.
struct HandshakeTable: Sendable {
    struct Entry: Sendable {
        var handshake: TLSHandshake
        /// The only user and endpoint who may go on with it.
        var identity: String
        var endpoint: String
        var host: String
        /// The protocol version of the client, 2 to 4.
        var version: Int
        var rounds = 0
        var octets = 0

        /// Whether the client has answered what it was sent, and so is at its address.
        var isContinued: Bool { rounds > 1 }
    }

    let limit: Int
    let limitPerHost: Int
    private var entries: [String: Entry] = [:]
    /// Oldest first.
    private var ofHost: [String: [String]] = [:]
    private var order = ExpiryOrder()
    /// Handshakes that may not have been continued, oldest first.
    private var begun = ExpiryOrder()

    init(limit: Int, limitPerHost: Int) {
        self.limit = limit
        self.limitPerHost = limitPerHost
    }

    var count: Int { entries.count }

    subscript(id: String) -> Entry? { entries[id] }

    mutating func sweep(at now: Instant) {
        while let id = order.popDue(at: now) { remove(id) }
    }

    /// Whether one more may begin from this address, after the oldest that was never continued has been dropped if need be: what was begun
    /// in the name of an address, and is not continued from there, keeps its users from nothing.
    mutating func makeRoom(for host: String) -> Bool {
        if let own = ofHost[host], own.count >= limitPerHost {
            guard let oldest = own.first(where: { entries[$0]?.isContinued == false }) else { return false }
            remove(oldest)
        }
        while entries.count >= limit {
            guard let oldest = begun.popFirst()?.key else { return false }
            if entries[oldest]?.isContinued == false { remove(oldest) }
        }
        return true
    }

    mutating func insert(_ entry: Entry, as id: String, from now: Instant, until end: Instant) {
        entries[id] = entry
        ofHost[entry.host, default: []].append(id)
        order.append(id, made: now, until: end)
        begun.append(id, made: now, until: end)
    }

    /// Counts one more round; the entry with it, nil if there is none.
    mutating func charge(_ id: String, octets: Int) -> Entry? {
        entries[id]?.rounds += 1
        entries[id]?.octets += octets
        return entries[id]
    }

    mutating func remove(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        ofHost[entry.host]?.removeAll { $0 == id }
        if ofHost[entry.host]?.isEmpty == true { ofHost[entry.host] = nil }
        if max(order.count, begun.count) > entries.count * 2 + 1_024 {
            let live = entries
            order.keep { live[$0] != nil }
            begun.keep { live[$0]?.isContinued == false }
        }
    }
}
