import SIPCore

/// Notifier side of one subscription dialog (RFC 6665 4.2): decides when to notify and when the dialog is over, not the content.
///
///     init --SUBSCRIBE--> held --state known or grace over--> live --refresh--> live
///       |                   |                                  |
///       | Expires 0         | Expires 0, expiry, policy        | Expires 0, expiry, policy, NOTIFY refused
///       v                   v                                  v
///     fetch -------------> ending --answer to the last NOTIFY--> over
///
/// At most one NOTIFY is outstanding; changes meanwhile collapse into one NOTIFY with the newest state. With BENOTIFY (MS-SIP 3.5)
/// no response is awaited; with ms-piggyback-first-notify (MS-SIP 3.4.5.1) the 200 carries the state in place of the first NOTIFY.
public struct Notifier: Hashable, Sendable {
    /// Settings that do not change during the dialog.
    public struct Configuration: Hashable, Sendable {
        /// Policy for the lifetimes that SUBSCRIBE requests ask for.
        public var expiry: ExpiryPolicy
        /// Whether notifications are BENOTIFY, which gets no response (MS-SIP 3.5).
        public var bestEffort: Bool
        /// Longest wait of the first NOTIFY for state; after it the NOTIFY is sent as `pending`.
        public var grace: TimeSpan
        /// Longest wait of a fetch for state.
        public var fetchWait: TimeSpan
        /// Pause after a NOTIFY that was refused temporarily without Retry-After.
        public var retryPause: TimeSpan
        /// Longest series of NOTIFYs that are unanswered (Timer F), or challenged without credentials for it, before the subscription
        /// ends; zero: the first one ends it.
        public var patience: TimeSpan

        /// Creates settings; by default state is not waited for, the retry pause is 30 s and the patience 600 s.
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

    /// Content of a notification.
    public enum Content: Hashable, Sendable {
        /// Whole state, as after a SUBSCRIBE.
        case full
        /// Changes since the last notification; for full-state formats the same as `full`.
        case changes
        /// No body.
        case none
    }

    /// Notifications that a refresh does not cause (RFC 5839 6.4).
    public enum Skipping: Hashable, Sendable {
        /// The refresh causes one.
        case nothing
        /// None for this refresh; changes that are due stay so.
        case thisOne
        /// None, and the watcher has what was due.
        case allDue
    }

    /// Reason why the dialog ended.
    public enum EndReason: Hashable, Sendable {
        case unsubscribed
        /// A subscription that began with Expires 0 was served.
        case fetched
        case expired
        /// Ended by the notifier, with this reason in the last NOTIFY.
        case terminated(TerminationReason)
        /// The watcher refused a NOTIFY with this status, which ends the subscription (RFC 6665 4.2.2).
        case refused(status: Int)
        /// A series of NOTIFYs was not answered (RFC 6665 4.2.2), or the watcher's endpoint is gone.
        case unreachable
    }

    /// Action that the owner of the dialog takes, in the order returned.
    public enum Action: Hashable, Sendable {
        /// Answer 200 with this Expires; `content` other than `none` goes into the 200.
        case accept(expires: Int, status: SubscriptionStatus, content: Content)
        /// Answer 204 with this Expires: no notification follows (RFC 5839 6.4).
        case acceptQuietly(expires: Int)
        /// Answer 423 with this Min-Expires.
        case refuse(minimumExpires: Int)
        /// Send NOTIFY, or BENOTIFY with ``Configuration/bestEffort``.
        case notify(SubscriptionStatus, Content)
        /// Remove the dialog.
        case end(EndReason)
    }

    enum Phase: Hashable, Sendable {
        case initial, held, fetching, live, ending(EndReason), over
    }

    enum Due: Hashable, Sendable {
        case nothing, changes, full
        case final(SubscriptionStatus, Content)
    }

    /// Settings given at creation.
    public let configuration: Configuration
    var phase = Phase.initial
    private var isAuthorized: Bool
    private var isReady: Bool
    var isOutstanding = false
    /// Whether the watcher has received the whole state.
    private var hasNotified = false
    var due = Due.nothing
    private var expiresAt = Instant(nanosecondsSince1970: 0)
    private var heldUntil = Instant(nanosecondsSince1970: 0)
    var notBefore = Instant(nanosecondsSince1970: 0)
    var lastNotify = LastNotify()
    /// NOTIFYs that failed since the last one that arrived.
    var losses = LostNotifications()

    /// The last NOTIFY of an ending dialog.
    struct LastNotify: Hashable, Sendable {
        /// Deadline of the dialog, in case the outcome of the NOTIFY is not reported.
        private(set) var endsBy = Instant(nanosecondsSince1970: 0)
        private(set) var isSent = false

        /// Begins the end of the dialog.
        mutating func begin(until moment: Instant) { endsBy = moment }

        /// Notes that the NOTIFY is sent.
        mutating func sent() { isSent = true }

        /// Notes that the NOTIFY is to be sent, again or for the first time.
        mutating func repeats() { isSent = false }
    }

    /// Timer F of the outstanding NOTIFY and of the last one (RFC 3261 17.1.2.2), plus 8 s.
    private static let longestEnding = TimeSpan.seconds(2 * 32 + 8)

    /// Creates the notifier of a new dialog.
    /// - Parameters:
    ///   - isAuthorized: If false, the subscription is pending until ``authorize(_:at:)`` grants it.
    ///   - isReady: If false, no state exists yet; ``stateChanged(at:)`` reports the first.
    public init(_ configuration: Configuration, isAuthorized: Bool = true, isReady: Bool) {
        self.configuration = configuration
        self.isAuthorized = isAuthorized
        self.isReady = isReady
    }

    /// Restores a subscription that was live before a restart.
    /// - Parameter wasNotified: Whether the watcher has the whole state, so that only changes are sent.
    public init(restoring configuration: Configuration, expiry: Instant, wasNotified: Bool) {
        self.init(configuration, isReady: false)
        phase = .live
        expiresAt = expiry
        hasNotified = wasNotified
    }

    /// Whether the dialog is over.
    public var isOver: Bool { phase == .over }

    /// Whether the dialog is over or awaits only the response to its last NOTIFY.
    public var isEnding: Bool {
        if case .ending = phase { true } else { phase == .over }
    }

    /// Whether a SUBSCRIBE within the dialog is accepted: not during a fetch, which ends with its NOTIFY, and not while ending.
    public var isRefreshable: Bool { !isEnding && phase != .fetching }

    /// Whether a NOTIFY awaits its response.
    public var isAwaitingAnswer: Bool { isOutstanding }

    /// Whether the live dialog has state to send after the outstanding response or a pause.
    public var isNotifying: Bool { phase == .live && due != .nothing }

    /// Whether the first NOTIFY waits for state.
    public var isHeld: Bool { phase == .held }

    /// Whether the dialog is live and authorized, and no state is due.
    public var isIdle: Bool { phase == .live && due == .nothing && isAuthorized }

    /// Whether a fetch waits for state.
    public var isFetching: Bool { phase == .fetching }

    /// Number of NOTIFYs in a row that were not delivered, at most 64; a response or SUBSCRIBE resets it.
    public var undelivered: Int { losses.undelivered }

    /// Time at which the subscription expires without a refresh.
    public var expiry: Instant { expiresAt }

    /// Subscription-State of a dialog that is not ending, with the seconds left at `now`.
    public func status(at now: Instant) -> SubscriptionStatus {
        let left = secondsLeft(at: now)
        return isAuthorized && isReady ? .active(expires: left) : .pending(expires: left)
    }

    // MARK: SUBSCRIBE

    /// Handles the initial SUBSCRIBE, a refresh or an unsubscribe; `requestedExpires` is the Expires value in seconds, nil without one.
    /// Returns no action when the request is too late (see ``isRefreshable``): the owner answers 481.
    /// - Parameter skipping: whether a refresh or unsubscribe is answered without a notification.
    public mutating func receiveSubscribe(
        expires requestedExpires: Int?, piggyback: Bool = false, skipping: Skipping = .nothing, at now: Instant
    ) -> [Action] {
        guard isRefreshable else { return [] }
        guard case .grant(let granted) = configuration.expiry.decide(requestedExpires) else {
            if phase == .initial { phase = .over }
            return [.refuse(minimumExpires: configuration.expiry.minimum)]
        }
        let isFirst = phase == .initial
        losses.reached()
        expiresAt = now + .seconds(granted)
        if skipping != .nothing, phase == .live, isAuthorized, isReady { return skip(skipping, granted) }
        if granted == 0 { return end(asFetch: isFirst, piggyback: piggyback, at: now) }
        if piggyback && !isAuthorized {
            // State is not authorized; a NOTIFY follows once it is.
            phase = .live
            hasNotified = false
            due = .nothing
            return [.accept(expires: granted, status: .pending(expires: granted), content: .none)]
        }
        if isFirst && piggyback {
            // The 200 is the first notification, whatever state is known.
            phase = .live
            hasNotified = true
            return [.accept(expires: granted, status: .active(expires: granted), content: .full)]
        }
        if piggyback && !isOutstanding {
            phase = .live
            hasNotified = true
            due = .nothing
            // The 200 brings the state that unanswered NOTIFYs did not.
            losses.arrived()
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

    private mutating func skip(_ skipping: Skipping, _ granted: Int) -> [Action] {
        if granted == 0 { return [.acceptQuietly(expires: 0)] + close(.unsubscribed) }
        if skipping == .allDue { due = .nothing }
        return [.acceptQuietly(expires: granted)]
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

    /// Handles new state: sends a notification or schedules it.
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
            // No state is sent while pending; a grant sends all of it.
            guard isAuthorized else { return flush(at: now) }
            if case .nothing = due { due = hasNotified ? .changes : .full }
            return flush(at: now)
        case .initial, .ending, .over:
            return []
        }
    }

    /// Takes over the stored state; the watcher gets the whole state next.
    mutating func takeStored(_ expiry: Instant, _ phase: Phase) {
        self.phase = phase
        expiresAt = expiry
        hasNotified = false
        lastNotify.repeats()
    }

    /// Marks the state as known and equal to the state that the watcher has; sends nothing.
    public mutating func becameReady() {
        isReady = true
    }

    /// Restores a subscription with an authorization that was pending before a restart, or is pending since.
    /// - Parameter isNotified: Whether the watcher knows that it is pending; otherwise a NOTIFY is due.
    public mutating func restorePending(isNotified: Bool) {
        isAuthorized = false
        hasNotified = false
        if !isNotified, phase == .live { due = .full }
    }

    /// Applies a grant or a withdrawal of authorization, by policy or by the remote domain (RFC 3857 4.7); a live dialog gets a
    /// NOTIFY.
    public mutating func authorize(_ isGranted: Bool, at now: Instant) -> [Action] {
        guard isAuthorized != isGranted else { return [] }
        isAuthorized = isGranted
        guard phase == .live else { return [] }
        due = .full
        notBefore = now
        return flush(at: now)
    }

    /// Extends the lifetime to `moment`, without a refresh (com.microsoft.autoextend); never shortens it.
    public mutating func prolong(until moment: Instant) {
        guard !isEnding, phase != .initial, phase != .fetching else { return }
        expiresAt = max(expiresAt, moment)
    }

    /// Ends the subscription with a last NOTIFY.
    /// - Parameter content: Content of the last NOTIFY.
    public mutating func terminate(
        _ reason: TerminationReason, retryAfter: Int? = nil, content: Content = .none, at now: Instant
    ) -> [Action] {
        guard phase != .initial, !isEnding else { return [] }
        return finish(.terminated(reason: reason, retryAfter: retryAfter), content, .terminated(reason), at: now)
    }

    /// Reports that the NOTIFY was not sent, because the state equals the state that the watcher has.
    public mutating func notificationSkipped() {
        isOutstanding = false
    }

    /// Sends the whole state although it did not change (RFC 6446 6); nothing while a notification is due or awaits its response.
    public mutating func repeatState(at now: Instant) -> [Action] {
        guard isIdle, !isOutstanding else { return [] }
        due = .full
        notBefore = now
        return flush(at: now)
    }

    // MARK: time

    /// Time at which ``advance(to:)`` must be called; nil when no timer runs.
    public var nextDeadline: Instant? {
        switch phase {
        case .initial, .over: return nil
        case .ending:
            return isOutstanding ? lastNotify.endsBy : min(notBefore, lastNotify.endsBy)
        case .held: return min(heldUntil, expiresAt)
        case .fetching: return heldUntil
        case .live:
            if due != .nothing && !isOutstanding { return min(notBefore, expiresAt) }
            return expiresAt
        }
    }

    /// Handles expiry, the end of waits and due notifications at `now`.
    public mutating func advance(to now: Instant) -> [Action] {
        switch phase {
        case .initial, .over:
            return []
        case .ending(let reason):
            return now >= lastNotify.endsBy ? close(reason) : flush(at: now)
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
            hasNotified = true
        } else {
            content = .none
            hasNotified = false
        }
        due = .nothing
        isOutstanding = !configuration.bestEffort
        return [.notify(status, content)]
    }

    private mutating func finish(_ status: SubscriptionStatus, _ content: Content, _ reason: EndReason, at now: Instant) -> [Action] {
        phase = .ending(reason)
        lastNotify.begin(until: now + Self.longestEnding)
        due = .final(status, content)
        notBefore = min(notBefore, now)
        if isOutstanding { return [] }
        return send(status, content, ending: reason)
    }

    private mutating func send(_ status: SubscriptionStatus, _ content: Content, ending reason: EndReason) -> [Action] {
        lastNotify.sent()
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
