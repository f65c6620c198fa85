import SIPCore

/// How the next hop toward a domain is found.
public enum NextHop: Hashable, Sendable, CustomStringConvertible {
    /// There is one, and where it is needs no question.
    case fixed(TransportAddress)
    /// To be located anew for each request: among several, or by name.
    case located(HopGoal)

    /// The transport that is expected; of what is located the one that it most likely comes to.
    public var transport: TransportProtocol {
        switch self {
        case .fixed(let address): return address.transport
        case .located(let goal):
            switch goal.way {
            case .listed(let hops): return hops.first?.address.transport ?? .tcp
            case .enterprise: return .tls
            case .standard(let transport, _): return transport ?? (goal.isSecure ? .tls : .udp)
            }
        }
    }

    public var description: String {
        switch self {
        case .fixed(let address): address.description
        case .located(let goal): goal.description
        }
    }
}

/// Whether the servers of a domain are looked up in the Domain Name System.
public enum Discovery: String, Hashable, Sendable, CaseIterable {
    /// Whatever the domain offers; where it offers TLS nothing less.
    case neverWeaker = "true"
    /// In the domain's own order, in clear too where that comes before TLS.
    case any
    /// Only servers that speak TLS.
    case tls
}

/// Hops of their own for some users of a domain.
public struct UserRoute: Hashable, Sendable {
    public var pattern: UserPattern
    public var hops: [ListedHop]

    public init(_ pattern: UserPattern, _ hops: [ListedHop]) {
        self.pattern = pattern
        self.hops = hops
    }
}

/// Which users of a domain are meant: a name in which `*` stands for any characters, also for none.
///
/// User parts are compared with regard to case, after their escapes are resolved (RFC 3261 19.1.4).
public struct UserPattern: Hashable, Sendable, CustomStringConvertible {
    public let description: String
    private let parts: [[UInt8]]

    public init(_ text: String) {
        description = text
        parts = text.utf8.split(separator: UInt8(ascii: "*"), omittingEmptySubsequences: false).map { Array($0) }
    }

    public func matches(_ user: String) -> Bool {
        let name = Array(user.utf8)
        guard let first = parts.first, let last = parts.last, name.starts(with: first) else { return false }
        guard parts.count > 1 else { return name == first }
        guard name.count >= first.count + last.count, name.reversed().starts(with: last.reversed()) else { return false }
        // The earliest place for each part in the middle leaves the most room for the others.
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
