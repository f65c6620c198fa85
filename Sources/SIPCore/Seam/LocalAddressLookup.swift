/// Lookup of the local address from which packets to a host are sent; required for listeners on all addresses.
public protocol LocalAddressLookup: Sendable {
    /// - Parameter host: Address literal without brackets.
    /// - Returns: Address literal of the same family; nil if the system has no route to the host.
    func localAddress(toward host: String) -> String?
}

extension TransportAddress {
    /// Hosts that stand for all addresses of a machine.
    public static let wildcardHosts: Set<String> = ["0.0.0.0", "::"]

    /// Whether a listener on this address accepts packets to every address of its family; peers cannot send to such an address.
    public var isWildcard: Bool { Self.wildcardHosts.contains(host) }

    /// Address family of a literal.
    public enum Family: Hashable, Sendable { case ipv4, ipv6 }

    /// Address family; nil if the host is a name.
    public var family: Family? {
        guard isNumeric else { return nil }
        return host.utf8.contains(UInt8(ascii: ":")) ? .ipv6 : .ipv4
    }
}
