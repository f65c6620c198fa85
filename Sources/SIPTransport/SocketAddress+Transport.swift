import NIOCore
import SIPCore

extension SocketAddress {
    /// Converts to a transport address: a literal without brackets or zone.
    func transportAddress(_ transport: TransportProtocol) -> TransportAddress {
        TransportAddress(transport, ipAddress ?? "", port ?? 0)
    }

    /// IPv4 address and port in one word, for caches; nil for other families.
    var packedIPv4: UInt64? {
        guard case .v4 = self else { return nil }
        // struct sockaddr_in: family, port, address.
        return withSockAddr { pointer, _ in
            let bytes = UnsafeRawPointer(pointer)
            return UInt64(bytes.loadUnaligned(fromByteOffset: 4, as: UInt32.self)) << 16
                | UInt64(bytes.loadUnaligned(fromByteOffset: 2, as: UInt16.self))
        }
    }
}

/// Caches the transport addresses of datagram sources, so that the text of a frequent source is made once.
struct PeerAddressCache {
    private var known: [UInt64: TransportAddress] = [:]
    private let limit = 16_384

    mutating func address(of source: SocketAddress) -> TransportAddress {
        guard let key = source.packedIPv4 else { return source.transportAddress(.udp) }
        if let address = known[key] { return address }
        if known.count >= limit { known.removeAll(keepingCapacity: true) }
        let address = source.transportAddress(.udp)
        known[key] = address
        return address
    }
}
