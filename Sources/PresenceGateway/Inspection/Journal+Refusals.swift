import PresenceDocuments
import SIPCore
import SIPEvents

/// Entries of the journal.
extension KernelUser {
    func note(
        _ event: JournalEntry.Event, method: SIPMethod? = nil, watcher: String, presentity: String, callID: String, status: Int? = nil,
        rule: @autoclosure () -> String, at now: Instant
    ) {
        journal.add(
            JournalEntry(
                at: DateTime(now), event: event, method: method?.rawValue, watcher: watcher,
                presentity: presentity, callID: callID, status: status, rule: rule()))
    }
}

extension FlowsMember {
    /// Adds a refusal to the journal, except for OPTIONS, REGISTER and requests for credentials.
    /// - Parameter reason: the rule, if the response does not state it.
    func note(_ refusal: Refusal, of request: SIPRequest, because reason: String? = nil, at now: Instant) {
        guard request.method != .options, request.method != .register, refusal.status != .unauthorized,
            refusal.status != .proxyAuthenticationRequired
        else { return }
        let (watcher, presentity) = parties(ofRefused: request)
        note(
            .refused, method: request.method, watcher: watcher, presentity: presentity, callID: request.headers.callID ?? "",
            status: refusal.status.rawValue, rule: reason ?? refusal.detail ?? refusal.explanation, at: now)
    }

    /// Canonical keys of watcher and presentity of a refused request; the presentity is empty for a whole batch or list.
    private func parties(ofRefused request: SIPRequest) -> (watcher: String, presentity: String) {
        let from = request.headers.from.map { canonicalKey(of: $0.uri) } ?? ""
        let to = request.headers.to.map { canonicalKey(of: $0.uri) } ?? ""
        let tag = request.headers.toTag
        switch request.method {
        case .notify, .benotify:
            guard let subscription = tag.flatMap({ flows.upstream.upstreams[tag: $0] }) else { return (watcher: to, presentity: from) }
            return (watcher: subscription.watcher.aorKey, presentity: subscription.only?.key ?? "")
        case .subscribe:
            if let dialog = tag.flatMap({ flows.subscriptions.dialogs[$0] }) {
                return (watcher: from, presentity: dialog.subscription.presentity)
            }
            // A new subscription is decided by its Request-URI; within a dialog the Request-URI is the gateway's Contact.
            let asked = tag == nil ? canonicalKey(of: request.uri) : to
            let namesResources = CategoryRequest.isBatch(request.headers) || asked == configuration.listServer?.aorKey
            return (watcher: from, presentity: namesResources ? "" : asked)
        case .publish:
            return (watcher: from, presentity: canonicalKey(of: request.uri))
        default:
            return (watcher: from, presentity: to)
        }
    }
}

extension KernelUser {
    /// Adds the end of a subscription to the journal.
    func note(_ reason: Notifier.EndReason, of watcher: WatcherDialog, at now: Instant) {
        var status: Int?
        if case .refused(let answered) = reason { status = answered }
        note(
            .ended, watcher: watcher.watcherKey, presentity: watcher.subscription.presentity,
            callID: watcher.dialog.id.callID, status: status, rule: reason.words, at: now)
    }
}

extension Notifier.EndReason {
    /// Description for operators.
    var words: String {
        switch self {
        case .unsubscribed: "the watcher unsubscribed (RFC 6665 4.1.2.3)"
        case .fetched: "the watcher asked once, with Expires 0 (RFC 6665 4.4.3)"
        case .expired: "the watcher did not refresh in time (RFC 6665 4.2.1.4)"
        case .terminated(let reason): "this gateway ended it: \(reason.rawValue)"
        case .refused: "the watcher refused a NOTIFY (RFC 6665 4.2.2)"
        case .unreachable: "the watcher could not be reached with a NOTIFY (RFC 6665 4.2.2)"
        }
    }
}
