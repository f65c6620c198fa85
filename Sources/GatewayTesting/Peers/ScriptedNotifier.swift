import SIPCore

/// A presence server (RFC 6665 4.2) whose manners can be changed at any time; subclasses hold the presence and write the documents.
public class ScriptedNotifier: SIPPeer {
    public enum Answer: Sendable {
        case accept
        /// With further headers, such as Retry-After.
        case refuse(SIPStatus, [SIPHeaderName: String] = [:])
        /// No answer at all.
        case silence
    }

    /// How it treats subscriptions.
    public struct Manners: Sendable {
        public var answer = Answer.accept
        /// Answers `pending` instead of `active`, and shows nothing.
        public var isPending = false
        public var longestExpiry: UInt32 = 3600
        /// A shorter wish is refused with 423 and this as Min-Expires.
        public var shortestExpiry: UInt32 = 0
        /// The first NOTIFY leaves before the 200.
        public var notifiesBeforeAnswering = false
        /// Breaks the rule that a NOTIFY follows every 2xx.
        public var withholdsFirstNotify = false
        /// Ends dialogs at their expiry with a NOTIFY; otherwise silently.
        public var announcesExpiry = true
        /// Sends the next NOTIFY only after the answer to the one before.
        public var waitsForAnswers = true

        public init() {}
    }

    final class Dialog {
        let presentity: String
        let watcher: String
        /// The To of the SUBSCRIBE.
        let localURI: String
        /// The Request-URI that opened it: the presentity, or a pool.
        let pool: String
        let callID: String
        let localTag: String
        let remoteTag: String
        let event: String
        var request: SIPRequest
        var remoteTarget: String
        var routeSet: [String]
        var connection: ConnectionID?
        var localCSeq: UInt32 = 0
        var remoteCSeq: UInt32
        var expiresAt: Instant
        var expiryAlarm: UInt64?
        var isInFlight = false
        var isDirty = false
        /// The parameters of the last NOTIFY, once it is to be sent.
        var ending: SubscriptionState?
        /// What was said last, for servers that send changes only.
        var lastSaid: EnhancedState?
        /// What a batch watches (MS-PRES 3.4.5.1.1); nil: it is none.
        var batch: BatchSubscription?

        /// What is said as a difference to something begins again with the whole.
        var mustRepeat = false

        /// Nobody knows whether what was said arrived: everything is said again.
        func forgetSaid() {
            lastSaid = nil
            mustRepeat = true
            for place in batch?.resources.indices ?? 0..<0 { batch?.resources[place].isSaid = false }
        }

        init(_ request: SIPRequest, presentity: String, localTag: String, connection: ConnectionID?, expiresAt: Instant) {
            self.presentity = presentity
            pool = request.requestURI
            localURI = request.headers.to?.uri.description ?? presentity
            watcher = request.headers.from?.uri.description ?? ""
            callID = request.headers.callID ?? ""
            self.localTag = localTag
            remoteTag = request.headers.fromTag ?? ""
            event = request.headers.first(.event) ?? "presence"
            self.request = request
            remoteTarget = request.headers.contact?.uri.description ?? ""
            routeSet = request.headers.values(.recordRoute)
            self.connection = connection
            remoteCSeq = request.headers.cSeq?.number ?? 0
            self.expiresAt = expiresAt
        }
    }

    public var manners = Manners()
    private(set) var dialogs: [Dialog] = []
    /// Dialogs that it lost while nothing told the other side: it was not away, and has no connection that ended.
    private var lostUnheard: [Dialog] = []
    /// The dialogs that live now.
    public var dialogCount: Int { dialogs.count }
    /// The watchers that have a dialog, one entry each.
    public var watchers: [String] { dialogs.map(\.watcher) }
    /// SUBSCRIBEs answered 200 that opened a dialog, or polled.
    public private(set) var acceptedCount = 0
    /// NOTIFYs and BENOTIFYs sent, by method.
    public private(set) var notifications: [SIPMethod: Int] = [:]
    /// NOTIFYs that were answered by something else than 2xx, or not at all.
    public private(set) var failedNotifications = 0

    // MARK: Dialect

    /// Whether a SUBSCRIBE can be served; else the refusal.
    func objection(to request: SIPRequest) -> SIPStatus? { nil }

    /// Whose presence a SUBSCRIBE asks for.
    func presentity(of request: SIPRequest) -> String { request.requestURI }

    /// Whether a dialog is about a presentity.
    func watches(_ dialog: Dialog, _ presentity: String) -> Bool { same(dialog.presentity, presentity) }

    /// Takes over what a SUBSCRIBE says about what is watched; says why it cannot.
    func change(_ dialog: Dialog, by request: SIPRequest) -> SIPStatus? { nil }

    /// Whether another notification follows the one that was just written.
    func hasMore(_ dialog: Dialog) -> Bool { false }

    /// A SUBSCRIBE was accepted: the next notification is the first one after it.
    func accepted(_ dialog: Dialog) {}

    /// The body of the next notification; nil: none.
    func body(for dialog: Dialog) -> (contentType: String, bytes: [UInt8])? { nil }

    /// Turns the 200 into one that carries the first notification; says whether it did.
    func piggyback(_ response: inout SIPResponse, _ dialog: Dialog, state: SubscriptionState) -> Bool { false }

    /// Adds what the dialect wants to a NOTIFY, and may turn it into a BENOTIFY.
    func dress(_ notify: inout SIPRequest, for dialog: Dialog) {}

    // MARK: What the script calls

    /// Tells the watchers of a presentity that it changed.
    final func changed(_ presentity: String, at now: Instant) {
        for dialog in dialogs where watches(dialog, presentity) { notify(dialog, at: now) }
    }

    /// Notifies the watchers of a presentity once more, as after a change of manners.
    public final func notifyAgain(_ presentity: String, at now: Instant) { changed(presentity, at: now) }

    /// Ends the subscriptions to a presentity.
    public final func terminate(
        _ presentity: String, _ reason: SubscriptionState.TerminationReason?, retryAfter: UInt32? = nil, at now: Instant
    ) {
        for dialog in dialogs where watches(dialog, presentity) {
            dialog.ending = .terminated(reason, retryAfter: retryAfter)
            notify(dialog, at: now)
        }
    }

    /// Loses every dialog without a word, as after a restart: refreshes get 481.
    public final func forgetDialogs() {
        for dialog in dialogs { cancel(dialog.expiryAlarm) }
        for dialog in dialogs { loseUnheard(dialog) }
        dialogs = []
    }

    private func loseUnheard(_ dialog: Dialog) {
        guard !address.transport.isReliable else { return }
        lostUnheard = lostUnheard.suffix(255) + [dialog]
    }

    /// Whether it lost a dialog about a presentity while nothing told the other side, which has asked for nothing since: over UDP only the
    /// next refresh shows that (RFC 6665 4.1.2.2).
    final func hasLostUnheard(_ presentity: String) -> Bool { lostUnheard.contains { watches($0, presentity) } }

    /// Takes a dialog out without a word.
    final func drop(_ dialog: Dialog) {
        cancel(dialog.expiryAlarm)
        dialogs.removeAll { $0 === dialog }
    }

    final func same(_ one: String, _ other: String) -> Bool { SIPURI.key(of: one) == SIPURI.key(of: other) }

    // MARK: SUBSCRIBE

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .subscribe else { return SIPResponse(to: request, status: .methodNotAllowed, toTag: token()) }
        if let toTag = request.headers.toTag { return refresh(request, toTag, from: source, at: now) }
        switch manners.answer {
        case .silence: return nil
        case .refuse(let status, let headers):
            var response = SIPResponse(to: request, status: status, toTag: token())
            for (name, value) in headers { response.headers.set(name, value) }
            return response
        case .accept: return open(request, from: source, at: now)
        }
    }

    private func open(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        if request.headers.event?.package != "presence" {
            var response = SIPResponse(to: request, status: .badEvent, toTag: token())
            response.headers.set(.allowEvents, "presence")
            return response
        }
        if let status = objection(to: request) { return SIPResponse(to: request, status: status, toTag: token()) }
        let asked = request.headers.expires ?? 3600
        if let response = tooBrief(request, asked) { return response }
        let granted = min(asked, manners.longestExpiry)
        let dialog = Dialog(
            request, presentity: presentity(of: request), localTag: token(), connection: source.connection,
            expiresAt: now + .seconds(Int(granted)))
        if let status = change(dialog, by: request) { return SIPResponse(to: request, status: status, toTag: token()) }
        acceptedCount += 1
        dialogs.append(dialog)
        lostUnheard.removeAll { $0.watcher == dialog.watcher && same($0.presentity, dialog.presentity) }
        return accept(request, dialog, granted: granted, from: source, at: now)
    }

    private func refresh(_ request: SIPRequest, _ toTag: String, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        if case .silence = manners.answer { return nil }
        let found = dialogs.first {
            $0.callID == request.headers.callID && $0.localTag == toTag && $0.remoteTag == request.headers.fromTag && $0.ending == nil
        }
        guard let dialog = found else {
            return SIPResponse(to: request, status: .callOrTransactionDoesNotExist, toTag: token())
        }
        let number = request.headers.cSeq?.number ?? 0
        guard number > dialog.remoteCSeq else { return SIPResponse(to: request, status: .serverInternalError, toTag: dialog.localTag) }
        let asked = request.headers.expires ?? 3600
        if let response = tooBrief(request, asked) { return response }
        if asked > 0, let status = change(dialog, by: request) {
            return SIPResponse(to: request, status: status, toTag: dialog.localTag)
        }
        dialog.remoteCSeq = number
        dialog.request = request
        dialog.remoteTarget = request.headers.contact?.uri.description ?? dialog.remoteTarget
        dialog.connection = source.connection ?? dialog.connection
        let granted = min(asked, manners.longestExpiry)
        dialog.expiresAt = now + .seconds(Int(granted))
        return accept(request, dialog, granted: granted, from: source, at: now)
    }

    private func tooBrief(_ request: SIPRequest, _ asked: UInt32) -> SIPResponse? {
        guard asked > 0, asked < manners.shortestExpiry else { return nil }
        var response = SIPResponse(to: request, status: .intervalTooBrief, toTag: token())
        response.headers.set(.minExpires, "\(manners.shortestExpiry)")
        return response
    }

    private func accept(
        _ request: SIPRequest, _ dialog: Dialog, granted: UInt32, from source: InboundMessage, at now: Instant
    ) -> SIPResponse? {
        cancel(dialog.expiryAlarm)
        if granted == 0 {
            dialog.ending = .terminated(.timeout)
        } else {
            dialog.expiryAlarm = schedule(at: dialog.expiresAt) { [unowned self] now in expire(dialog, at: now) }
        }
        accepted(dialog)
        var response = SIPResponse(to: request, status: .ok, toTag: dialog.localTag)
        response.headers.set(.contact, contact(user: "server"))
        response.headers.set(.expires, "\(granted)")
        if piggyback(&response, dialog, state: state(of: dialog, at: now)) {
            if granted == 0 { dialogs.removeAll { $0 === dialog } }
            return response
        }
        if manners.withholdsFirstNotify && granted > 0 { return response }
        guard manners.notifiesBeforeAnswering else {
            send(response, to: source)
            notify(dialog, at: now)
            return nil
        }
        notify(dialog, at: now)
        return response
    }

    private func expire(_ dialog: Dialog, at now: Instant) {
        guard manners.announcesExpiry else {
            dialogs.removeAll { $0 === dialog }
            return
        }
        dialog.ending = .terminated(.timeout)
        notify(dialog, at: now)
    }

    // MARK: NOTIFY

    private func state(of dialog: Dialog, at now: Instant) -> SubscriptionState {
        if let ending = dialog.ending { return ending }
        let left = UInt32(max(0, (dialog.expiresAt - now).seconds))
        return manners.isPending ? .pending(expires: left) : .active(expires: left)
    }

    final func notify(_ dialog: Dialog, at now: Instant) {
        guard dialogs.contains(where: { $0 === dialog }) else { return }
        if dialog.isInFlight && manners.waitsForAnswers {
            dialog.isDirty = true
            return
        }
        dialog.isDirty = false
        dialog.isInFlight = true
        dialog.localCSeq += 1
        let state = state(of: dialog, at: now)
        var request = SIPRequest(.notify, requestURI: dialog.remoteTarget)
        request.headers.append(.from, "<\(dialog.localURI)>;tag=\(dialog.localTag)")
        request.headers.append(.to, "<\(dialog.watcher)>;tag=\(dialog.remoteTag)")
        request.headers.append(.callID, dialog.callID)
        for route in dialog.routeSet { request.headers.append(.route, route) }
        request.headers.append(.contact, contact(user: "server"))
        request.headers.append(.event, dialog.event)
        request.headers.append(.subscriptionState, state.description)
        if !manners.isPending || state.state == .terminated, let body = body(for: dialog) {
            request.headers.append(.contentType, body.contentType)
            request.body = body.bytes
        }
        dress(&request, for: dialog)
        notifications[request.method, default: 0] += 1
        request.headers.append(.cSeq, "\(dialog.localCSeq) \(request.method)")
        let isLast = state.state == .terminated
        if isLast {
            cancel(dialog.expiryAlarm)
            dialogs.removeAll { $0 === dialog }
        }
        guard let goal = destination(route: dialog.routeSet, target: dialog.remoteTarget, connection: dialog.connection) else {
            return fault("a Contact that leads nowhere: \(dialog.remoteTarget)")
        }
        // Who is pending is told nothing more.
        if !isLast, !manners.isPending, hasMore(dialog) { dialog.isDirty = true }
        if request.method == .benotify {
            dialog.isInFlight = false
            sendUnanswered(request, to: goal) { dialog.forgetSaid() }
            if dialog.isDirty { notify(dialog, at: now) }
            return
        }
        send(request, to: goal, at: now) { [unowned self] answer, now in
            dialog.isInFlight = false
            if let status = answer.status, status.isSuccess {
                if dialog.isDirty { notify(dialog, at: now) }
            } else {
                failedNotifications += 1
                dialog.forgetSaid()
                if answer.status == nil { loseUnheard(dialog) }
                if answer.status.map({ $0 != .serverInternalError && $0 != .serviceUnavailable }) ?? true {
                    cancel(dialog.expiryAlarm)
                    dialogs.removeAll { $0 === dialog }
                } else if dialog.isDirty {
                    notify(dialog, at: now)
                }
            }
        }
    }

    override final func lost(_ connection: ConnectionID, at now: Instant) {
        for dialog in dialogs where dialog.connection == connection {
            dialog.connection = nil
            // What was on its way and awaits no answer may be lost with it.
            dialog.forgetSaid()
        }
        failTransactions(over: connection, at: now)
    }
}
