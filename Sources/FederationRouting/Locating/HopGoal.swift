import SIPCore

/// What is to be located: the next hop toward a domain, toward a named host, or one of several that an operator listed.
public struct HopGoal: Hashable, Sendable, CustomStringConvertible {
    public enum Way: Hashable, Sendable {
        /// RFC 3263 4: by what a URI says besides its host; what it leaves open is found by NAPTR and SRV.
        case standard(transport: TransportProtocol?, port: Int?)
        /// An enterprise partner: `_sipfederationtls._tcp`, always TLS, the target within the partner's domain.
        case enterprise
        /// As configured; hosts that are names are looked up.
        case listed([ListedHop])
    }

    /// The domain or host that is asked for, in lower case.
    public var host: String
    public var way: Way
    /// Nothing but TLS will do: `sips` (RFC 3261 26.2.2), or because the operator wants it so.
    public var isSecure: Bool
    /// The order that the domain gives its transports counts (RFC 3263 4.1), though it offers TLS too; else a domain that offers TLS is
    /// never asked without it.
    public var allowsWeaker: Bool

    public init(_ host: String, _ way: Way, isSecure: Bool = false, allowsWeaker: Bool = false) {
        self.host = SIPURI(host: host).domainKey
        self.way = way
        self.isSecure = isSecure
        self.allowsWeaker = allowsWeaker && !isSecure
    }

    /// For an operator: what is located, and how.
    public var description: String {
        switch way {
        case .standard(nil, nil): return isSecure ? "DNS for \(host), TLS only (RFC 3263)" : "DNS for \(host) (RFC 3263)"
        case .standard(let transport, let port):
            return "DNS for \(transport.map { $0.rawValue + ":" } ?? "")\(host)\(port.map { ":\($0)" } ?? "") (RFC 3263)"
        case .enterprise: return "DNS for _sipfederationtls._tcp.\(host)"
        case .listed(let hops) where hops.count == 1: return hops[0].address.description
        case .listed(let hops): return hops.map(\.description).joined(separator: ", ")
        }
    }
}

/// One of the next hops that an operator listed for a domain.
public struct ListedHop: Hashable, Sendable, CustomStringConvertible {
    /// The host may be a name; it is what a TLS peer has to prove unless the address says otherwise.
    public var address: TransportAddress
    /// Lower is tried first.
    public var priority: Int
    /// The share among hops of one priority (RFC 2782).
    public var weight: Int

    public init(_ address: TransportAddress, priority: Int = 0, weight: Int = 1) {
        self.address = address
        self.priority = priority
        self.weight = weight
    }

    public var description: String { "\(address) (priority \(priority), weight \(weight))" }
}
