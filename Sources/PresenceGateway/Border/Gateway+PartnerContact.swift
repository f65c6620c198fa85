import FederationRouting
import SIPCore
import SIPEvents

/// Records the outcome of requests to partners' servers, for operators and for the verification of subscriptions.
extension Gateway {
    /// Reports on the configured partners and on those with messages, sorted by name.
    public var partnerReports: [PartnerReport] {
        let unverified = unverifiedByPartner
        return partners.reports.map { report in
            var report = report
            if let (count, since) = unverified[report.name] { (report.unverified, report.unverifiedSince) = (count, since) }
            report.side = (configuration.domains[report.name] ?? configuration.domains[RoutingTable.fallbackName])?.side
            return report
        }
    }

    /// Number of unverified subscriptions at each partner, and the time of the first doubt.
    private var unverifiedByPartner: [String: (count: Int, since: Instant)] {
        func sum(_ one: (count: Int, since: Instant), _ other: (count: Int, since: Instant)) -> (count: Int, since: Instant) {
            (one.count + other.count, min(one.since, other.since))
        }
        var byDomain: [String: (count: Int, since: Instant)] = [:]
        for subscription in flows.upstream.upstreams.values {
            guard let since = subscription.doubtedSince else { continue }
            byDomain[subscription.domain.name] = byDomain[subscription.domain.name].map { sum($0, (1, since)) } ?? (1, since)
        }
        let named = byDomain.compactMap { domain, part in partnerName(ofDomain: domain).map { ($0, part) } }
        return Dictionary(named, uniquingKeysWith: sum)
    }

    /// The partners with an entry of their own.
    static func configuredPartners(_ routes: RoutingTable) -> Set<String> {
        Set(
            routes.names.filter { name in
                guard name != RoutingTable.fallbackName, let domain = routes[name] else { return false }
                return domain.refusal == nil && !domain.isHosted
            })
    }

    /// The domains that belong to a partner.
    func domains(ofPartner partner: String, among names: some Sequence<String>) -> [String] {
        // A domain covered by `"*"` only is a partner of its own.
        if let (name, _) = routes.entry(for: partner), name == RoutingTable.fallbackName { return [partner] }
        return names.filter { partnerName(ofDomain: $0) == partner }
    }

    /// The partner of a domain; nil: the domain is hosted here, or not served.
    func partnerName(ofDomain domain: String) -> String? {
        guard let (name, entry) = routes.entry(for: domain), entry.refusal == nil, !entry.isHosted else { return nil }
        return name == RoutingTable.fallbackName ? domain : name
    }

    /// Whether the remote end of a connection is a server of a partner.
    public func isServer(at remote: TransportAddress, proving identity: PeerIdentity?, of partner: String, at now: Instant) -> Bool {
        if peer(at: remote, proving: identity).domains.contains(partner) { return true }
        if let identity {
            guard let (name, entry) = routes.entry(for: partner), name == RoutingTable.fallbackName else { return false }
            return identity.proves(partner, by: entry.side == .enterprise ? .enterprise : .domain).isProved
        }
        return peers.table.isServer(remote.host, of: partner, at: now)
    }

    func noteSent(for origin: RequestOrigin) {
        if let partner = origin.partner { partners.sent(to: partner) }
    }

    /// Records a final response.
    func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, at now: Instant) {
        guard let partner = pendingRequest.origin.partner else { return }
        if status == .requestTimeout || status == .serviceUnavailable {
            noteFailure("answered \(status.rawValue)", by: partner, isVerdict: pendingRequest.origin.isVerdict, at: now)
            // A request of one user does not affect the subscriptions of others.
            if pendingRequest.isKeepAlive, pendingRequest.origin.isVerdict { partnerLeft(partner, .unavailable, at: now) }
        } else {
            if partners.answered(by: partner, after: now - pendingRequest.sentAt, at: now), partners.isConfigured(partner) {
                log(.notice, "partner is up again", ["partner": partner])
            }
            if partners.returned(partner, toOptions: pendingRequest.isKeepAlive) {
                flows.upstream.verifier.partnerChanged(partner, isUp: true, at: now)
            }
        }
        // Other methods may still be challenged.
        if status.isSuccess { partners.configurationWorks(at: partner, for: pendingRequest.method) }
    }

    /// Records that no server answered, was reached, or was located.
    func noteSilence(of origin: RequestOrigin, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {
        // A full transaction table of the gateway is no fault of the partner.
        guard reason != TransactionLayer.limitReason, let partner = origin.partner else { return }
        noteFailure(reason, by: partner, isVerdict: origin.isVerdict, at: now)
        guard let domain = origin.domain else { return }
        if client(of: origin.ticket)?.concernsPartner(failure, of: origin) == true {
            partnerLeft(partner, .unreachable, at: now)
        } else if !askNow(domain, at: now) {
            flows.upstream.verifier.sample(flows.upstream.upstreams.numbers(ofDomain: domain), at: now)
        }
    }

    private func partnerLeft(_ partner: String, _ absence: PartnerTable.Absence, at now: Instant) {
        if partners.left(partner, absence) { flows.upstream.verifier.partnerChanged(partner, isUp: false, at: now) }
    }

    private func noteFailure(_ reason: String, by partner: String, isVerdict: Bool, at now: Instant) {
        let isNews = partners.failed(reason, by: partner, isVerdict: isVerdict, at: now)
        guard isNews else { return }
        // Partners without an entry are not logged: there may be any number.
        if partners.isConfigured(partner) { log(.notice, "partner is down", ["partner": partner, "reason": reason]) }
    }
}

extension RequestOrigin {
    /// Whether a missing response concerns the partner rather than one watcher.
    fileprivate var isVerdict: Bool { domain != nil }
}

extension PendingRequest {
    /// Whether it is an OPTIONS.
    var isKeepAlive: Bool { method == .options }
}
