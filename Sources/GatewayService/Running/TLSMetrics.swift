import Administration
import SIPSecurity
import SIPTransport

extension StatusPages {
    /// Limit of peer certificates in metrics: those that expire first.
    private static var shownPeers: Int { 200 }

    /// Metrics of handshakes and certificate expiry.
    static func tlsMetrics(_ statistics: TLSStatistics) -> [Metric] {
        let failures = statistics.failures.sorted {
            ($0.key.kind.rawValue, $0.key.refusedBy.rawValue) < ($1.key.kind.rawValue, $1.key.refusedBy.rawValue)
        }
        let own = statistics.ownExpiry.sorted { $0.key < $1.key }.map {
            Metric.Sample(Double($0.value), ["whose": "own", "certificate": $0.key])
        }
        let peers = statistics.peers.sorted { $0.certificate.notAfter < $1.certificate.notAfter }.prefix(shownPeers).map {
            Metric.Sample(
                Double($0.certificate.notAfter),
                [
                    "whose": $0.isClient ? "client" : "server", "certificate": $0.certificate.description,
                    "fingerprint": String($0.certificate.fingerprint.prefix(16)),
                ])
        }
        return [
            Metric(
                "isthmus_tls_handshakes_total", .counter, help: "TLS handshakes done, by what the peer was.",
                samples: [
                    .init(Double(statistics.handshakesWithClients), ["peer": "client"]),
                    .init(Double(statistics.handshakesWithServers), ["peer": "server"]),
                ]),
            Metric(
                "isthmus_tls_handshake_failures_total", .counter, help: "TLS handshakes that failed, by the rule and who refused.",
                samples: failures.map {
                    .init(Double($0.value), ["kind": $0.key.kind.rawValue, "refused_by": $0.key.refusedBy.rawValue])
                }),
            Metric(
                "isthmus_tls_certificate_not_after_seconds", .gauge, help: "When certificates end, in seconds since 1970.",
                samples: own + peers),
            Metric("isthmus_tls_reloads_total", .counter, help: "Certificates taken over anew.", value: Double(statistics.reloads)),
        ]
    }
}
