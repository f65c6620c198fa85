import NIOCore
import NIOPosix
import SIPCore

/// Resolves the host of a destination to a socket address: literals immediately, names with the system's resolver on a thread pool.
///
/// Does no SRV or NAPTR lookups (RFC 3263): these belong to routing.
final class AddressResolver {
    private struct Key: Hashable {
        var host: String
        var port: Int
    }

    private struct Entry {
        var address: SocketAddress
        /// Time after which a name is resolved again; nil for literals, which never expire.
        var until: NIODeadline?
    }

    private var cache: [Key: Entry] = [:]
    private let limit = 16_384
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// The address of a literal or a cached name; nil when a lookup is needed.
    func resolved(_ address: TransportAddress) -> SocketAddress? {
        let key = Key(host: address.host, port: address.port)
        if let entry = cache[key] {
            guard let until = entry.until, until < .now() else { return entry.address }
            cache[key] = nil
        }
        guard (0...65_535).contains(address.port), let literal = try? SocketAddress(ipAddress: address.host, port: address.port) else {
            return nil
        }
        store(literal, for: key, until: nil)
        return literal
    }

    /// Resolves a name with the system's resolver; the future fails when the host does not exist.
    func resolve(_ address: TransportAddress) -> EventLoopFuture<SocketAddress> {
        let host = address.host
        let port = address.port
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
    }

    /// Caches the address of a name for 60 s.
    func store(_ socketAddress: SocketAddress, for address: TransportAddress) {
        store(socketAddress, for: Key(host: address.host, port: address.port), until: .now() + .seconds(60))
    }

    private func store(_ address: SocketAddress, for key: Key, until: NIODeadline?) {
        if cache.count >= limit { cache.removeAll(keepingCapacity: true) }
        cache[key] = Entry(address: address, until: until)
    }
}
