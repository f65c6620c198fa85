import SIPCore
import SIPEvents

/// One notification as `watch` prints it.
struct WatchNotification: Sendable {
    /// Value of Subscription-State; `active` when it was missing.
    var state: String
    /// Documents of the body with their types, in order; the parts of a multipart body are listed separately.
    var documents: [(type: String, body: [UInt8])]
}

/// Event reported by `watch`.
enum WatchEvent: Sendable {
    case notification(WatchNotification)
    /// The subscription was lost and will be retried.
    case lost(String, retrySeconds: Int)
    /// The subscription ended; the failure is nil when it was ended here.
    case ended(Subscriber.Failure?, reason: String)
}

/// Watcher of one presentity, over successive dialogs (RFC 6665 4.1), in any dialect of `WatchFormat`.
final class WatchEndpoint: ClientEndpoint {
    private let presentity: String
    private let watcher: String
    private let format: WatchFormat
    private let onEvent: (WatchEvent) -> Void

    private var subscriber: Subscriber
    private var pending: ClientTransactionID?
    /// First SUBSCRIBE of the current attempt; the dialog is created from it.
    private var initial: SIPRequest?
    private var dialog: Dialog?
    private var lastFailure = ""
    /// Whether anything was received from the other side. Before that, silence means a wrong address, and a retry does not help.
    private var wasHeard = false

    init(
        presentity: String, watcher: String, format: WatchFormat, expires: Int, via: TransportAddress, listeners: [TransportAddress],
        key: TokenKey, onEvent: @escaping (WatchEvent) -> Void
    ) {
        self.presentity = presentity
        self.watcher = watcher
        self.format = format
        self.onEvent = onEvent
        subscriber = Subscriber(.init(expires: expires))
        super.init(via: via, listeners: listeners, key: key)
    }

    func start(at now: Instant) { perform(subscriber.start(at: now), at: now) }
    func stop(at now: Instant) { perform(subscriber.unsubscribe(hasDialog: dialog != nil, at: now), at: now) }
    var isOver: Bool { subscriber.isOver }

    override var ownDeadline: Instant? { subscriber.nextDeadline }
    override func fire(at now: Instant) { perform(subscriber.advance(to: now), at: now) }

    // MARK: Sending

    private func perform(_ actions: [Subscriber.Action], at now: Instant) {
        for action in actions {
            switch action {
            case .subscribe(let kind, let expires): subscribe(kind, expires: expires, at: now)
            case .status: break
            case .lost(.silent, _) where !wasHeard:
                // The subscriber has no dialog, so this ends it without another request.
                _ = subscriber.unsubscribe(hasDialog: false, at: now)
                onEvent(.ended(.silent, reason: describe(.silent)))
            case .lost(let failure, let pause):
                dialog = nil
                onEvent(.lost(describe(failure), retrySeconds: pause.seconds))
            case .end(let failure): onEvent(.ended(failure, reason: failure.map(describe) ?? ""))
            }
        }
    }

    private func subscribe(_ kind: Subscriber.Request, expires: Int, at now: Instant) {
        var request: SIPRequest
        switch kind {
        case .initial:
            dialog = nil
            request = makeRequest(.subscribe, to: presentity, from: watcher, fromTag: newTag(), callID: newCallID(), number: 1)
        case .refresh, .unsubscribe:
            guard var known = dialog else { return perform(subscriber.subscribeFailed(at: now), at: now) }
            request = known.makeRequest(.subscribe, contact: contact)
            dialog = known
        }
        request.headers.event = Event("presence")
        request.headers.expires = UInt32(expires)
        format.complete(&request, presentity: presentity)
        if case .initial = kind { initial = request }
        pending = send(request, at: now)
    }

    override func willRepeat(_ request: SIPRequest) {
        if request.headers.toTag == nil {
            initial = request
        } else {
            // Advance the dialog's CSeq with the repetition.
            _ = dialog?.makeRequest(.subscribe, contact: contact)
        }
    }

    // MARK: Receiving

    override func answered(_ id: ClientTransactionID, _ answer: ClientAnswer, at now: Instant) {
        guard id == pending else { return }
        pending = nil
        guard case .response(let response) = answer else {
            if case .none(let reason) = answer { lastFailure = reason }
            return perform(subscriber.subscribeFailed(at: now), at: now)
        }
        wasHeard = true
        var piggybacked: SubscriptionStatus?
        if response.status.isSuccess {
            if dialog == nil, let initial { dialog = Dialog(request: initial, response: response) } else { dialog?.receive(response) }
            // The 200 contains the first state (MS-SIP 3.4.5.1).
            if response.headers.msPiggybackCSeq != nil || !response.body.isEmpty {
                piggybacked = SubscriptionStatus(header: response.headers.subscriptionState)
                report(response.headers, response.body)
            }
        } else {
            lastFailure = response.refusalText
        }
        perform(
            subscriber.receiveAnswer(
                status: response.status.rawValue, expires: response.headers.expires.map(Int.init),
                minimumExpires: response.headers.minExpires.map(Int.init),
                retryAfter: response.headers.retryAfter.map { Int($0.seconds) }, piggybacked: piggybacked, at: now),
            at: now)
    }

    override func received(_ request: SIPRequest, _ id: ServerTransactionID?, at now: Instant) {
        guard request.method == .notify || request.method == .benotify else { return super.received(request, id, at: now) }
        let status = take(request)
        if let id { respond(id, SIPResponse(to: request, status: status, toTag: newTag()), at: now) }
        guard status == .ok else { return }
        wasHeard = true
        report(request.headers, request.body)
        perform(subscriber.receiveNotify(SubscriptionStatus(header: request.headers.subscriptionState), at: now), at: now)
    }

    /// Assigns a notification to the current dialog (RFC 6665 4.1.3), or creates the dialog from it; returns the response status.
    private func take(_ request: SIPRequest) -> SIPStatus {
        if dialog == nil, let initial { dialog = Dialog(subscribe: initial, notify: request) }
        guard let known = dialog, DialogID(incoming: request) == known.id else { return .callOrTransactionDoesNotExist }
        guard request.headers.event?.package == "presence" else { return .badEvent }
        // The notification that created the dialog has set its CSeq number.
        guard known.remoteCSeq != request.headers.cSeq?.number || known.localCSeq > 1 else { return .ok }
        if case .reject(let status) = dialog?.receive(request) { return status }
        return .ok
    }

    private func report(_ headers: SIPHeaders, _ body: [UInt8]) {
        var documents: [(type: String, body: [UInt8])] = []
        if !body.isEmpty, let type = headers.contentType {
            if type.essence.hasPrefix("multipart/"), let multipart = try? MIMEMultipart(body, contentType: type),
                let leaves = try? multipart.leaves()
            {
                documents = leaves.map { ($0.contentType?.essence ?? "application/octet-stream", $0.body) }
            } else {
                documents = [(type.essence, body)]
            }
        }
        onEvent(.notification(WatchNotification(state: headers.first(.subscriptionState) ?? "active", documents: documents)))
    }

    private func describe(_ failure: Subscriber.Failure) -> String {
        switch failure {
        case .refused(let status): lastFailure.isEmpty ? "refused with \(status)" : "refused: \(lastFailure)"
        case .terminated(let reason): "terminated by the other side" + (reason.map { ": \($0)" } ?? "")
        case .silent: lastFailure.isEmpty ? "no answer" : lastFailure
        case .lapsed: "not refreshed in time"
        }
    }
}
