import Administration
import NIOCore
import PresenceGateway
import SIPTransport

/// What each partner domain sent, and what of it was refused.
extension StatusPages {
    func partnerMetrics() async -> [Metric] {
        var parts: [[PartnerReport]] = []
        for shard in server.shards {
            let part = try? await shard.perform { endpoint, _ in (endpoint as? Gateway)?.partnerReports }.get()
            if let part = part ?? nil { parts.append(part) }
        }
        let partners = PartnerReport.sum(parts)
        let kinds: [(String, KeyPath<PartnerCounters, UInt64>)] = [
            ("rate", \.tooMany), ("uris", \.tooManyURIs), ("rights", \.noRight), ("impostor", \.impostors),
        ]
        return [
            Metric(
                "isthmus_partner_messages_total", .counter, help: "Requests of a partner domain's servers.",
                samples: partners.map { .init(Double($0.counters.messages), ["partner": $0.name]) }),
            Metric(
                "isthmus_partner_refusals_total", .counter, help: "Requests in the name of a partner domain that were refused.",
                samples: partners.flatMap { partner in
                    kinds.map { .init(Double(partner.counters[keyPath: $0.1]), ["partner": partner.name, "kind": $0.0]) }
                }),
            Metric(
                "isthmus_partner_watched_uris", .gauge, help: "Different URIs that a partner domain's users watch.",
                samples: partners.map { .init(Double($0.watchedURIs), ["partner": $0.name]) }),
        ]
    }
}
