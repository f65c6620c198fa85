/// Tells which address of this machine packets to a host leave from. Needed for listeners on all addresses, whose own address says nothing.
public protocol LocalAddressLookup: Sendable {
    /// - Parameter host: An address literal, without brackets.
    /// - Returns: An address literal of the same family; nil: the system has no route to the host.
    func localAddress(toward host: String) -> String?
}

extension TransportAddress {
    /// The hosts that stand for all addresses of a machine.
    public static let wildcardHosts: Set<String> = ["0.0.0.0", "::"]

    /// Whether a listener there takes packets to every address of its family; no peer can send to such an address.
    public var isWildcard: Bool { Self.wildcardHosts.contains(host) }

    /// Address families, as far as the text of a host tells.
    public enum Family: Hashable, Sendable { case ipv4, ipv6 }

    /// nil: the host is a name.
    public var family: Family? {
        guard isNumeric else { return nil }
        return host.utf8.contains(UInt8(ascii: ":")) ? .ipv6 : .ipv4
    }
}
