import SIPCore

/// The next hop toward a domain.
public enum NextHop: Hashable, Sendable, CustomStringConvertible {
    /// A single address that needs no lookup.
    case fixed(TransportAddress)
    /// One of several hops, or a name: located again for each request.
    case located(HopTarget)

    /// The expected transport: that of the first listed hop, TLS for an enterprise hop target, or that of a standard hop target, by default
    /// TLS for secure hop targets and UDP for others.
    public var transport: TransportProtocol {
        switch self {
        case .fixed(let address): return address.transport
        case .located(let hopTarget):
            switch hopTarget.lookup {
            case .listed(let hops): return hops.first?.address.transport ?? .tcp
            case .enterprise: return .tls
            case .standard(let transport, _): return transport ?? (hopTarget.isSecure ? .tls : .udp)
            }
        }
    }

    /// The address, or how the hop is located.
    public var description: String {
        switch self {
        case .fixed(let address): address.description
        case .located(let hopTarget): hopTarget.description
        }
    }
}

/// How the servers of a domain are located in DNS.
public enum Discovery: String, Hashable, Sendable, CaseIterable {
    /// Any transport that the domain offers, but only TLS if it offers TLS.
    case neverWeaker = "true"
    /// The domain's own order, even if it prefers a transport without TLS.
    case any
    /// Servers with TLS only.
    case tls
}

/// Next hops for some users of a domain.
public struct UserRoute: Hashable, Sendable {
    /// The users.
    public var pattern: UserPattern
    /// The next hops of these users; they replace those of the domain.
    public var hops: [ListedHop]

    /// Creates a route for the users that match a pattern.
    public init(_ pattern: UserPattern, _ hops: [ListedHop]) {
        self.pattern = pattern
        self.hops = hops
    }
}

/// A pattern for user parts, in which `*` matches any characters, also none.
///
/// User parts are compared case-sensitively, with their escapes resolved (RFC 3261 19.1.4).
public struct UserPattern: Hashable, Sendable, CustomStringConvertible {
    /// The pattern as text.
    public let description: String
    private let parts: [[UInt8]]

    /// Creates a pattern; every text is valid.
    public init(_ text: String) {
        description = text
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    /// Whether a user part, with its escapes resolved, matches the whole pattern.
    public func matches(_ user: String) -> Bool {
        let name = Array(user.utf8)
        guard let first = parts.first, let last = parts.last, name.starts(with: first) else { return false }
        guard parts.count > 1 else { return name == first }
        guard name.count >= first.count + last.count, name.reversed().starts(with: last.reversed()) else { return false }
        // The earliest match of each inner part leaves the most characters for the later ones.
        var rest = name[first.count..<(name.count - last.count)]
        for part in parts.dropFirst().dropLast() where !part.isEmpty {
            var place = rest.startIndex
            while place + part.count <= rest.endIndex, !rest[place...].starts(with: part) { place += 1 }
            guard place + part.count <= rest.endIndex else { return false }
            rest = rest[(place + part.count)...]
        }
        return true
    }
}
