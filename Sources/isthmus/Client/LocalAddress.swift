import NIOCore
import SIPCore
import SIPTransport

/// The address of this machine that a far side can reach.
enum LocalAddress {
    /// The address from which the system would talk to `target`; loopback when it cannot say.
    static func toward(_ target: TransportAddress) -> String {
        guard let address = try? SocketAddress.makeAddressResolvingHost(target.host, port: target.port == 0 ? 9 : target.port),
            let host = address.ipAddress
        else { return "127.0.0.1" }
        return RouteLookup().localAddress(toward: host) ?? (address.protocol == .inet6 ? "::1" : "127.0.0.1")
    }
}
