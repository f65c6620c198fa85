import SIPCore

/// TLS handshakes in progress, limited in time, in number, and in number per address.
struct HandshakeTable: Sendable {
    struct Entry: Sendable {
        var handshake: TLSHandshake
        /// The user that may continue the handshake, together with the endpoint and address below.
        var identity: String
        var endpoint: String
        var host: String
        /// Protocol version of the client, 2 to 4.
        var version: Int
        var rounds = 0
        var octets = 0

        /// Whether the client has answered the first flight, which proves its address.
        var isContinued: Bool { rounds > 1 }
    }

    let limit: Int
    let limitPerHost: Int
    private var entries: [String: Entry] = [:]
    /// Handshakes of each address, oldest first.
    private var ofHost: [String: [String]] = [:]
    private var order = ExpiryOrder()
    /// Handshakes without a second flight, oldest first; may contain others.
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

    /// Whether another handshake may begin from this address. At a limit, the oldest handshake without a second flight is dropped, so
    /// that forged first flights do not block the users of an address.
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

    /// Counts a round and returns the updated entry; nil if the handshake is unknown.
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
