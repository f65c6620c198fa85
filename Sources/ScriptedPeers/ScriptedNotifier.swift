import SIPCore

/// Scripted notifier (RFC 6665 4.2) with behavior that can change at any time; subclasses hold the presence and write the documents.
package class ScriptedNotifier: SIPPeer {
    /// Reaction to a request.
    package enum Answer: Sendable {
        case accept
        /// Refuses, with additional headers such as Retry-After.
        case refuse(SIPStatus, [SIPHeaderName: String] = [:])
        /// Sends no response.
        case silence
    }

    /// Behavior towards subscriptions.
    package struct Manners: Sendable {
        /// Reaction to new subscriptions; `silence` applies to refreshes too.
        package var answer = Answer.accept
        /// Reaction to every SUBSCRIBE for these presentities, in a dialog too.
        package var answers: [String: Answer] = [:]
        /// Reaction to OPTIONS; nil: 405.
        package var answerToOptions: Answer?
        /// Whether the state is `pending` instead of `active`, without presence.
        package var isPending = false
        /// Maximum lifetime granted, in seconds.
        package var longestExpiry: UInt32 = 3600
        /// Minimum lifetime in seconds: a shorter one gets 423 with this Min-Expires.
        package var shortestExpiry: UInt32 = 0
        /// Whether the first NOTIFY is sent before the 200.
        package var notifiesBeforeAnswering = false
        /// Whether the NOTIFY required after every 2xx is omitted.
        package var withholdsFirstNotify = false
        /// Whether dialogs end at their expiry with a NOTIFY; otherwise silently.
        package var announcesExpiry = true
        /// Whether a NOTIFY waits for the response to the previous one.
        package var waitsForAnswers = true
        /// Whether every document has additional invalid optional elements.
        package var writesOddPieces = false
        /// Number of next documents that are unreadable.
        package var unreadableDocuments = 0

        /// Creates the default behavior: accept, notify and wait for responses.
        package init() {}
    }

    final class Dialog {
        let presentity: String
        let parties: Parties
        /// The last SUBSCRIBE.
        private(set) var request: SIPRequest
        private(set) var path: Path
        private(set) var localCSeq: UInt32 = 0
        private var remoteCSeq: UInt32
        fileprivate var expiry: Expiry
        fileprivate var delivery = Delivery()
        /// State of the final NOTIFY; nil while the dialog continues.
        var ending: SubscriptionState?
        /// State sent last, for servers that send changes only.
        var lastSaid: EnhancedState?
        /// Resources of a batch (MS-PRES 3.4.5.1.1); nil for other subscriptions.
        var batch: BatchSubscription?

        /// Whether the next notification must be full, not a difference.
        private var mustRepeat = false

        /// Identity of the dialog, by its first SUBSCRIBE.
        struct Parties {
            let watcher: String
            /// URI in To of the SUBSCRIBE.
            let localURI: String
            /// Request-URI that opened the dialog: the presentity or a pool.
            let pool: String
            let callID: String
            let localTag: String
            let remoteTag: String
            let event: String
        }

        /// Way to the watcher.
        struct Path {
            var remoteTarget: String
            let routeSet: [String]
            var connection: ConnectionID?
        }

        fileprivate struct Expiry {
            var time: Instant
            var alarm: UInt64?
        }

        fileprivate struct Delivery {
            var isInFlight = false
            /// Whether another notification follows.
            var isDirty = false
        }

        init(_ request: SIPRequest, presentity: String, localTag: String, connection: ConnectionID?, expiresAt: Instant) {
            self.presentity = presentity
            parties = Parties(
                watcher: request.headers.from?.uri.description ?? "", localURI: request.headers.to?.uri.description ?? presentity,
                pool: request.requestURI, callID: request.headers.callID ?? "", localTag: localTag,
                remoteTag: request.headers.fromTag ?? "", event: request.headers.first(.event) ?? "presence")
            self.request = request
            path = Path(
                remoteTarget: request.headers.contact?.uri.description ?? "", routeSet: request.headers.values(.recordRoute),
                connection: connection)
            remoteCSeq = request.headers.cSeq?.number ?? 0
            expiry = Expiry(time: expiresAt)
        }

        /// Whether a request is newer than the last one.
        func isNewer(_ request: SIPRequest) -> Bool { request.headers.cSeq?.number ?? 0 > remoteCSeq }

        func refresh(by request: SIPRequest, over connection: ConnectionID?, expiresAt: Instant) {
            remoteCSeq = request.headers.cSeq?.number ?? 0
            self.request = request
            path.remoteTarget = request.headers.contact?.uri.description ?? path.remoteTarget
            path.connection = connection ?? path.connection
            expiry.time = expiresAt
        }

        /// Takes the CSeq number of the next notification.
        func advanceCSeq() { localCSeq += 1 }

        /// Forgets the connection; a BENOTIFY on its way may be lost with it.
        func lostConnection() {
            path.connection = nil
            forgetSaid()
        }

        /// Marks all sent state as possibly lost, so that it is sent again.
        func forgetSaid() {
            lastSaid = nil
            mustRepeat = true
            for place in batch?.resources.indices ?? 0..<0 { batch?.resources[place].isSaid = false }
        }

        /// Whether the next notification must be full; cleared by the call.
        func takeMustRepeat() -> Bool {
            defer { mustRepeat = false }
            return mustRepeat
        }
    }

    /// Current behavior; a change applies from the next message.
    package var manners = Manners()
    private(set) var dialogs: [Dialog] = []
    /// Dialogs lost without a sign to the other side: the server stayed up, and no connection ended.
    private var lostUnheard: [Dialog] = []
    /// Number of current dialogs.
    package var dialogCount: Int { dialogs.count }
    /// Watchers of the current dialogs, one entry per dialog.
    package var watchers: [String] { dialogs.map(\.parties.watcher) }
    /// Number of SUBSCRIBEs answered with 200 outside a dialog, polls included.
    package private(set) var acceptedCount = 0
    /// Number of NOTIFYs and BENOTIFYs sent, by method.
    package private(set) var notifications: [SIPMethod: Int] = [:]
    /// Number of NOTIFYs without a 2xx response.
    package private(set) var failedNotifications = 0

    // MARK: Dialect

    /// Returns the status with which a SUBSCRIBE is refused; nil accepts it.
    func objection(to request: SIPRequest) -> SIPStatus? { nil }

    /// Presentity of a SUBSCRIBE.
    func presentity(of request: SIPRequest) -> String { request.requestURI }

    /// Whether a dialog watches a presentity.
    func watches(_ dialog: Dialog, _ presentity: String) -> Bool { same(dialog.presentity, presentity) }

    /// Updates the watched resources from a SUBSCRIBE; returns the status with which it is refused, or nil.
    func change(_ dialog: Dialog, by request: SIPRequest) -> SIPStatus? { nil }

    /// Whether another notification must follow the last one.
    func hasMore(_ dialog: Dialog) -> Bool { false }

    /// Handles an accepted SUBSCRIBE: the next notification is the first one after it.
    func accepted(_ dialog: Dialog) {}

    /// Body of the next notification; nil for none.
    func body(for dialog: Dialog) -> (contentType: String, bytes: [UInt8])? { nil }

    /// Adds the first notification to the 200; returns whether it did.
    func piggyback(_ response: inout SIPResponse, _ dialog: Dialog, state: SubscriptionState) -> Bool { false }

    /// Adds headers of the dialect to a NOTIFY, and may change it to a BENOTIFY.
    func dress(_ notify: inout SIPRequest, for dialog: Dialog) {}

    // MARK: Script actions

    /// Notifies the watchers of a presentity of a change.
    final func changed(_ presentity: String, at now: Instant) {
        for dialog in dialogs where watches(dialog, presentity) { notify(dialog, at: now) }
    }

    /// Notifies the watchers of a presentity again, for example after a change of manners.
    package final func notifyAgain(_ presentity: String, at now: Instant) { changed(presentity, at: now) }

    /// Ends the subscriptions to a presentity with a final NOTIFY.
    package final func terminate(
        _ presentity: String, _ reason: SubscriptionState.TerminationReason?, retryAfter: UInt32? = nil, at now: Instant
    ) {
        for dialog in dialogs where watches(dialog, presentity) {
            dialog.ending = .terminated(reason, retryAfter: retryAfter)
            notify(dialog, at: now)
        }
    }

    /// Drops all dialogs without notification, as after a restart: refreshes get 481.
    package final func forgetDialogs() {
        for dialog in dialogs { cancel(dialog.expiry.alarm) }
        for dialog in dialogs { loseUnheard(dialog) }
        dialogs = []
    }

    private func loseUnheard(_ dialog: Dialog) {
        guard !address.transport.isReliable else { return }
        lostUnheard = lostUnheard.suffix(255) + [dialog]
    }

    /// Whether a dialog about a presentity was lost without a sign to the other side, which has sent no request since: over UDP only the
    /// next refresh shows the loss (RFC 6665 4.1.2.2).
    package final func hasLostUnheard(_ presentity: String) -> Bool { lostUnheard.contains { watches($0, presentity) } }

    /// Drops a dialog without notification.
    final func drop(_ dialog: Dialog) {
        cancel(dialog.expiry.alarm)
        dialogs.removeAll { $0 === dialog }
    }

    final func same(_ one: String, _ other: String) -> Bool { SIPURI.key(of: one) == SIPURI.key(of: other) }

    // MARK: SUBSCRIBE

    override func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        if request.method == .options, let answer = manners.answerToOptions { return response(to: request, answer) }
        guard request.method == .subscribe else { return SIPResponse(to: request, status: .methodNotAllowed, toTag: token()) }
        if let answer = manners.answers[watchedPresentity(request)] { return response(to: request, answer) }
        if let toTag = request.headers.toTag { return refresh(request, toTag, from: source, at: now) }
        if case .accept = manners.answer { return open(request, from: source, at: now) }
        return response(to: request, manners.answer)
    }

    /// The presentity of the dialog, or of a SUBSCRIBE that opens one.
    private func watchedPresentity(_ request: SIPRequest) -> String {
        let known = dialogs.first { $0.parties.callID == request.headers.callID && $0.parties.localTag == request.headers.toTag }
        return known?.presentity ?? presentity(of: request)
    }

    private func response(to request: SIPRequest, _ answer: Answer) -> SIPResponse? {
        switch answer {
        case .accept: return SIPResponse(to: request, status: .ok, toTag: token())
        case .silence: return nil
        case .refuse(let status, let headers):
            var response = SIPResponse(to: request, status: status, toTag: token())
            for (name, value) in headers { response.headers.set(name, value) }
            return response
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
        lostUnheard.removeAll { $0.parties.watcher == dialog.parties.watcher && same($0.presentity, dialog.presentity) }
        return accept(request, dialog, granted: granted, from: source, at: now)
    }

    private func refresh(_ request: SIPRequest, _ toTag: String, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        if case .silence = manners.answer { return nil }
        let found = dialogs.first {
            $0.parties.callID == request.headers.callID && $0.parties.localTag == toTag
                && $0.parties.remoteTag == request.headers.fromTag && $0.ending == nil
        }
        guard let dialog = found else {
            return SIPResponse(to: request, status: .callOrTransactionDoesNotExist, toTag: token())
        }
        guard dialog.isNewer(request) else { return SIPResponse(to: request, status: .serverInternalError, toTag: dialog.parties.localTag) }
        let asked = request.headers.expires ?? 3600
        if let response = tooBrief(request, asked) { return response }
        if asked > 0, let status = change(dialog, by: request) {
            return SIPResponse(to: request, status: status, toTag: dialog.parties.localTag)
        }
        let granted = min(asked, manners.longestExpiry)
        dialog.refresh(by: request, over: source.connection, expiresAt: now + .seconds(Int(granted)))
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
        cancel(dialog.expiry.alarm)
        if granted == 0 {
            dialog.ending = .terminated(.timeout)
        } else {
            dialog.expiry.alarm = schedule(at: dialog.expiry.time) { [unowned self] now in expire(dialog, at: now) }
        }
        accepted(dialog)
        var response = SIPResponse(to: request, status: .ok, toTag: dialog.parties.localTag)
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
        let left = UInt32(max(0, (dialog.expiry.time - now).seconds))
        return manners.isPending ? .pending(expires: left) : .active(expires: left)
    }

    private func flawed(_ body: [UInt8], _ contentType: String) -> [UInt8] {
        if manners.unreadableDocuments > 0 {
            manners.unreadableDocuments -= 1
            return NotifiedFlaw.unreadable.applied(to: body, contentType)
        }
        return manners.writesOddPieces ? NotifiedFlaw.oddPieces.applied(to: body, contentType) : body
    }

    final func notify(_ dialog: Dialog, at now: Instant) {
        guard dialogs.contains(where: { $0 === dialog }) else { return }
        if dialog.delivery.isInFlight && manners.waitsForAnswers {
            dialog.delivery.isDirty = true
            return
        }
        dialog.delivery.isDirty = false
        dialog.delivery.isInFlight = true
        dialog.advanceCSeq()
        let state = state(of: dialog, at: now)
        var request = SIPRequest(.notify, requestURI: dialog.path.remoteTarget)
        request.headers.append(.from, "<\(dialog.parties.localURI)>;tag=\(dialog.parties.localTag)")
        request.headers.append(.to, "<\(dialog.parties.watcher)>;tag=\(dialog.parties.remoteTag)")
        request.headers.append(.callID, dialog.parties.callID)
        for route in dialog.path.routeSet { request.headers.append(.route, route) }
        request.headers.append(.contact, contact(user: "server"))
        request.headers.append(.event, dialog.parties.event)
        request.headers.append(.subscriptionState, state.description)
        if !manners.isPending || state.state == .terminated, let body = body(for: dialog) {
            request.headers.append(.contentType, body.contentType)
            request.body = flawed(body.bytes, body.contentType)
        }
        dress(&request, for: dialog)
        notifications[request.method, default: 0] += 1
        request.headers.append(.cSeq, "\(dialog.localCSeq) \(request.method)")
        let isLast = state.state == .terminated
        if isLast {
            cancel(dialog.expiry.alarm)
            dialogs.removeAll { $0 === dialog }
        }
        guard let goal = destination(route: dialog.path.routeSet, target: dialog.path.remoteTarget, connection: dialog.path.connection)
        else {
            return fault("a Contact that leads nowhere: \(dialog.path.remoteTarget)")
        }
        // Pending watchers receive no further notification.
        if !isLast, !manners.isPending, hasMore(dialog) { dialog.delivery.isDirty = true }
        if request.method == .benotify {
            dialog.delivery.isInFlight = false
            sendUnanswered(request, to: goal) { dialog.forgetSaid() }
            if dialog.delivery.isDirty { notify(dialog, at: now) }
            return
        }
        send(request, to: goal, at: now) { [unowned self] answer, now in
            dialog.delivery.isInFlight = false
            if let status = answer.status, status.isSuccess {
                if dialog.delivery.isDirty { notify(dialog, at: now) }
            } else {
                failedNotifications += 1
                dialog.forgetSaid()
                if answer.status == nil { loseUnheard(dialog) }
                if answer.status.map({ $0 != .serverInternalError && $0 != .serviceUnavailable }) ?? true {
                    cancel(dialog.expiry.alarm)
                    dialogs.removeAll { $0 === dialog }
                } else if dialog.delivery.isDirty {
                    notify(dialog, at: now)
                }
            }
        }
    }

    override final func lost(_ connection: ConnectionID, at now: Instant) {
        for dialog in dialogs where dialog.path.connection == connection { dialog.lostConnection() }
        failTransactions(over: connection, at: now)
    }
}
