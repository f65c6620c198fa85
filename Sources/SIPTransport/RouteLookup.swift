import Glibc
import NIOCore
import SIPCore

/// Looks up the local address from which packets to a host leave, by the system's routing table.
///
/// Connects a UDP socket, which sends nothing, and reads its local name: four system calls of some microseconds together. Results are not
/// cached, because routes may change.
package struct RouteLookup: LocalAddressLookup {
    /// Creates a lookup; it holds no state.
    package init() {}

    /// Returns the local address as a literal without a zone; nil when `host` is not a literal or has no route.
    package func localAddress(toward host: String) -> String? {
        guard let address = try? SocketAddress(ipAddress: host, port: 9) else { return nil }
        let descriptor = socket(address.protocol == .inet6 ? AF_INET6 : AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        guard address.withSockAddr({ pointer, size in connect(descriptor, pointer, socklen_t(size)) }) == 0 else { return nil }
        var own = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var text = [CChar](repeating: 0, count: 64)
        let isFound = withUnsafeMutablePointer(to: &own) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { generic in
                getsockname(descriptor, generic, &size) == 0
                    && getnameinfo(generic, size, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            }
        }
        guard isFound else { return nil }
        // A zone names an interface of this machine and has no meaning for a peer.
        return String(decoding: text.prefix { $0 != 0 && $0 != 37 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
