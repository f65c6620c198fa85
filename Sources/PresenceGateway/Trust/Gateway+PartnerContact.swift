import FederationRouting
import SIPCore

/// What becomes of requests of ours to partners' servers: noted by partner, for an operator who asks which of them is up.
extension Gateway {
    /// A request of ours, and when it was sent.
    struct Awaited {
        var purpose: Awaiting
        var sentAt: Instant
        /// The connection that it was sent over; nil: it was sent by address.
        var connection: ConnectionID?
        /// nil: it is not sent again, whatever the answer.
        var repeatable: RepeatableRequest?

        /// The answer is not waited for.
        var isKeepAlive: Bool { if case .keepAlive = purpose { true } else { false } }
    }

    /// The partners of the configuration, and those that were heard or asked, by name.
    public var partnerReports: [PartnerReport] {
        partners.reports.map { report in
            var report = report
            let unverified = upstreams.values.filter { $0.unverifiedSince != nil && partnerName(ofDomain: $0.domain.name) == report.name }
            report.unverified = unverified.count
            report.unverifiedSince = unverified.compactMap(\.unverifiedSince).min()
            report.side = (configuration.domains[report.name] ?? configuration.domains[RoutingTable.fallbackName])?.side
            return report
        }
    }

    /// The partners that have an entry of their own.
    static func configuredPartners(_ routes: RoutingTable) -> Set<String> {
        Set(
            routes.names.filter { name in
                guard name != RoutingTable.fallbackName, let domain = routes[name] else { return false }
                return domain.refusal == nil && !domain.isHosted
            })
    }

    /// As which partner a domain counts that lives elsewhere; nil: it is hosted here, or not served.
    func partnerName(ofDomain domain: String) -> String? {
        guard let (name, entry) = routes.entry(for: domain), entry.refusal == nil, !entry.isHosted else { return nil }
        return name == RoutingTable.fallbackName ? domain : name
    }

    /// Whether the far end of a connection is a server of a partner.
    public func isServer(at remote: TransportAddress, proving identity: PeerIdentity?, of partner: String, at now: Instant) -> Bool {
        if peer(at: remote, proving: identity).domains.contains(partner) { return true }
        if let identity {
            guard let (name, entry) = routes.entry(for: partner), name == RoutingTable.fallbackName else { return false }
            return identity.proves(partner, by: entry.side == .enterprise ? .enterprise : .domain).isProved
        }
        return peerTable.isServer(remote.host, of: partner, at: now)
    }

    /// Whose servers are asked.
    func partner(of purpose: Awaiting) -> String? {
        switch purpose {
        case .notify(let watcher): watcher.partner
        case .homeNotify: nil
        case .subscribe(let upstream, _): partnerName(ofDomain: upstream.domain.name)
        case .publication(let bridge, _): partnerName(ofDomain: bridge.uri.domainKey)
        case .categoryPublication(let bridge, _): partnerName(ofDomain: bridge.uri.domainKey)
        case .keepAlive(let name, _): partnerName(ofDomain: name)
        }
    }

    func noteSent(for purpose: Awaiting) {
        if let partner = partner(of: purpose) { partners.sent(to: partner) }
    }

    /// A BENOTIFY, of the dialog with this tag of ours.
    func noteSent(inDialog tag: String) {
        if let partner = dialogs[tag]?.partner { partners.sent(to: partner) }
    }

    /// A final answer.
    func noteAnswer(_ status: SIPStatus, to awaited: Awaited, at now: Instant) {
        guard let partner = partner(of: awaited.purpose) else { return }
        if status == .requestTimeout || status == .serviceUnavailable {
            noteFailure("answered \(status.rawValue)", by: partner, isVerdict: awaited.purpose.isVerdict, at: now)
        } else if partners.answered(by: partner, after: now - awaited.sentAt, at: now) {
            if partners.isConfigured(partner) { log(.notice, "partner is up again", ["partner": partner]) }
            partnerChanged(partner, isUp: true, at: now)
        }
        // One method need not be asked for credentials where another is.
        if status.isSuccess { partners.configurationWorks(at: partner, for: awaited.purpose.method) }
    }

    /// No server answered, was reached, or is known.
    func noteSilence(of purpose: Awaiting, _ reason: String, at now: Instant) {
        // Our own table is full: that says nothing of anybody.
        guard reason != TransactionLayer.limitReason, let partner = partner(of: purpose) else { return }
        noteFailure(reason, by: partner, isVerdict: purpose.isVerdict, at: now)
    }

    private func noteFailure(_ reason: String, by partner: String, isVerdict: Bool, at now: Instant) {
        let isNews = partners.failed(reason, by: partner, isVerdict: isVerdict, at: now)
        guard isNews else { return }
        // Of others there may be any number.
        if partners.isConfigured(partner) { log(.notice, "partner is down", ["partner": partner, "reason": reason]) }
        partnerChanged(partner, isUp: false, at: now)
    }
}

extension Gateway.Awaiting {
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

    /// Whether silence says something of the partner, and not of one watcher only.
    fileprivate var isVerdict: Bool {
        switch self {
        // One server of several may be away.
        case .notify, .homeNotify, .keepAlive(_, .some): false
        case .subscribe, .publication, .categoryPublication, .keepAlive: true
        }
    }
}
