import SIPCore

/// The notifier's side of one subscription dialog (RFC 6665 section 4.2): when to notify and when it is over, not what.
///
///     init --SUBSCRIBE--> held --state known or grace over--> live --refresh--> live
///       |                   |                                  |
///       | Expires 0         | Expires 0, expiry, policy        | Expires 0, expiry, policy, NOTIFY refused
///       v                   v                                  v
///     fetch -------------> ending --answer to the last NOTIFY--> over
///
/// At most one NOTIFY is outstanding; changes meanwhile collapse into one that carries the newest state. A dialog that
/// negotiated BENOTIFY (MS-SIP 3.5) awaits no answers; one that negotiated ms-piggyback-first-notify (MS-SIP 3.4.5.1) gets the
/// state in the 200 instead of the first NOTIFY.
public struct Notifier: Hashable, Sendable {
    /// What stays the same for the life of the dialog.
    public struct Configuration: Hashable, Sendable {
        public var expiry: ExpiryPolicy
        /// BENOTIFY: notifications are not answered.
        public var bestEffort: Bool
        /// How long the first NOTIFY waits for state before it says pending.
        public var grace: TimeSpan
        /// How long a fetch waits for state.
        public var fetchWait: TimeSpan
        /// Pause after a NOTIFY that failed in passing and named no Retry-After.
        public var retryPause: TimeSpan
        /// How long NOTIFYs in a row may go unanswered (Timer F) before the subscription ends; zero: the first one ends it.
        public var patience: TimeSpan

        public init(
            expiry: ExpiryPolicy, bestEffort: Bool = false, grace: TimeSpan = .zero, fetchWait: TimeSpan = .zero,
            retryPause: TimeSpan = .seconds(30), patience: TimeSpan = .seconds(600)
        ) {
            self.expiry = expiry
            self.bestEffort = bestEffort
            self.grace = grace
            self.fetchWait = fetchWait
            self.retryPause = retryPause
            self.patience = patience
        }
    }

    /// What a notification carries.
    public enum Content: Hashable, Sendable {
        /// Everything, as after a SUBSCRIBE.
        case full
        /// What changed since the last notification; for full-state formats the same as `full`.
        case changes
        /// No body.
        case none
    }

    public enum EndReason: Hashable, Sendable {
        case unsubscribed
        /// A subscription with Expires 0 from the start was served.
        case fetched
        case expired
        /// Ended from this side, with the reason that was notified.
        case terminated(TerminationReason)
        /// The watcher answered a NOTIFY with this status, which ends the subscription (RFC 6665 4.2.2).
        case refused(status: Int)
        /// NOTIFYs in a row were not answered (RFC 6665 4.2.2), or the watcher is known to be gone.
        case unreachable
    }

    public enum Action: Hashable, Sendable {
        /// Answer 200 with this Expires; `content` other than `none` goes into the 200 itself.
        case accept(expires: Int, status: SubscriptionStatus, content: Content)
        /// Answer 423 with this Min-Expires.
        case refuse(minimumExpires: Int)
        /// Send NOTIFY, or BENOTIFY if so configured.
        case notify(SubscriptionStatus, Content)
        /// Forget the dialog.
        case end(EndReason)
    }

    enum Phase: Hashable, Sendable {
        case initial, held, fetching, live, ending(EndReason), over
    }

    enum Due: Hashable, Sendable {
        case nothing, changes, full
        case final(SubscriptionStatus, Content)
    }

    public let configuration: Configuration
    var phase = Phase.initial
    private var isAuthorized: Bool
    private var isReady: Bool
    var isOutstanding = false
    /// The watcher was told the whole state once.
    private var hasTold = false
    var due = Due.nothing
    private var expiresAt = Instant(nanosecondsSince1970: 0)
    private var heldUntil = Instant(nanosecondsSince1970: 0)
    var notBefore = Instant(nanosecondsSince1970: 0)
    /// When an ending dialog is forgotten, should nobody ever say what became of its last NOTIFY.
    var endsBy = Instant(nanosecondsSince1970: 0)
    /// NOTIFYs in a row that were not delivered, and when the last of them failed.
    public internal(set) var undelivered = 0
    var undeliveredAt = Instant(nanosecondsSince1970: 0)
    /// When Timer F fired for the first of several unanswered NOTIFYs in a row.
    var silentSince: Instant?
    /// The NOTIFYs that failed since the last one that arrived.
    var failures: FailureRun?
    /// The last NOTIFY of an ending dialog was sent.
    var isLastSent = false

    /// Timer F of the outstanding NOTIFY and of the last one (RFC 3261 17.1.2.2), and some slack.
    private static let longestEnding = TimeSpan.seconds(2 * 32 + 8)

    /// - Parameters:
    ///   - isAuthorized: false: the subscription is pending until ``authorize(_:at:)`` grants it.
    ///   - isReady: false: there is nothing to tell yet; ``stateChanged(at:)`` says when there is.
    public init(_ configuration: Configuration, isAuthorized: Bool = true, isReady: Bool) {
        self.configuration = configuration
        self.isAuthorized = isAuthorized
        self.isReady = isReady
    }

    /// A subscription that was live before a restart.
    /// - Parameter wasTold: the watcher was told the whole state, and is not to be told again unless it changes.
    public init(restoring configuration: Configuration, expiry: Instant, wasTold: Bool) {
        self.init(configuration, isReady: false)
        phase = .live
        expiresAt = expiry
        hasTold = wasTold
    }

    /// Whether the dialog is finished.
    public var isOver: Bool { phase == .over }

    /// Whether nothing but the answer to the last NOTIFY is awaited.
    public var isEnding: Bool {
        if case .ending = phase { true } else { phase == .over }
    }

    /// Whether a SUBSCRIBE within the dialog is answered: not in a fetch, whose dialog ends with its NOTIFY, and not at the end.
    public var isRefreshable: Bool { !isEnding && phase != .fetching }

    /// Whether the last NOTIFY has no answer yet.
    public var isAwaitingAnswer: Bool { isOutstanding }

    /// Whether something is still to be told in the live dialog: as soon as the last NOTIFY is answered, or a pause is over.
    public var isTelling: Bool { phase == .live && due != .nothing }

    /// Whether the first NOTIFY waits for state.
    public var isHeld: Bool { phase == .held }

    /// Whether the dialog lives, nothing is in hand, and changes can be told; while it is pending none are.
    public var isIdle: Bool { phase == .live && due == .nothing && isAuthorized }

    /// Whether a fetch waits for state.
    public var isFetching: Bool { phase == .fetching }

    /// When the subscription lapses without a refresh.
    public var expiry: Instant { expiresAt }

    /// The value of Subscription-State that would be sent now.
    public func status(at now: Instant) -> SubscriptionStatus {
        let left = secondsLeft(at: now)
        return isAuthorized && isReady ? .active(expires: left) : .pending(expires: left)
    }

    // MARK: SUBSCRIBE

    /// Takes the initial SUBSCRIBE, a refresh or an unsubscription; `wish` is the Expires value, nil without one. Nothing comes of one
    /// that is too late (see ``isRefreshable``): its owner answers 481.
    public mutating func receiveSubscribe(expires wish: Int?, piggyback: Bool = false, at now: Instant) -> [Action] {
        guard isRefreshable else { return [] }
        guard case .grant(let granted) = configuration.expiry.decide(wish) else {
            if phase == .initial { phase = .over }
            return [.refuse(minimumExpires: configuration.expiry.minimum)]
        }
        let isFirst = phase == .initial
        undelivered = 0
        expiresAt = now + .seconds(granted)
        if granted == 0 { return end(asFetch: isFirst, piggyback: piggyback, at: now) }
        if piggyback && !isAuthorized {
            // Nothing may be shown yet; what may follows in a NOTIFY.
            phase = .live
            hasTold = false
            due = .nothing
            return [.accept(expires: granted, status: .pending(expires: granted), content: .none)]
        }
        if isFirst && piggyback {
            // The 200 is the first notification, whatever is known.
            phase = .live
            hasTold = true
            return [.accept(expires: granted, status: .active(expires: granted), content: .full)]
        }
        if piggyback && !isOutstanding {
            phase = .live
            hasTold = true
            due = .nothing
            // The 200 brings the state that unanswered NOTIFYs did not.
            arrived()
            return [.accept(expires: granted, status: .active(expires: granted), content: .full)]
        }
        var actions: [Action] = [.accept(expires: granted, status: status(at: now), content: .none)]
        if isFirst && !isReady && configuration.grace > .zero {
            phase = .held
            heldUntil = now + configuration.grace
            return actions
        }
        if phase != .held { phase = .live }
        if phase == .live {
            due = .full
            notBefore = now
            actions += flush(at: now)
        }
        return actions
    }

    private mutating func end(asFetch isFetch: Bool, piggyback: Bool, at now: Instant) -> [Action] {
        let gone = SubscriptionStatus.terminated(reason: .timeout, retryAfter: nil)
        let reason = isFetch ? EndReason.fetched : .unsubscribed
        if piggyback {
            phase = .over
            return [.accept(expires: 0, status: gone, content: isFetch ? .full : .none), .end(reason)]
        }
        var actions: [Action] = [.accept(expires: 0, status: gone, content: .none)]
        if isFetch && !isReady && configuration.fetchWait > .zero {
            phase = .fetching
            heldUntil = now + configuration.fetchWait
            return actions
        }
        actions += finish(gone, isFetch ? .full : .none, reason, at: now)
        return actions
    }

    // MARK: state

    /// There is new state to tell.
    public mutating func stateChanged(at now: Instant) -> [Action] {
        isReady = true
        switch phase {
        case .held:
            phase = .live
            due = .full
            notBefore = now
            return flush(at: now)
        case .fetching:
            return finish(.terminated(reason: .timeout, retryAfter: nil), .full, .fetched, at: now)
        case .live:
            // While it is pending there is nothing to tell of; once it is granted everything is told.
            guard isAuthorized else { return flush(at: now) }
            if case .nothing = due { due = hasTold ? .changes : .full }
            return flush(at: now)
        case .initial, .ending, .over:
            return []
        }
    }

    /// The state is known now, and is what the watcher was told already.
    public mutating func becameReady() {
        isReady = true
    }

    /// Policy or the far side says pending again, or grants at last (RFC 3857 4.7).
    public mutating func authorize(_ isGranted: Bool, at now: Instant) -> [Action] {
        guard isAuthorized != isGranted else { return [] }
        isAuthorized = isGranted
        guard phase == .live else { return [] }
        due = .full
        notBefore = now
        return flush(at: now)
    }

    /// The subscription lives at least as long, without a refresh (com.microsoft.autoextend).
    public mutating func prolong(until moment: Instant) {
        guard !isEnding, phase != .initial, phase != .fetching else { return }
        expiresAt = max(expiresAt, moment)
    }

    /// Ends the subscription from this side with a last NOTIFY.
    /// - Parameter content: what the last NOTIFY carries.
    public mutating func terminate(
        _ reason: TerminationReason, retryAfter: Int? = nil, content: Content = .none, at now: Instant
    ) -> [Action] {
        guard phase != .initial, !isEnding else { return [] }
        return finish(.terminated(reason: reason, retryAfter: retryAfter), content, .terminated(reason), at: now)
    }

    /// There was nothing to tell after all: the state is again what the watcher has, and the NOTIFY was not sent.
    public mutating func notificationSkipped() {
        isOutstanding = false
    }

    // MARK: time

    /// When ``advance(to:)`` next has something to do.
    public var nextDeadline: Instant? {
        switch phase {
        case .initial, .over: return nil
        case .ending:
            return isOutstanding ? endsBy : min(notBefore, endsBy)
        case .held: return min(heldUntil, expiresAt)
        case .fetching: return heldUntil
        case .live:
            if due != .nothing && !isOutstanding { return min(notBefore, expiresAt) }
            return expiresAt
        }
    }

    public mutating func advance(to now: Instant) -> [Action] {
        switch phase {
        case .initial, .over:
            return []
        case .ending(let reason):
            return now >= endsBy ? close(reason) : flush(at: now)
        case .fetching:
            guard now >= heldUntil else { return [] }
            return finish(.terminated(reason: .timeout, retryAfter: nil), .full, .fetched, at: now)
        case .held, .live:
            if now >= expiresAt {
                return finish(.terminated(reason: .timeout, retryAfter: nil), .none, .expired, at: now)
            }
            if phase == .held {
                guard now >= heldUntil else { return [] }
                phase = .live
                due = .full
                notBefore = now
            }
            return flush(at: now)
        }
    }

    // MARK: sending

    mutating func flush(at now: Instant) -> [Action] {
        guard !isOutstanding else { return [] }
        if case .final(let status, let content) = due {
            guard case .ending(let reason) = phase, now >= notBefore else { return [] }
            return send(status, content, ending: reason)
        }
        guard phase == .live, due != .nothing, now >= notBefore else { return [] }
        let status = status(at: now)
        let content: Content
        if case .active = status {
            content = due == .full ? .full : .changes
            hasTold = true
        } else {
            content = .none
            hasTold = false
        }
        due = .nothing
        isOutstanding = !configuration.bestEffort
        return [.notify(status, content)]
    }

    private mutating func finish(_ status: SubscriptionStatus, _ content: Content, _ reason: EndReason, at now: Instant) -> [Action] {
        phase = .ending(reason)
        endsBy = now + Self.longestEnding
        due = .final(status, content)
        notBefore = min(notBefore, now)
        if isOutstanding { return [] }
        return send(status, content, ending: reason)
    }

    private mutating func send(_ status: SubscriptionStatus, _ content: Content, ending reason: EndReason) -> [Action] {
        isLastSent = true
        if configuration.bestEffort { return [.notify(status, content)] + close(reason) }
        isOutstanding = true
        return [.notify(status, content)]
    }

    mutating func close(_ reason: EndReason) -> [Action] {
        phase = .over
        isOutstanding = false
        due = .nothing
        return [.end(reason)]
    }

    private func secondsLeft(at now: Instant) -> Int {
        let left = (expiresAt - now).nanoseconds
        return left <= 0 ? 0 : Int((left + 999_999_999) / 1_000_000_000)
    }
}
