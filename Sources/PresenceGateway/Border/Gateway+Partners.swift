import FederationRouting
import SIPCore
import SIPEvents

/// Limits and rights of partners.
extension Gateway {
    func limits(of partner: SpeakerVerdict.Partner) -> PartnerLimits {
        configuration.domains[partner.entry]?.trust.limits ?? (partner.isDiscovered ? .discovered : PartnerLimits())
    }

    /// The partner of a user; nil: the user's domain is hosted here, or not served.
    func partnerName(of user: SIPURI) -> String? {
        partnerName(ofDomain: configuration.canonical(user).domainKey)
    }

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

    /// - Throws: 503 if the users of the watcher's domain watch as many URIs as allowed (MS-SIPRE: discovered partners).
    func checkPartner(of watcher: SIPURI, _ flow: Flow, watching keys: [String]) throws(Refusal) {
        guard let partner = verdict(on: flow, speakingFor: watcher).partner else { return }
        let limits = limits(of: partner)
        guard keys.contains(where: { partners.isFull(partner.name, limits, for: $0) }) else { return }
        partners.count(\.tooManyURIs, of: partner.name)
        counters.limitsReached += 1
        throw .unavailable("users of this domain watch too many URIs", retryAfter: configuration.timing.retryAfter, errorID: 2012)
    }

    /// Whether a resource of a list may be watched; if not, the list reports the refusal.
    func mayWatch(_ resource: WatchedResource, _ watcher: WatcherDialog) -> Bool {
        do throws(Refusal) {
            try checkRights(watcher: watcher.watcher, presentity: resource.uri)
        } catch {
            reject(
                resource, of: watcher, state: "terminated", reason: TerminationReason.rejected.rawValue,
                statusCode: error.status.rawValue, because: error.detail)
            return false
        }
        do throws(Refusal) {
            // The resource is counted already, so exclude it for the check.
            if let partner = resource.partner { partners.unwatch(resource.key, by: partner) }
            defer { if let partner = resource.partner { partners.watch(resource.key, by: partner) } }
            try checkPartner(of: watcher.watcher, watcher.flow, watching: [resource.key])
        } catch {
            reject(resource, of: watcher, state: "terminated", reason: "quotaExceeded", statusCode: error.status.rawValue)
            return false
        }
        return true
    }

    /// The refusal of a request beyond the rate of its partner; nil: within the rate.
    func slowDown(_ partner: SpeakerVerdict.Partner, at now: Instant) -> Refusal? {
        guard !partners.admits(partner.name, limits(of: partner), at: now) else { return nil }
        counters.limitsReached += 1
        return .unavailable("too many messages of this domain", retryAfter: configuration.timing.retryAfter, errorID: 2012)
    }
}
