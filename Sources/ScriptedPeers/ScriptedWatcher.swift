import SIPCore

/// Watcher of one presentity in one subscription dialog (RFC 6665 4.1); subclasses write its dialect.
///
///     idle -subscribe-> asked -2xx or NOTIFY-> live -NOTIFY terminated, expiry, 481-> ended
///                         \-300...699-> refused    \-no answer-> unanswered
package class ScriptedWatcher: SIPPeer {
    /// State of the subscription.
    package enum Phase: Equatable, Sendable {
        case idle, asked, live, unanswered
        case refused(Int)
        /// With the reason of the final NOTIFY (empty without one), `expired`, `unanswered`, or the status that ended the dialog.
        case ended(String)
    }

    /// Message that carried a notification.
    package enum NotificationKind: Sendable { case notify, benotify, piggyback }

    /// One received notification.
    package struct Notification: Sendable {
        /// Time of arrival.
        package var time: Instant
        /// Message that carried it.
        package var kind: NotificationKind
        /// CSeq number of the NOTIFY or BENOTIFY, or of the one that a 200 replaces.
        package var cSeq: UInt32
        /// Subscription-State; nil when it was missing.
        package var state: SubscriptionState?
        /// Content type without parameters; nil without a body.
        package var contentType: String?
        /// Body as received.
        package var body: [UInt8]
        /// Presence in the body; nil when it holds no document.
        package var presence: ObservedPresence?
    }

    /// URI of the watcher.
    package let watcher: String
    /// Request-URI of the first SUBSCRIBE: the presentity, or a server.
    package let presentity: String
    /// Current state of the subscription.
    package private(set) var phase = Phase.idle
    /// Accepted notifications, oldest first: all up to 2,000, then at least the latest 1,000.
    package private(set) var notifications: [Notification] = []
    /// Presence merged over all notifications of the subscription; nil before the first document.
    package private(set) var presence: ObservedPresence?
    /// State in the last notification: active, pending or terminated.
    package private(set) var subscriptionState: SubscriptionState?
    /// Seconds granted by the last 2xx; nil before the first.
    package private(set) var granted: UInt32?
    /// Last final response to a SUBSCRIBE.
    package private(set) var lastResponse: SIPResponse?
    /// Number of notifications refused because their CSeq was not higher than an earlier one; BENOTIFYs count only on the same connection.
    package private(set) var staleNotifications = 0
    /// Whether the watcher refreshes at half the granted time.
    package var refreshesItself = false
    /// Called after each notification has been recorded.
    package var whenNotified: (() -> Void)?
    /// Response to every NOTIFY; nil sends none.
    package var notifyAnswer: SIPStatus? = .ok

    private var dialog = DialogState()
    private var lifetime = Lifetime()

    /// The subscription dialog.
    private struct DialogState {
        var callID = ""
        var localTag = ""
        var remoteTag: String?
        var remoteTarget: String?
        var routeSet: [String] = []
        var localCSeq: UInt32 = 0
        var remoteCSeq: UInt32?
        var connection: ConnectionID?
    }

    /// Expiry and refresh of the subscription.
    private struct Lifetime {
        /// Expires of the last SUBSCRIBE, in seconds.
        var wanted: UInt32 = 0
        var isPoll = false
        var expiryAlarm: UInt64?
        var refreshAlarm: UInt64?
    }

    /// Creates an idle watcher; `watcher` and `presentity` are SIP URIs.
    package init(
        name: String, watcher: String, presentity: String, address: TransportAddress, nextHop: TransportAddress, seed: UInt64
    ) {
        self.watcher = watcher
        self.presentity = presentity
        super.init(name: name, address: address, nextHop: nextHop, seed: seed)
    }

    // MARK: Dialect

    /// Whether one subscription covers several presentities.
    package var namesSeveral: Bool { false }

    /// Current presence of a watched presentity; nil when unknown.
    package func presence(of presentity: String) -> ObservedPresence? { presence }

    /// Adds Accept and other headers of the dialect to a SUBSCRIBE.
    func dress(_ request: inout SIPRequest) {}

    /// Reads the documents in a notification's body; nil when it holds none.
    func read(_ body: [UInt8], _ contentType: MediaType?) -> ObservedPresence? {
        do {
            return try ObservedPresence(body)
        } catch {
            fault("a notification's body is not well-formed: \(error)")
            return nil
        }
    }

    // MARK: Script actions

    /// Subscribes in a new dialog.
    package final func subscribe(expires: UInt32 = 600, at now: Instant) {
        cancel(lifetime.expiryAlarm)
        cancel(lifetime.refreshAlarm)
        dialog = DialogState(callID: token(), localTag: token())
        lifetime.isPoll = expires == 0
        phase = .asked
        (subscriptionState, presence) = (nil, nil)
        sendSubscribe(expires: expires, at: now)
    }

    /// Fetches the presence once, without a subscription (RFC 6665 4.4.3).
    package final func poll(at now: Instant) { subscribe(expires: 0, at: now) }

    /// Refreshes the subscription; does nothing unless it is live.
    package final func refresh(expires: UInt32 = 600, at now: Instant) {
        if phase == .live { sendSubscribe(expires: expires, at: now) }
    }

    /// Ends a live subscription; the final NOTIFY ends the dialog.
    package final func unsubscribe(at now: Instant) {
        guard phase == .live else { return }
        cancel(lifetime.refreshAlarm)
        refreshesItself = false
        sendSubscribe(expires: 0, at: now)
    }

    /// Whether the subscription has ended, by a final notification, a refusal of a refresh or expiry.
    package final var isOver: Bool {
        if case .ended = phase { return true }
        return false
    }

    /// Forgets the dialog without ending it, as after a power failure.
    package final func forget() {
        cancel(lifetime.expiryAlarm)
        cancel(lifetime.refreshAlarm)
        phase = .idle
        (dialog.remoteTag, dialog.callID) = (nil, "")
    }

    private func sendSubscribe(expires: UInt32, at now: Instant) {
        dialog.localCSeq += 1
        lifetime.wanted = expires
        var request = SIPRequest(.subscribe, requestURI: dialog.remoteTarget ?? presentity)
        request.headers.append(.from, "<\(watcher)>;tag=\(dialog.localTag)")
        request.headers.append(.to, "<\(presentity)>" + (dialog.remoteTag.map { ";tag=\($0)" } ?? ""))
        request.headers.append(.callID, dialog.callID)
        request.headers.append(.cSeq, "\(dialog.localCSeq) SUBSCRIBE")
        request.headers.append(.contact, contact(user: "watcher"))
        request.headers.append(.event, "presence")
        request.headers.append(.expires, "\(expires)")
        for route in dialog.routeSet { request.headers.append(.route, route) }
        dress(&request)
        let number = dialog.localCSeq
        let call = dialog.callID
        var goal: Destination?
        if let target = dialog.remoteTarget {
            goal = destination(route: dialog.routeSet, target: target, connection: dialog.connection)
        }
        send(request, to: goal, at: now) { [unowned self] answer, now in
            if call == dialog.callID { receive(answer, toSubscribe: number, expires: expires, at: now) }
        }
    }

    private func receive(_ answer: PeerAnswer, toSubscribe number: UInt32, expires: UInt32, at now: Instant) {
        guard case .response(let response) = answer else {
            if phase == .asked { phase = .unanswered } else if phase == .live { end("unanswered") }
            return
        }
        lastResponse = response
        guard response.status.isSuccess else {
            if phase == .asked {
                phase = .refused(Int(response.status.rawValue))
            } else if phase == .live, [404, 405, 410, 416, 480, 481, 482, 483, 484, 485, 489, 501, 604].contains(response.status.rawValue) {
                end("\(response.status.rawValue)")
            }
            return
        }
        judge(response, expires: expires)
        granted = response.headers.expires
        if phase == .asked || phase == .live {
            if dialog.remoteTag == nil { dialog.remoteTag = response.headers.toTag }
            if dialog.remoteTag != response.headers.toTag { fault("the 2xx and the NOTIFY have different tags") }
            if dialog.remoteTarget == nil { dialog.routeSet = response.headers.values(.recordRoute).reversed() }
            dialog.remoteTarget = response.headers.contact?.uri.description ?? dialog.remoteTarget
            if phase == .asked && !lifetime.isPoll { phase = .live }
            arm(expires: granted ?? expires, at: now)
        }
        if let sequence = response.headers.msPiggybackCSeq {
            // CSeq of the notifier (MS-SIP 3.4.5.1); a NOTIFY that overtook the 200 has a higher one and newer state.
            let isOvertaken = sequence <= dialog.remoteCSeq ?? 0
            if !isOvertaken { dialog.remoteCSeq = sequence }
            if !isOvertaken || response.headers.subscriptionState?.state == .terminated {
                take(.piggyback, sequence, response.headers, response.body, at: now)
            }
        }
    }

    private func judge(_ response: SIPResponse, expires: UInt32) {
        if response.headers.contact == nil { fault("2xx to SUBSCRIBE without Contact (RFC 6665 4.2.1.1)") }
        guard let granted = response.headers.expires else { return fault("2xx to SUBSCRIBE without Expires (RFC 6665 4.2.1.1)") }
        if granted > expires { fault("asked for \(expires) s, granted \(granted) s (RFC 6665 4.2.1.1)") }
        if response.headers.event != nil && response.headers.msPiggybackCSeq == nil { fault("Event in a response (RFC 6665 8.2.1)") }
    }

    private func arm(expires: UInt32, at now: Instant) {
        cancel(lifetime.expiryAlarm)
        cancel(lifetime.refreshAlarm)
        guard expires > 0, phase == .live else { return }
        // The notifier announces the end; after 40 s of silence beyond expiry the subscription counts as expired.
        lifetime.expiryAlarm = schedule(at: now + .seconds(Int(expires) + 40)) { [unowned self] _ in
            if phase == .live { end("expired") }
        }
        if refreshesItself {
            let requestedExpires = max(lifetime.wanted, 60)
            lifetime.refreshAlarm = schedule(at: now + .seconds(max(1, Int(expires) / 2))) { [unowned self] now in
                refresh(expires: requestedExpires, at: now)
            }
        }
    }

    private func end(_ reason: String) {
        cancel(lifetime.expiryAlarm)
        cancel(lifetime.refreshAlarm)
        phase = .ended(reason)
    }

    // MARK: Notifications

    override final func answer(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPResponse? {
        guard request.method == .notify || request.method == .benotify else {
            return SIPResponse(to: request, status: .methodNotAllowed, toTag: token())
        }
        let status = receiveNotify(request, from: source, at: now)
        if request.method == .benotify { return nil }
        guard let given = notifyAnswer else { return nil }
        return SIPResponse(to: request, status: status == .ok ? given : status, toTag: dialog.localTag)
    }

    private func receiveNotify(_ request: SIPRequest, from source: InboundMessage, at now: Instant) -> SIPStatus {
        let headers = request.headers
        let isOpen = phase == .asked || phase == .live
        guard isOpen, headers.callID == dialog.callID, headers.toTag == dialog.localTag, let fromTag = headers.fromTag else {
            return .callOrTransactionDoesNotExist
        }
        if let remoteTag = dialog.remoteTag, remoteTag != fromTag { return .callOrTransactionDoesNotExist }
        guard headers.event?.package == "presence" else {
            fault("\(request.method) with Event \(headers.first(.event) ?? "none")")
            return .badEvent
        }
        let number = headers.cSeq?.number ?? 0
        if let last = dialog.remoteCSeq, number <= last {
            // Two connections have no common order: a BENOTIFY on one may be overtaken by another. Of NOTIFYs only one is on its way.
            let isOvertaken = request.method == .benotify && source.connection != dialog.connection
            if !isOvertaken { staleNotifications += 1 }
            return .serverInternalError
        }
        dialog.remoteCSeq = number
        dialog.connection = source.connection ?? dialog.connection
        if dialog.remoteTag == nil {
            dialog.remoteTag = fromTag
            dialog.routeSet = headers.values(.recordRoute)
        }
        dialog.remoteTarget = headers.contact?.uri.description ?? dialog.remoteTarget
        if phase == .asked && !lifetime.isPoll {
            phase = .live
            arm(expires: headers.subscriptionState?.expires ?? lifetime.wanted, at: now)
        }
        take(request.method == .benotify ? .benotify : .notify, number, headers, request.body, at: now)
        return .ok
    }

    private func take(_ kind: NotificationKind, _ number: UInt32, _ headers: SIPHeaders, _ body: [UInt8], at now: Instant) {
        let state = headers.subscriptionState
        if state == nil { fault("a notification without Subscription-State") }
        if let state, state.state != .terminated, state.expires == nil {
            fault("Subscription-State \(state.state.rawValue) without expires (RFC 6665 4.2.2)")
        }
        let document = body.isEmpty ? nil : read(body, headers.contentType)
        notifications.append(
            Notification(
                time: now, kind: kind, cSeq: number, state: state, contentType: headers.contentType?.essence, body: body,
                presence: document))
        if notifications.count > 2000 { notifications.removeFirst(1000) }
        subscriptionState = state ?? subscriptionState
        if let document {
            var known = presence ?? ObservedPresence()
            known.merge(document)
            presence = known
        }
        whenNotified?()
        if state?.state == .terminated {
            end(state?.reason?.rawValue ?? "")
        } else if let expires = state?.expires, phase == .live {
            arm(expires: expires, at: now)
        }
    }

    override final func lost(_ connection: ConnectionID, at now: Instant) {
        if dialog.connection == connection { dialog.connection = nil }
    }
}
