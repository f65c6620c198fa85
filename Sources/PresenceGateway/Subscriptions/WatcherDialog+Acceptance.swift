import FederationRouting
import SIPCore
import SIPEvents

/// The 200 to a SUBSCRIBE (RFC 6665 4.2.1, MS-SIP 3.4.5.1).
extension WatcherDialog {
    /// Whether the 200 carries the state (MS-SIP 3.4.5.1).
    func isPiggyback(_ request: SIPRequest, isPoll: Bool) -> Bool {
        request.headers.hasToken(.supported, "ms-piggyback-first-notify") && subscription.allowsPiggyback(isPoll: isPoll)
    }

    /// The 200 without its body.
    /// - Parameter number: set if the 200 replaces a NOTIFY: the CSeq number of that NOTIFY.
    func acceptance(
        of request: SIPRequest, contact: String, expires: Int, _ status: SubscriptionStatus, piggybacking number: UInt32?
    ) -> SIPResponse {
        // Enterprise clients learn it from Subscription-State alone.
        let isPending = terms.side == .simple && subscription.isAwaitingConfirmation
        var response = SIPResponse(to: request, status: isPending ? .accepted : .ok, toTag: localTag)
        response.headers.set(.contact, contact)
        response.headers.append(.expires, String(expires))
        if subscription.requiresEventList { response.headers.append(.require, "eventlist") }
        if notifier.configuration.bestEffort { response.headers.append(.supported, "ms-benotify") }
        guard let number else { return response }
        response.headers.append(.supported, "ms-piggyback-first-notify")
        response.headers.append(.event, event.description)
        response.headers.append("subscription-state", status.isTerminated ? "terminated;expires=0" : status.headerValue)
        response.headers.msPiggybackCSeq = number
        return response
    }
}

extension Notifier {
    /// Whether a 200 may replace a NOTIFY: not while one awaits its response, unless the 200 ends the subscription.
    func allowsPiggyback(of status: SubscriptionStatus) -> Bool { status.isTerminated || !isAwaitingAnswer }
}
