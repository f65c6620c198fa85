import Glibc
import NIOCore
import SIPCore

/// The address of this machine that a far side can reach.
enum LocalAddress {
    /// The address from which the system would talk to `target`; loopback when it cannot say.
    ///
    /// A UDP socket is connected, which sends nothing, and asked for its own name.
    static func toward(_ target: TransportAddress) -> String {
        guard let address = try? SocketAddress.makeAddressResolvingHost(target.host, port: target.port == 0 ? 9 : target.port) else {
            return "127.0.0.1"
        }
        let isIPv6 = address.protocol == .inet6
        let fallback = isIPv6 ? "::1" : "127.0.0.1"
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue), 0)
        guard descriptor >= 0 else { return fallback }
        defer { close(descriptor) }
        let connected = address.withSockAddr { pointer, size in connect(descriptor, pointer, socklen_t(size)) }
        guard connected == 0 else { return fallback }
        var own = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: 64)
        let found = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                getsockname(descriptor, generic, &size) == 0
                    && getnameinfo(generic, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            }
        }
        guard found else { return fallback }
        return String(decoding: text.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
