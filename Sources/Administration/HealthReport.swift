/// The answers of `GET /health` and `GET /health/ready`: whether this node serves requests, and how much state it holds.
package struct HealthReport: Hashable, Sendable {
    /// The state of the node; decides the HTTP status of the answer.
    package enum Status: String, Hashable, Sendable {
        /// All requests are served. Answered with 200.
        case ok
        /// The store refuses commits, so changes are refused. Answered with 503.
        case storeFailing = "store failing"
        /// The node is shutting down. Answered with 503, so that a load balancer sends no new traffic.
        case stopping
    }

    /// A partner domain; its state does not affect ``HealthReport/status``.
    package struct Partner: Hashable, Sendable {
        /// The domain.
        package var name: String
        /// `up`, `down` or `unknown`.
        package var state: String
        /// Time of the last change of state (RFC 3339); nil if the state is not known yet.
        package var since: String?
        /// Cause of the last failure to reach the domain; nil if there was none.
        package var lastError: String?
        /// Latest measured round-trip time in ms; nil if none was measured.
        package var roundTripMilliseconds: Double?

        /// Creates a row of the report.
        package init(name: String, state: String, since: String?, lastError: String?, roundTripMilliseconds: Double?) {
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

    /// The state of the node.
    package var status: Status
    /// Why the node accepts no new work, each a sentence for the operator; empty: it does. They decide the answer of `GET /health/ready`.
    package var reasons: [String]
    /// The configured name of the node.
    package var node: String
    /// The version of Isthmus.
    package var version: String
    /// Seconds since the node started.
    package var uptimeSeconds: Int
    /// Addresses of the listeners.
    package var listeners: [String]
    /// Number of live objects by name, such as `watcher_dialogs`.
    package var counts: [String: Int]
    /// Partner domains in the order in which they are reported.
    package var partners: [Partner]

    /// Creates a report.
    package init(
        status: Status, reasons: [String] = [], node: String, version: String, uptimeSeconds: Int, listeners: [String],
        counts: [String: Int],
        partners: [Partner] = []
    ) {
        self.status = status
        self.reasons = reasons
        self.node = node
        self.version = version
        self.uptimeSeconds = uptimeSeconds
        self.listeners = listeners
        self.counts = counts
        self.partners = partners
    }

    /// The report as JSON without a final line end; absent partner values are omitted, counts are sorted by name.
    package var json: String {
        JSONText.object([
            ("status", JSONText.string(status.rawValue)), ("reasons", reasonsJSON), ("node", JSONText.string(node)),
            ("version", JSONText.string(version)),
            ("uptime_seconds", "\(uptimeSeconds)"), ("listeners", JSONText.array(listeners.map(JSONText.string))),
            ("counts", JSONText.object(counts.sorted { $0.key < $1.key }.map { ($0.key, "\($0.value)") })),
            ("partners", JSONText.array(partners.map(\.json))),
        ])
    }

    /// The answer of `GET /health/ready` as JSON.
    package var readiness: String {
        JSONText.object([("ready", reasons.isEmpty ? "true" : "false"), ("reasons", reasonsJSON)])
    }

    private var reasonsJSON: String { JSONText.array(reasons.map(JSONText.string)) }
}
