/// What `GET /health` answers: whether this node serves, and how much it holds.
public struct HealthReport: Hashable, Sendable {
    public enum Status: String, Hashable, Sendable {
        /// Answered with 200.
        case ok
        /// Changes are refused, because the store does not keep them. Answered with 503.
        case storeFailing = "store failing"
        /// Answered with 503, so that a load balancer stops sending new traffic.
        case stopping
    }

    /// A partner domain; the health of this node does not hang on it.
    public struct Partner: Hashable, Sendable {
        public var name: String
        /// `up`, `down` or `unknown`.
        public var state: String
        /// RFC 3339; nil: nothing is known yet.
        public var since: String?
        /// Why it was not reached last.
        public var lastError: String?
        public var roundTripMilliseconds: Double?

        public init(name: String, state: String, since: String?, lastError: String?, roundTripMilliseconds: Double?) {
            self.name = name
            self.state = state
            self.since = since
            self.lastError = lastError
            self.roundTripMilliseconds = roundTripMilliseconds
        }

        var json: String {
            var fields = [("name", JSONText.string(name)), ("state", JSONText.string(state))]
            if let since { fields.append(("since", JSONText.string(since))) }
            if let lastError { fields.append(("last_error", JSONText.string(lastError))) }
            if let roundTripMilliseconds { fields.append(("round_trip_ms", "\(roundTripMilliseconds)")) }
            return JSONText.object(fields)
        }
    }

    public var status: Status
    public var node: String
    public var version: String
    public var uptimeSeconds: Int
    public var listeners: [String]
    /// Live things by name, such as `watcher_dialogs`.
    public var counts: [String: Int]
    public var partners: [Partner]

    public init(
        status: Status, node: String, version: String, uptimeSeconds: Int, listeners: [String], counts: [String: Int],
        partners: [Partner] = []
    ) {
        self.status = status
        self.node = node
        self.version = version
        self.uptimeSeconds = uptimeSeconds
        self.listeners = listeners
        self.counts = counts
        self.partners = partners
    }

    public var json: String {
        JSONText.object([
            ("status", JSONText.string(status.rawValue)), ("node", JSONText.string(node)), ("version", JSONText.string(version)),
            ("uptime_seconds", "\(uptimeSeconds)"), ("listeners", JSONText.array(listeners.map(JSONText.string))),
            ("counts", JSONText.object(counts.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })),
            ("partners", JSONText.array(partners.map(\.json))),
        ])
    }
}
