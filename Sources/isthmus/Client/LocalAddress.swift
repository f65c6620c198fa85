import NIOCore
import SIPCore
import SIPTransport

/// Local address that a remote host can reach.
enum LocalAddress {
    /// Local address from which the system sends to `target`; loopback when there is no route.
    static func toward(_ target: TransportAddress) -> String {
        guard let address = try? SocketAddress.makeAddressResolvingHost(target.host, port: target.port == 0 ? 9 : target.port),
            let host = address.ipAddress
        else { return "127.0.0.1" }
        return RouteLookup().localAddress(toward: host) ?? (address.protocol == .inet6 ? "::1" : "127.0.0.1")
    }
}
