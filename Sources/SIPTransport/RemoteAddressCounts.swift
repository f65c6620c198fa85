import NIOCore
import SIPCore
import Synchronization

/// How many connections the hosts at each address have opened to this node; counted over all loops.
///
/// An IPv6 host has a whole /64 of addresses, which therefore counts as one.
final class RemoteAddressCounts: Sendable {
    /// An IPv4 address, or the first half of an IPv6 one.
    struct Key: Hashable, Sendable {
        private let word: UInt64

        /// nil for what is neither.
        init?(host: String) {
            guard let address = try? SocketAddress(ipAddress: host, port: 0) else { return nil }
            switch address {
            case .v4:
                // struct sockaddr_in: family, port, address.
                word = Self.mapped(address.withSockAddr { pointer, _ in Self.word(pointer, at: 4) as UInt32 })
            case .v6:
                // struct sockaddr_in6: family, port, flow, address.
                let halves = address.withSockAddr { pointer, _ in
                    (Self.word(pointer, at: 8) as UInt64, Self.word(pointer, at: 16) as UInt64)
                }
                // ::ffff:a.b.c.d is an IPv4 host on a socket of both kinds.
                let isMapped = halves.0 == 0 && halves.1 >> 32 == 0xFFFF
                word = isMapped ? Self.mapped(UInt32(truncatingIfNeeded: halves.1)) : halves.0
            case .unixDomainSocket:
                return nil
            }
        }

        private static func word<Word: FixedWidthInteger & BitwiseCopyable>(_ pointer: UnsafeRawPointer, at offset: Int) -> Word {
            Word(bigEndian: pointer.loadUnaligned(fromByteOffset: offset, as: Word.self))
        }

        /// In a block that no IPv6 host is in.
        private static func mapped(_ address: UInt32) -> UInt64 { 0xFFFF << 32 | UInt64(address) }
    }

    enum Verdict { case taken, full(isNews: Bool) }

    private struct Entry {
        var count = 0
        var toldAt: Instant?
    }

    private let entries = Mutex<[Key: Entry]>([:])
    private static let silence = TimeSpan.seconds(60)

    /// One more connection, unless there are as many as there may be.
    /// - Parameter limit: 0: any number.
    func take(_ key: Key, limit: Int, at now: Instant) -> Verdict {
        entries.withLock { entries in
            var entry = entries[key] ?? Entry()
            guard limit == 0 || entry.count < limit else {
                let isNews = entry.toldAt.map { now - $0 >= Self.silence } ?? true
                if isNews { entries[key]?.toldAt = now }
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
