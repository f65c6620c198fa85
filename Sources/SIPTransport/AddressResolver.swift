import NIOCore
import NIOPosix
import SIPCore

/// Turns the host of a destination into a socket address: literals at once, names by the system's resolver on a thread of its own.
///
/// SRV and NAPTR (RFC 3263) are decisions of routing and not made here.
final class AddressResolver {
    private struct Key: Hashable {
        var host: String
        var port: Int
    }

    private struct Entry {
        var address: SocketAddress
        /// Names are asked again after this; literals never expire.
        var until: NIODeadline?
    }

    private var cache: [Key: Entry] = [:]
    private let limit = 16_384
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    /// The address when it is known without asking anybody.
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

    /// Asks the system for a name; the future fails when there is no such host.
    func resolve(_ address: TransportAddress) -> EventLoopFuture<SocketAddress> {
        let host = address.host
        let port = address.port
        return NIOThreadPool.singleton.runIfActive(eventLoop: loop) {
            try SocketAddress.makeAddressResolvingHost(host, port: port)
        }
    }

    /// Keeps the answer for a minute.
    func store(_ socketAddress: SocketAddress, for address: TransportAddress) {
        store(socketAddress, for: Key(host: address.host, port: address.port), until: .now() + .seconds(60))
    }

    private func store(_ address: SocketAddress, for key: Key, until: NIODeadline?) {
        if cache.count >= limit { cache.removeAll(keepingCapacity: true) }
        cache[key] = Entry(address: address, until: until)
    }
}
