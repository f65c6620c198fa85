import FederationRouting
import SIPCore
import SIPEvents

/// Records the outcome of requests to partners' servers, for operators and for the verification of subscriptions.
extension Gateway {
    /// A request that waits for its response.
    struct PendingRequest {
        var purpose: RequestPurpose
        var sentAt: Instant
        /// Connection on which it was sent; nil: it was sent by address.
        var connection: ConnectionID?
        /// Copy for sending it again; nil: not repeated, whatever the response.
        var repeatable: RepeatableRequest?

        /// Whether it is an OPTIONS.
        var isKeepAlive: Bool { if case .keepAlive = purpose { true } else { false } }
    }

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
        for subscription in upstreams.values {
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

    /// The partner that a request was sent to; nil: none.
    func partner(of purpose: RequestPurpose) -> String? {
        switch purpose {
        case .notify(let watcher): watcher.partner
        case .homeNotify: nil
        case .subscribe(let upstream, _): partnerName(ofDomain: upstream.domain.name)
        case .publication(let bridge, _): partnerName(ofDomain: bridge.uri.domainKey)
        case .categoryPublication(let bridge, _): partnerName(ofDomain: bridge.uri.domainKey)
        case .keepAlive(let name, _): partnerName(ofDomain: name)
        }
    }

    func noteSent(for purpose: RequestPurpose) {
        if let partner = partner(of: purpose) { partners.sent(to: partner) }
    }

    /// Counts a BENOTIFY in the dialog with this local tag.
    func noteSent(inDialog tag: String) {
        if let partner = dialogs[tag]?.partner { partners.sent(to: partner) }
    }

    /// Records a final response.
    func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, at now: Instant) {
        guard let partner = partner(of: pendingRequest.purpose) else { return }
        if status == .requestTimeout || status == .serviceUnavailable {
            noteFailure("answered \(status.rawValue)", by: partner, isVerdict: pendingRequest.purpose.isVerdict, at: now)
            // A request of one user does not affect the subscriptions of others.
            if pendingRequest.isKeepAlive, pendingRequest.purpose.isVerdict { partnerLeft(partner, .unavailable, at: now) }
        } else {
            if partners.answered(by: partner, after: now - pendingRequest.sentAt, at: now), partners.isConfigured(partner) {
                log(.notice, "partner is up again", ["partner": partner])
            }
            if partners.returned(partner, toOptions: pendingRequest.isKeepAlive) { partnerChanged(partner, isUp: true, at: now) }
        }
        // Other methods may still be challenged.
        if status.isSuccess { partners.configurationWorks(at: partner, for: pendingRequest.purpose.method) }
    }

    /// Records that no server answered, was reached, or was located.
    func noteSilence(of purpose: RequestPurpose, _ reason: String, _ failure: Notifier.DeliveryFailure, at now: Instant) {
        // A full transaction table of the gateway is no fault of the partner.
        guard reason != TransactionLayer.limitReason, let partner = partner(of: purpose) else { return }
        noteFailure(reason, by: partner, isVerdict: purpose.isVerdict, at: now)
        guard purpose.isVerdict, let domain = domain(of: purpose) else { return }
        if isOfPartner(failure, of: purpose, in: domain) {
            partnerLeft(partner, .unreachable, at: now)
        } else if !askNow(domain, at: now) {
            sample(upstreams.numbers(ofDomain: domain), at: now)
        }
    }

    private func partnerLeft(_ partner: String, _ absence: PartnerTable.Absence, at now: Instant) {
        if partners.left(partner, absence) { partnerChanged(partner, isUp: false, at: now) }
    }

    /// Whether a failure concerns all users of a domain: an unanswered OPTIONS, or a request outside dialogs by the route of OPTIONS that
    /// reached no server. A dialog or a user may have another route, and one request may be unanswered by itself.
    private func isOfPartner(_ failure: Notifier.DeliveryFailure, of purpose: RequestPurpose, in domain: String) -> Bool {
        switch purpose {
        case .keepAlive: return true
        case .subscribe(let upstream, _):
            return failure == .transport && upstream.dialog == nil && upstream.domain.hop == hop(toward: SIPURI(host: domain))
        case .publication(let bridge, _):
            return failure == .transport && hop(toward: bridge.uri) == hop(toward: SIPURI(host: domain))
        case .categoryPublication(let bridge, _):
            return failure == .transport && hop(toward: bridge.uri) == hop(toward: SIPURI(host: domain))
        case .notify, .homeNotify: return false
        }
    }

    private func domain(of purpose: RequestPurpose) -> String? {
        switch purpose {
        case .notify, .homeNotify: nil
        case .subscribe(let upstream, _): upstream.domain.name
        case .publication(let bridge, _): bridge.uri.domainKey
        case .categoryPublication(let bridge, _): bridge.uri.domainKey
        case .keepAlive(let name, _): name
        }
    }

    private func noteFailure(_ reason: String, by partner: String, isVerdict: Bool, at now: Instant) {
        let isNews = partners.failed(reason, by: partner, isVerdict: isVerdict, at: now)
        guard isNews else { return }
        // Partners without an entry are not logged: there may be any number.
        if partners.isConfigured(partner) { log(.notice, "partner is down", ["partner": partner, "reason": reason]) }
    }
}

extension Gateway.RequestPurpose {
    var isPublication: Bool {
        switch self {
        case .publication, .categoryPublication: true
        case .notify, .homeNotify, .subscribe, .keepAlive: false
        }
    }

    var method: SIPMethod {
        switch self {
        case .notify, .homeNotify: .notify
        case .subscribe: .subscribe
        case .publication: .publish
        case .categoryPublication: .service
        case .keepAlive: .options
        }
    }

    /// Whether silence concerns the partner rather than one watcher.
    fileprivate var isVerdict: Bool {
        switch self {
        // One of several servers may be down.
        case .notify, .homeNotify, .keepAlive(_, .some): false
        case .subscribe, .publication, .categoryPublication, .keepAlive: true
        }
    }
}
