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
    }

    let limit: Int
    let limitPerHost: Int
    private var entries: [String: Entry] = [:]
    private var ofHost: [String: Int] = [:]
    private var order = ExpiryOrder()

    init(limit: Int, limitPerHost: Int) {
        self.limit = limit
        self.limitPerHost = limitPerHost
    }

    var count: Int { entries.count }

    subscript(id: String) -> Entry? { entries[id] }

    mutating func sweep(at now: Instant) {
        while let id = order.popDue(at: now) { remove(id) }
    }

    /// Whether one more may begin from this address.
    func hasRoom(for host: String) -> Bool { entries.count < limit && ofHost[host, default: 0] < limitPerHost }

    mutating func insert(_ entry: Entry, as id: String, from now: Instant, until end: Instant) {
        entries[id] = entry
        ofHost[entry.host, default: 0] += 1
        order.append(id, made: now, until: end)
    }

    /// Counts one more round; the entry with it, nil if there is none.
    mutating func charge(_ id: String, octets: Int) -> Entry? {
        entries[id]?.rounds += 1
        entries[id]?.octets += octets
        return entries[id]
    }

    mutating func remove(_ id: String) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        let rest = ofHost[entry.host, default: 1] - 1
        ofHost[entry.host] = rest > 0 ? rest : nil
        if order.count > entries.count * 2 + 1_024 {
            let live = entries
            order.keep { live[$0] != nil }
        }
    }
}
