import SIPCore

/// The input of ``HopLocator``: locate the next hop toward a domain, a named host, or one of several listed hops.
public struct HopTarget: Hashable, Sendable, CustomStringConvertible {
    /// The procedure.
    public enum Lookup: Hashable, Sendable {
        /// RFC 3263 4: transport and port of the URI; absent ones are found by NAPTR and SRV.
        case standard(transport: TransportProtocol?, port: Int?)
        /// Enterprise partner: SRV of `_sipfederationtls._tcp`, TLS only, with targets inside the partner's domain.
        case enterprise
        /// Configured hops; host names are resolved.
        case listed([ListedHop])
    }

    /// The domain or host in lower case.
    public var host: String
    /// The procedure.
    public var lookup: Lookup
    /// Whether only TLS is allowed: for `sips` (RFC 3261 26.2.2), or by configuration.
    public var isSecure: Bool
    /// Whether the domain's order of transports applies even if it offers TLS (RFC 3263 4.1); false: only TLS is used for a
    /// domain that offers it.
    public var allowsWeaker: Bool

    /// Creates a hop target; ``isSecure`` overrides ``allowsWeaker``.
    public init(_ host: String, _ lookup: Lookup, isSecure: Bool = false, allowsWeaker: Bool = false) {
        self.host = SIPURI(host: host).domainKey
        self.lookup = lookup
        self.isSecure = isSecure
        self.allowsWeaker = allowsWeaker && !isSecure
    }

    /// The host and the procedure, for an operator.
    public var description: String {
        switch lookup {
        case .standard(nil, nil): return isSecure ? "DNS for \(host), TLS only (RFC 3263)" : "DNS for \(host) (RFC 3263)"
        case .standard(let transport, let port):
            return "DNS for \(transport.map { $0.rawValue + ":" } ?? "")\(host)\(port.map { ":\($0)" } ?? "") (RFC 3263)"
        case .enterprise: return "DNS for _sipfederationtls._tcp.\(host)"
        case .listed(let hops) where hops.count == 1: return hops[0].address.description
        case .listed(let hops): return hops.map(\.description).joined(separator: ", ")
        }
    }
}

/// A configured next hop of a domain.
public struct ListedHop: Hashable, Sendable, CustomStringConvertible {
    /// The address; the host may be a name, which a TLS peer must prove unless the address has another name to prove.
    public var address: TransportAddress
    /// Priority; lower values are tried first.
    public var priority: Int
    /// Share among hops of equal priority (RFC 2782).
    public var weight: Int

    /// Creates a hop, by default with priority 0 and weight 1.
    public init(_ address: TransportAddress, priority: Int = 0, weight: Int = 1) {
        self.address = address
        self.priority = priority
        self.weight = weight
    }

    /// The address with priority and weight.
    public var description: String { "\(address) (priority \(priority), weight \(weight))" }
}
