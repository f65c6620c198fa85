/// Counts TLS handshakes with peers that connected to one loop. One address, keyed as in ``RemoteAddressCounts``, may use at most a quarter
/// of the limit, so that a single peer cannot block the others.
struct HandshakeShares {
    private(set) var count = 0
    private var byHost: [RemoteAddressCounts.Key: Int] = [:]

    /// - Parameter limit: Limit of all handshakes together.
    func mayBegin(from host: RemoteAddressCounts.Key, limit: Int) -> Bool {
        count < limit && byHost[host, default: 0] < max(limit / 4, 1)
    }

    mutating func begin(from host: RemoteAddressCounts.Key) {
        count += 1
        byHost[host, default: 0] += 1
    }

    mutating func end(from host: RemoteAddressCounts.Key) {
        guard let known = byHost[host] else { return }
        count -= 1
        byHost[host] = known > 1 ? known - 1 : nil
    }
}
