import Administration
import PresenceDocuments
import PresenceGateway

/// Metrics of partner domains: state, requests and refusals; ``PartnerRow/shown(_:)`` limits their number.
extension StatusPages {
    func partnerMetrics() async -> [Metric] {
        Self.partnerMetrics(PartnerRow.shown(await partners.rows()))
    }

    static func partnerMetrics(_ rows: [PartnerRow]) -> [Metric] {
        func each(_ name: String, _ kind: Metric.Kind, _ help: String, _ value: (PartnerRow) -> Double?) -> Metric {
            Metric(
                "isthmus_partner_\(name)", kind, help: help,
                samples: rows.compactMap { row in value(row).map { Metric.Sample($0, ["partner": row.name]) } })
        }
        let kinds: [(String, KeyPath<PartnerRow.Refusals, UInt64>)] = [
            ("rate", \.rate), ("uris", \.uris), ("rights", \.rights), ("impostor", \.impostor),
        ]
        return [
            each("up", .gauge, "1: the last request to a partner domain was answered; 0: it was not.") {
                $0.state == .unknown ? nil : $0.state == .up ? 1 : 0
            },
            each("round_trip_seconds", .gauge, "From a request to its final answer, smoothed.") {
                $0.smoothedRoundTripMs.map { $0 / 1_000 }
            },
            each("requests_sent_total", .counter, "Requests to a partner domain's servers.") { Double($0.sent) },
            each("failures_total", .counter, "Of these, those that nobody answered, or with 408 or 503.") { Double($0.failed) },
            each("certificate_not_after_seconds", .gauge, "When the first of its certificates ends, in seconds since 1970.") {
                $0.certificate.map { Double($0.notAfter.nanosecondsSince1970 / 1_000_000_000) }
            },
            each("messages_total", .counter, "Requests of a partner domain's servers.") { Double($0.received) },
            Metric(
                "isthmus_partner_refusals_total", .counter, help: "Requests in the name of a partner domain that were refused.",
                samples: rows.flatMap { row in
                    kinds.map { .init(Double(row.refused[keyPath: $0.1]), ["partner": row.name, "kind": $0.0]) }
                }),
            each("watched_uris", .gauge, "Different URIs that a partner domain's users watch.") { Double($0.watched) },
        ]
    }
}
