import FederationRouting
import SIPCore
import SIPEvents

/// Counters, limits and availability of partners, from their requests and the outcome of ours.
final class PartnerRecords: ShardMember {
    /// Change of availability after an outcome.
    enum Change { case up, down }

    let kernel: GatewayKernel
    let context: ShardContext
    private(set) var table = PartnerTable()

    init(_ kernel: GatewayKernel, _ context: ShardContext) {
        self.kernel = kernel
        self.context = context
    }

    /// Applies the configured partners.
    func configure() { table.configure(Self.configuredPartners(routes)) }

    /// The partners with an entry of their own.
    private static func configuredPartners(_ routes: RoutingTable) -> Set<String> {
        Set(
            routes.names.filter { name in
                guard name != RoutingTable.fallbackName, let domain = routes[name] else { return false }
                return domain.refusal == nil && !domain.isHosted
            })
    }

    /// Reports on the configured partners and on those with messages, sorted by name.
    /// - Parameter unverified: unverified subscriptions by domain.
    func reports(unverified: [String: (count: Int, since: Instant)]) -> [PartnerReport] {
        let unverified = byPartner(unverified)
        return table.reports.map { report in
            var report = report
            if let (count, since) = unverified[report.name] { (report.unverified, report.unverifiedSince) = (count, since) }
            report.side = (configuration.domains[report.name] ?? configuration.domains[RoutingTable.fallbackName])?.side
            return report
        }
    }

    /// Number of unverified subscriptions at each partner, and the time of the first doubt.
    private func byPartner(_ domains: [String: (count: Int, since: Instant)]) -> [String: (count: Int, since: Instant)] {
        func sum(_ one: (count: Int, since: Instant), _ other: (count: Int, since: Instant)) -> (count: Int, since: Instant) {
            (one.count + other.count, min(one.since, other.since))
        }
        let named = domains.compactMap { domain, part in partnerName(ofDomain: domain).map { ($0, part) } }
        return Dictionary(named, uniquingKeysWith: sum)
    }

    // MARK: requests of partners

    func limits(of partner: SpeakerVerdict.Partner) -> PartnerLimits {
        configuration.domains[partner.entry]?.trust.limits ?? (partner.isDiscovered ? .discovered : PartnerLimits())
    }

    /// The refusal of a request beyond the rate of its partner; nil: within the rate.
    func slowDown(_ partner: SpeakerVerdict.Partner, at now: Instant) -> Refusal? {
        guard !table.admits(partner.name, limits(of: partner), at: now) else { return nil }
        counters.limitsReached += 1
        return .unavailable("too many messages of this domain", retryAfter: configuration.timing.retryAfter, errorID: 2012)
    }

    /// Counts a refusal.
    func count(_ path: WritableKeyPath<PartnerCounters, UInt64>, of name: String) { table.count(path, of: name) }

    /// Counts a URI that a user of a partner watches.
    func watch(_ key: String, by partner: String) { table.watch(key, by: partner) }

    /// Removes one watcher of a URI from the count of a partner.
    func unwatch(_ key: String, by partner: String) { table.unwatch(key, by: partner) }

    // MARK: requests to partners

    func noteSent(for origin: RequestOrigin) {
        if let partner = origin.partner { table.sent(to: partner) }
    }

    /// Records a final response.
    /// - Returns: the change of the partner's availability; nil: none.
    func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, by partner: String, at now: Instant) -> Change? {
        var change: Change?
        if status == .requestTimeout || status == .serviceUnavailable {
            noteFailure("answered \(status.rawValue)", by: partner, isVerdict: pendingRequest.origin.isVerdict, at: now)
            // A request of one user does not affect the subscriptions of others.
            if pendingRequest.isKeepAlive, pendingRequest.origin.isVerdict { change = left(partner, .unavailable) }
        } else {
            if table.answered(by: partner, after: now - pendingRequest.sentAt, at: now), table.isConfigured(partner) {
                log(.notice, "partner is up again", ["partner": partner])
            }
            if table.returned(partner, toOptions: pendingRequest.isKeepAlive) { change = .up }
        }
        // Other methods may still be challenged.
        if status.isSuccess { table.configurationWorks(at: partner, for: pendingRequest.method) }
        return change
    }

    /// Records the absence of a partner.
    /// - Returns: `down` if the partner was present before.
    func left(_ partner: String, _ absence: PartnerTable.Absence) -> Change? { table.left(partner, absence) ? .down : nil }

    /// Records a fault of the configuration.
    func misconfigured(_ reason: String, by name: String, for method: SIPMethod, at now: Instant) {
        table.misconfigured(reason, by: name, for: method, at: now)
    }

    /// Records a request without a response, or with 408 or 503.
    func noteFailure(_ reason: String, by partner: String, isVerdict: Bool, at now: Instant) {
        let isNews = table.failed(reason, by: partner, isVerdict: isVerdict, at: now)
        guard isNews else { return }
        // Partners without an entry are not logged: there may be any number.
        if table.isConfigured(partner) { log(.notice, "partner is down", ["partner": partner, "reason": reason]) }
    }
}

extension RequestOrigin {
    /// Whether a missing response concerns the partner rather than one watcher.
    var isVerdict: Bool { domain != nil }
}

extension PendingRequest {
    /// Whether it is an OPTIONS.
    var isKeepAlive: Bool { method == .options }
}
