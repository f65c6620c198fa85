import XMLCore

// RFC 4662 5, Resource List Meta-Information, with the additions of MS-PRES 2.2.2.4
// namespace urn:ietf:params:xml:ns:rlmi, media type application/rlmi+xml, first part of multipart/related

/// The state of a list subscription (RFC 4662 5.2).
public struct RLMIDocument: Hashable, Sendable {
    public var uri: String
    /// Grows by one with each notification of a subscription.
    public var version: UInt32
    public var fullState: Bool
    /// Content-ID of a part that holds the list's own state.
    public var cid: String?
    public var names: [PIDFNote] = []
    public var resources: [RLMIResource] = []

    public init(uri: String, version: UInt32, fullState: Bool) {
        self.uri = uri
        self.version = version
        self.fullState = fullState
    }
}

/// One resource of the list (RFC 4662 5.4).
public struct RLMIResource: Hashable, Sendable {
    public var uri: String
    public var names: [PIDFNote] = []
    public var instances: [RLMIInstance] = []

    public init(uri: String, instances: [RLMIInstance] = []) {
        self.uri = uri
        self.instances = instances
    }
}

/// One virtual subscription to a resource (RFC 4662 5.5).
public struct RLMIInstance: Hashable, Sendable {
    public struct State: PresenceToken {
        public let name: String
        public init(_ name: String) { self.name = name }

        public static let active = State("active")
        public static let pending = State("pending")
        public static let terminated = State("terminated")
        /// MS-PRES 2.2.2.4: subscribe again, at `poolFqdn` when that is given.
        public static let resubscribe = State("resubscribe")
        public static let registered: [State] = [.active, .pending, .terminated, .resubscribe]
    }

    public var id: String
    public var state: State
    public var reason: String?
    /// Content-ID of the part with the state (RFC 4662), or the resource's URI (MS-PRES 2.2.2.4).
    public var cid: String?
    /// MS-PRES 2.2.2.4: SIP status of a subscription that failed.
    public var statusCode: Int?
    /// MS-PRES 2.2.2.4: GRUU or name of the pool to subscribe at.
    public var poolFqdn: String?

    public init(id: String, state: State, reason: String? = nil, cid: String? = nil, statusCode: Int? = nil, poolFqdn: String? = nil) {
        self.id = id
        self.state = state
        self.reason = reason
        self.cid = cid
        self.statusCode = statusCode
        self.poolFqdn = poolFqdn
    }
}
