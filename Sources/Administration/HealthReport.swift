/// What `GET /health` answers: whether this node serves, and how much it holds.
public struct HealthReport: Hashable, Sendable {
    public enum Status: String, Hashable, Sendable {
        /// Answered with 200.
        case ok
        /// Answered with 503, so that a load balancer stops sending new traffic.
        case stopping
    }

    public var status: Status
    public var node: String
    public var version: String
    public var uptimeSeconds: Int
    public var listeners: [String]
    /// Live things by name, such as `watcher_dialogs`.
    public var counts: [String: Int]

    public init(status: Status, node: String, version: String, uptimeSeconds: Int, listeners: [String], counts: [String: Int]) {
        self.status = status
        self.node = node
        self.version = version
        self.uptimeSeconds = uptimeSeconds
        self.listeners = listeners
        self.counts = counts
    }

    public var json: String {
        JSONText.object([
            ("status", JSONText.string(status.rawValue)), ("node", JSONText.string(node)), ("version", JSONText.string(version)),
            ("uptime_seconds", "\(uptimeSeconds)"), ("listeners", JSONText.array(listeners.map(JSONText.string))),
            ("counts", JSONText.object(counts.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })),
        ])
    }
}
