import SIPCore

/// The located servers of a hop target; ``targets(using:)`` chooses among them for each request.
public struct HopPlan: Hashable, Sendable {
    /// One server: the addresses of one SRV target, host name or literal address.
    public struct Server: Hashable, Sendable {
        /// Priority; lower values are tried first.
        public var priority: Int
        /// Share among servers of equal priority (RFC 2782).
        public var weight: Int
        /// Addresses in the order to try; at least one.
        public var addresses: [TransportAddress]
        /// How the server was found, for an operator, such as `NAPTR SIPS+D2T, SRV 10 60 edge1.example.com`.
        public var reason: String
        /// Lifetime of the DNS answers for this server; nil: configured, without a limit.
        public var timeToLive: TimeSpan?

        /// Creates a server.
        public init(priority: Int, weight: Int, addresses: [TransportAddress], reason: String, timeToLive: TimeSpan?) {
            self.priority = priority
            self.weight = weight
            self.addresses = addresses
            self.reason = reason
            self.timeToLive = timeToLive
        }
    }

    /// The servers in no particular order.
    public var servers: [Server]
    /// Lifetime of the plan: the shortest of all answers used; nil: unlimited.
    public var timeToLive: TimeSpan?

    /// Creates a plan.
    public init(servers: [Server], timeToLive: TimeSpan?) {
        self.servers = servers
        self.timeToLive = timeToLive
    }

    /// The addresses in the order in which one request tries them (RFC 3263 4.3, RFC 2782), without duplicates.
    public func targets(using random: inout some RandomNumberGenerator) -> [TransportAddress] {
        var seen: Set<TransportAddress> = []
        return WeightedChoice.order(servers, priority: \.priority, weight: \.weight, using: &random).flatMap(\.addresses)
            .filter { seen.insert($0).inserted }
    }
}

/// The reason a hop target has no usable server.
public struct HopFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of failure.
    public enum Kind: Hashable, Sendable {
        /// DNS states that no such server exists.
        case absent
        /// A question was not answered; a later attempt may succeed.
        case unknown
        /// DNS names a server that the rules forbid.
        case notAllowed
    }

    /// The kind of failure.
    public var kind: Kind
    /// The reason for an operator.
    public var description: String
    /// Lifetime of the negative answer; nil: use the default for failures.
    public var timeToLive: TimeSpan?

    /// Creates a failure.
    public init(_ kind: Kind, _ description: String, timeToLive: TimeSpan? = nil) {
        self.kind = kind
        self.description = description
        self.timeToLive = timeToLive
    }
}
