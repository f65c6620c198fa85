import FederationRouting
import SIPCore
import SIPEvents

/// Limits, rights and availability of partners.
extension BorderFlow {
    /// - Throws: 403 if the domains of a watcher and a presentity do not allow watching (MS-PRES 3.4.5.3).
    func checkRights(watcher: SIPURI, presentity: SIPURI) throws(Refusal) {
        guard let refusal = routes.rightsRefusal(watcher: watcher, presentity: presentity) else { return }
        if let partner = partnerName(of: watcher) ?? partnerName(of: presentity) { partners.count(\.noRight, of: partner) }
        counters.rightsRefused += 1
        var answer = Refusal.forbidden(
            refusal.isIncoming
                ? "MS-PRES 3.4.5.3: the presentity is not watched from this domain"
                : "MS-PRES 3.4.5.3: the subscriber may not watch users of this domain", errorID: 2004)
        answer.detail = refusal.reason
        throw answer
    }

    /// - Parameter countedFor: partner for which the URIs are counted already; nil: none.
    /// - Throws: 503 if the users of the watcher's domain watch as many URIs as allowed (MS-SIPRE: discovered partners).
    func checkPartner(of watcher: SIPURI, _ flow: Flow, watching keys: [String], countedFor: String? = nil) throws(Refusal) {
        // Counted URIs are excluded for the check.
        if let countedFor { for key in keys { partners.unwatch(key, by: countedFor) } }
        defer {
            if let countedFor { for key in keys { partners.watch(key, by: countedFor) } }
        }
        guard let partner = verdict(on: flow, speakingFor: watcher).partner else { return }
        let limits = partners.limits(of: partner)
        guard keys.contains(where: { partners.table.isFull(partner.name, limits, for: $0) }) else { return }
        partners.count(\.tooManyURIs, of: partner.name)
        counters.limitsReached += 1
        throw .unavailable("users of this domain watch too many URIs", retryAfter: configuration.timing.retryAfter, errorID: 2012)
    }

    // MARK: rights that a changed configuration withdraws

    /// The reason why a user's domain is no longer served; nil: it is.
    func refusalOfDomain(_ user: SIPURI) -> String? {
        let domain = configuration.canonical(user).domainKey
        guard let (name, entry) = routes.entry(for: domain) else { return "\(domain) is not configured any more" }
        return entry.refusal.map { "\(name) is refused with \($0.rawValue) now" }
    }

    /// The reason why a watcher may no longer watch a presentity; nil: it may. A refusal is counted for the partner.
    func refusalOfRights(_ watcher: SIPURI, to presentity: SIPURI, through partner: String?) -> String? {
        let (watcher, presentity) = (configuration.canonical(watcher), configuration.canonical(presentity))
        guard let refusal = routes.rightsRefusal(watcher: watcher, presentity: presentity) else { return nil }
        if let partner { partners.count(\.noRight, of: partner) }
        counters.rightsRefused += 1
        return refusal.reason
    }

    // MARK: servers of partners

    /// Reports on the configured partners and on those with messages, sorted by name.
    var partnerReports: [PartnerReport] { partners.reports(unverified: ports.unverifiedByDomain) }

    /// Whether the remote end of a connection is a server of a partner.
    func isServer(at remote: TransportAddress, proving identity: PeerIdentity?, of partner: String, at now: Instant) -> Bool {
        if peer(at: remote, proving: identity).domains.contains(partner) { return true }
        if let identity {
            guard let (name, entry) = routes.entry(for: partner), name == RoutingTable.fallbackName else { return false }
            return identity.proves(partner, by: entry.side == .enterprise ? .enterprise : .domain).isProved
        }
        return peerTable.isServer(remote.host, of: partner, at: now)
    }

    /// Records a final response.
    func noteAnswer(_ status: SIPStatus, to pendingRequest: PendingRequest, at now: Instant) {
        guard let partner = pendingRequest.origin.partner else { return }
        partnerChanged(partner, partners.noteAnswer(status, to: pendingRequest, by: partner, at: now), at: now)
    }

    /// Records that no server answered, was reached, or was located.
    func noteSilence(of origin: RequestOrigin, _ reason: String, _ failure: DeliveryFailure, at now: Instant) {
        // A full transaction table of the gateway is no fault of the partner.
        guard reason != TransactionLayer.limitReason, let partner = origin.partner else { return }
        partners.noteFailure(reason, by: partner, isVerdict: origin.isVerdict, at: now)
        guard let domain = origin.domain else { return }
        if client(of: origin.ticket)?.concernsPartner(failure, of: origin) == true {
            partnerChanged(partner, partners.left(partner, .unreachable), at: now)
        } else if !probes.askNow(domain, at: now) {
            ports.sampleSubscriptions(ofDomain: domain, at: now)
        }
    }

    private func partnerChanged(_ partner: String, _ change: PartnerRecords.Change?, at now: Instant) {
        guard let change else { return }
        if change == .down { probes.askSoon(partner, at: now) }
        ports.partnerChanged(partner, isUp: change == .up, at: now)
    }
}
