import SIPCore

/// Where requests toward a goal may go, with what is needed to choose among the places anew for each request.
public struct HopPlan: Hashable, Sendable {
    /// One server: the addresses behind one SRV target, host name or literal.
    public struct Server: Hashable, Sendable {
        /// Lower is tried first.
        public var priority: Int
        public var weight: Int
        /// In the order to try; at least one.
        public var addresses: [TransportAddress]
        /// What led here, for an operator, such as `NAPTR SIPS+D2T, SRV 10 60 edge1.example.com`.
        public var reason: String
        /// For how long this server was named; nil: by configuration, for good.
        public var timeToLive: TimeSpan?

        public init(priority: Int, weight: Int, addresses: [TransportAddress], reason: String, timeToLive: TimeSpan?) {
            self.priority = priority
            self.weight = weight
            self.addresses = addresses
            self.reason = reason
            self.timeToLive = timeToLive
        }
    }

    public var servers: [Server]
    /// For how long the whole holds: the shortest of all answers that it is made of; nil: for good.
    public var timeToLive: TimeSpan?

    public init(servers: [Server], timeToLive: TimeSpan?) {
        self.servers = servers
        self.timeToLive = timeToLive
    }

    /// The addresses in the order in which one request tries them (RFC 3263 4.3, RFC 2782); none twice.
    public func targets(using random: inout some RandomNumberGenerator) -> [TransportAddress] {
        var seen: Set<TransportAddress> = []
        return WeightedChoice.order(servers, priority: \.priority, weight: \.weight, using: &random).flatMap(\.addresses)
            .filter { seen.insert($0).inserted }
    }
}

/// Why there is nowhere to go.
public struct HopFailure: Error, Hashable, Sendable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The Domain Name System says that there is no such server.
        case absent
        /// It could not be asked; another time it may be known.
        case unknown
        /// It names a server that may not be one.
        case notAllowed
    }

    public var kind: Kind
    public var description: String
    /// For how long the answer holds that says so; nil: as long as a failure is remembered.
    public var timeToLive: TimeSpan?

    public init(_ kind: Kind, _ description: String, timeToLive: TimeSpan? = nil) {
        self.kind = kind
        self.description = description
        self.timeToLive = timeToLive
    }
}
