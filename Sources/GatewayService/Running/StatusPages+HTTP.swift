import Administration
import HTTPTransport

extension StatusPages {
    /// Metrics of the XCAP server.
    static func httpMetrics(_ statistics: HTTPStatistics) -> [Metric] {
        let counters: [(String, Int, String)] = [
            ("connections_accepted", statistics.accepted, "Accepted connections."),
            ("connections_refused", statistics.refused, "Connections closed at once because of a limit."),
            ("requests", statistics.requests, "Requests received whole."),
            ("requests_too_large", statistics.tooLarge, "Requests with header fields or content beyond the limit."),
            ("requests_too_slow", statistics.tooSlow, "Requests that were not received in time."),
        ]
        return [Metric("isthmus_http_connections", .gauge, help: "Connections of HTTP clients.", value: Double(statistics.connections))]
            + counters.map { Metric("isthmus_http_\($0.0)_total", .counter, help: $0.2, value: Double($0.1)) }
    }
}
