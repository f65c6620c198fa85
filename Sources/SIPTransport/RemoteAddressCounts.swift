import SIPCore
import Synchronization

/// Counts accepted connections by remote address, over all loops.
///
/// All addresses of an IPv6 /64 count as one, because one host usually has a whole /64.
final class RemoteAddressCounts: Sendable {
    /// An IPv4 address, or the first half of an IPv6 one.
    struct Key: Hashable, Sendable {
        private let word: UInt64

        init(host: String) {
            let octets = IPAddressOctets(host).octets(isIPv6: true)
            // `::ffff:a.b.c.d` is an IPv4 host on a dual-stack socket; no IPv6 host has an address in this block.
            let isIPv4 = octets[..<10].allSatisfy { $0 == 0 } && octets[10] == 0xFF && octets[11] == 0xFF
            word = (isIPv4 ? octets[8...] : octets[..<8]).reduce(0) { $0 << 8 | UInt64($1) }
        }
    }

    enum Verdict { case taken, full(isNews: Bool) }

    private struct Entry {
        var count = 0
        var reportedAt: Instant?
    }

    private let entries = Mutex<[Key: Entry]>([:])
    private static let silence = TimeSpan.seconds(60)

    /// Counts one more connection, unless the address has reached the limit.
    /// - Parameter limit: Connections per address; 0 means unlimited.
    func take(_ key: Key, limit: Int, at now: Instant) -> Verdict {
        entries.withLock { entries in
            var entry = entries[key] ?? Entry()
            guard limit == 0 || entry.count < limit else {
                let isNews = entry.reportedAt.map { now - $0 >= Self.silence } ?? true
                if isNews { entries[key]?.reportedAt = now }
                return .full(isNews: isNews)
            }
            entry.count += 1
            entries[key] = entry
            return .taken
        }
    }

    func release(_ key: Key) {
        entries.withLock { entries in
            guard let entry = entries[key] else { return }
            if entry.count > 1 { entries[key]?.count = entry.count - 1 } else { entries[key] = nil }
        }
    }
}
