import SIPCore

/// Subscriber side of one subscription (RFC 6665 4.1) across its dialogs: SUBSCRIBE, refreshes, responses, termination reasons, and
/// restarts with growing pauses when the notifier fails.
///
///     idle --start--> asking --2xx--> waiting --NOTIFY--> established --refresh--> asking'
///                        |               |                   |
///                        | refusal       | timer N           | terminated, refresh refused, lapse
///                        v               v                   v
///                      over <--never-- (retry table) --later--> resting --pause over--> asking (new dialog)
///
/// Each dialog belongs to the ``Attempt`` that created it; the owner answers NOTIFYs of older attempts with 481. A NOTIFY may
/// arrive before the 200 (RFC 6665 4.4.1). A piggybacked state (MS-SIP 3.4.5.1) counts as a NOTIFY.
public struct Subscriber: Hashable, Sendable {
    /// Settings of a subscription.
    public struct Configuration: Hashable, Sendable {
        /// Seconds to request; 0 is a fetch.
        public var expires: Int
        /// Pause before the first restart; doubled with every failure up to `retryMaximum`.
        public var retryMinimum: TimeSpan
        /// Longest pause before a restart, Retry-After and jitter not counted.
        public var retryMaximum: TimeSpan
        /// Timer N, 64*T1 (RFC 6665 4.1.2): longest wait for a NOTIFY after a SUBSCRIBE.
        public var timerN: TimeSpan
        /// Seed of a jitter that lengthens pauses by up to a quarter, so that subscriptions lost together do not restart together;
        /// 0 disables it.
        public var jitterSeed: UInt64

        /// Creates settings; by default pauses from 5 s to 300 s, a Timer N of 32 s and no jitter.
        public init(
            expires: Int, retryMinimum: TimeSpan = .seconds(5), retryMaximum: TimeSpan = .seconds(300), timerN: TimeSpan = .seconds(32),
            jitterSeed: UInt64 = 0
        ) {
            self.expires = expires
            self.retryMinimum = retryMinimum
            self.retryMaximum = retryMaximum
            self.timerN = timerN
            self.jitterSeed = jitterSeed
        }
    }

    /// Number of a start, counted from 1.
    public typealias Attempt = Int

    /// Kind of SUBSCRIBE to send.
    public enum Request: Hashable, Sendable {
        /// Outside a dialog, with a new Call-ID and From tag.
        case initial(Attempt)
        case refresh
        case unsubscribe
    }

    /// Reason why a subscription was lost or ended.
    public enum Failure: Hashable, Sendable {
        /// The SUBSCRIBE was answered with this status.
        case refused(status: Int)
        /// A NOTIFY terminated it.
        case terminated(TerminationReason?)
        /// No response, no NOTIFY within Timer N, or a transport failure.
        case silent
        /// It was not refreshed in time.
        case lapsed
    }

    /// Action that the owner takes, in the order returned.
    public enum Action: Hashable, Sendable {
        case subscribe(Request, expires: Int)
        /// The notifier reported active or pending.
        case status(SubscriptionStatus)
        /// The subscription was lost; it restarts by itself after the pause.
        case lost(Failure, retryIn: TimeSpan)
        /// The subscription is over and can be removed; nil: as requested (unsubscribed or fetched).
        case end(Failure?)
    }

    enum Phase: Hashable, Sendable {
        case idle, established, resting, leaving, over
    }

    private static let settled = TimeSpan.seconds(60)
    /// Least pause of a restart that is not immediate: a notifier that refuses must not be asked as fast as it answers.
    static let leastPause = TimeSpan.milliseconds(200)
    /// Longest pause that a Retry-After can request, in seconds.
    private static let longestPause = 86_400
    /// Longest lifetime that a Min-Expires can request, in seconds.
    private static let longestLife = 86_400 * 7

    /// Settings; a 423 raises `expires`.
    public private(set) var configuration: Configuration
    /// Number of the current attempt; 0 before ``start(at:)``.
    public private(set) var attempt: Attempt = 0
    var phase = Phase.idle
    /// Whether a SUBSCRIBE is unanswered.
    var isAsking = false
    /// Whether to unsubscribe as soon as the response arrives.
    var wantsToLeave = false
    /// Whether to refresh as soon as the response arrives.
    var wantsChange = false
    private var hasBriefRetry = false
    private var losses = Losses()
    var timerN: Instant?
    var refreshes = RefreshPlan()
    /// Time at which the subscription expires; nil until a lifetime is granted.
    public private(set) var lapsesAt: Instant?
    /// Pause before a restart; nil outside a pause.
    var rest: Rest?

    /// Losses in a row.
    private struct Losses: Hashable, Sendable {
        /// Number of losses; counted from zero after an attempt that lasted 60 s.
        var count = 0
        /// Start of the present attempt.
        var startedAt = Instant(nanosecondsSince1970: 0)

        /// Counts the loss of the present attempt.
        mutating func add(at now: Instant) {
            // An attempt that lasted 60 s resets the pause; repeated early losses keep doubling it.
            if now - startedAt >= Subscriber.settled { count = 0 }
            count += 1
        }
    }

    /// Pause before a restart.
    struct Rest: Hashable, Sendable {
        /// End of the pause.
        private(set) var until: Instant
        /// Whether the pause was caused by a remote domain that was not reached, rather than requested by it.
        let isUnheard: Bool

        init(until: Instant, isUnheard: Bool = false) {
            self.until = until
            self.isUnheard = isUnheard
        }

        /// Moves the end of the pause.
        mutating func end(at moment: Instant) { until = moment }
    }

    /// Creates an idle subscription.
    public init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// Resumes a subscription with a dialog of an earlier process.
    /// - Parameters:
    ///   - expiry: Expiry without a refresh.
    ///   - refreshAt: Time to request the whole state.
    public init(resuming configuration: Configuration, expiry: Instant, refreshAt: Instant) {
        self.init(configuration)
        attempt = 1
        phase = .established
        losses.startedAt = refreshAt
        lapsesAt = expiry
        refreshes = RefreshPlan(resumedAt: refreshAt)
    }

    /// Resumes a subscription that an earlier process lost and that restarts after a pause; `failures` is limited to 0...64.
    public init(resting configuration: Configuration, until end: Instant, failures: Int) {
        self.init(configuration)
        attempt = 1
        phase = .resting
        rest = Rest(until: end)
        losses.count = min(max(failures, 0), 64)
    }

    /// Losses in a row; counted from zero after an attempt that lasted 60 s.
    public var failures: Int { losses.count }
    /// Time of the next refresh; nil when none is planned.
    public var refreshAt: Instant? { refreshes.plannedAt }
    /// Time of the refresh that verifies the subscription; nil: none.
    public var verifiesAt: Instant? { refreshes.verifiesAt }
    /// End of the pause before a restart; nil outside a pause.
    public var restsUntil: Instant? { rest?.until }

    /// Whether the subscription is over and can be removed.
    public var isOver: Bool { phase == .over }

    /// State of the subscription, for display; the names are those of the diagram above.
    public enum Standing: Hashable, Sendable {
        case idle, asking, waiting, established, refreshing, resting, leaving, over
    }

    /// Current state, for display.
    public var standing: Standing {
        switch phase {
        case .idle: .idle
        case .resting: .resting
        case .leaving: .leaving
        case .over: .over
        case .established where isAsking: lapsesAt == nil ? .asking : .refreshing
        case .established: timerN == nil ? .established : .waiting
        }
    }

    /// Whether this is a fetch: Expires 0.
    public var isFetch: Bool { configuration.expires == 0 }

    // MARK: requests of the owner

    /// Starts an idle subscription; does nothing in any other state.
    public mutating func start(at now: Instant) -> [Action] {
        guard phase == .idle else { return [] }
        return ask(at: now)
    }

    /// Restarts at once in a new dialog, for another target or form; the attempt before is abandoned.
    public mutating func restart(at now: Instant) -> [Action] {
        wantsToLeave = false
        return ask(at: now)
    }

    /// Refreshes because the request has changed (MS-PRES 3.4.5.1.3): now, after the outstanding response, or when a refused
    /// refresh may be repeated. Does nothing between two dialogs: the next one uses the new request.
    public mutating func change(at now: Instant) -> [Action] {
        guard phase == .established, !isFetch, !wantsToLeave else { return [] }
        if !isAsking, refreshes.isPostponed(at: now) { return [] }
        wantsChange = isAsking
        return isAsking ? [] : [refresh(at: now)]
    }

    /// Whether NOTIFYs of the current attempt's dialog are expected.
    public var isListening: Bool { phase == .established || phase == .leaving }

    /// Unsubscribes: SUBSCRIBE with Expires 0 in the dialog, then the last NOTIFY or Timer N (RFC 6665 4.1.2.3).
    /// - Parameter hasDialog: Whether a dialog exists; without one the subscription ends at once.
    public mutating func unsubscribe(hasDialog: Bool, at now: Instant) -> [Action] {
        switch phase {
        case .over, .leaving: return []
        case .idle, .resting: return finish(nil)
        case .established where isFetch: return finish(nil)
        case .established:
            if isAsking {
                wantsToLeave = true
                return []
            }
            return hasDialog ? leave(at: now) : finish(nil)
        }
    }

    // MARK: responses

    /// Handles the final response to the SUBSCRIBE.
    /// - Parameters:
    ///   - expires: Expires of a 2xx in seconds; limited to the seconds requested.
    ///   - piggybacked: State carried by the 200 (MS-SIP 3.4.5.1).
    public mutating func receiveAnswer(
        status: Int, expires: Int? = nil, minimumExpires: Int? = nil, retryAfter: Int? = nil, piggybacked: SubscriptionStatus? = nil,
        at now: Instant
    ) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        if (200..<300).contains(status) { return accepted(expires, piggybacked, at: now) }
        if phase == .leaving || wantsToLeave { return finish(nil) }
        if status == 423, !isFetch, let minimumExpires, minimumExpires > configuration.expires, minimumExpires <= Self.longestLife,
            !hasBriefRetry
        {
            hasBriefRetry = true
            configuration.expires = minimumExpires
            if lapsesAt == nil { return ask(at: now) }
            isAsking = true
            timerN = now + configuration.timerN
            return [.subscribe(.refresh, expires: minimumExpires)]
        }
        let wasRefresh = lapsesAt != nil
        if wasRefresh {
            switch status {
            case 300..<400, 404, 405, 410, 416, 480...485, 489, 501, 604:
                // The dialog is gone (RFC 6665 4.1.2.2) or elsewhere: start a new one.
                return lose(.refused(status: status), .immediately, retryAfter: retryAfter, at: now)
            case 408:
                // Same as no response (RFC 3261 12.2.1.2).
                return lose(.refused(status: status), .later, retryAfter: retryAfter, at: now)
            default:
                // The subscription stays valid until its expiry; refresh again after a pause.
                timerN = nil
                let pause = retryAfter.map { TimeSpan.seconds(min(max($0, 1), Self.longestPause)) } ?? configuration.retryMinimum
                refreshes.refused(until: now + max(pause, Self.leastPause))
                return []
            }
        }
        if TerminationReason(refusal: status) != nil { return finish(.refused(status: status)) }
        return lose(.refused(status: status), .later, retryAfter: retryAfter, at: now)
    }

    private mutating func accepted(_ expires: Int?, _ piggybacked: SubscriptionStatus?, at now: Instant) -> [Action] {
        if phase == .leaving {
            if piggybacked != nil { return finish(nil) }
            return []
        }
        hasBriefRetry = false
        refreshes.accepted()
        grant(expires ?? configuration.expires, at: now)
        if let piggybacked {
            let actions = receive(piggybacked, at: now)
            guard phase == .established else { return actions }
            if wantsToLeave { return actions + leave(at: now) }
            return wantsChange ? actions + [refresh(at: now)] : actions
        }
        if wantsToLeave { return isFetch ? finish(nil) : leave(at: now) }
        return wantsChange ? [refresh(at: now)] : []
    }

    /// Handles a SUBSCRIBE that was not answered (Timer F) or could not be sent.
    public mutating func subscribeFailed(at now: Instant) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        if phase == .leaving || wantsToLeave { return finish(nil) }
        return lose(.silent, .later, retryAfter: nil, at: now)
    }

    // MARK: notifications

    /// Handles a NOTIFY or BENOTIFY of the current attempt's dialog; the owner answers it with 200.
    public mutating func receiveNotify(_ status: SubscriptionStatus, at now: Instant) -> [Action] {
        switch phase {
        case .idle, .resting, .over: return []
        case .leaving: return status.isTerminated ? finish(nil) : []
        case .established: return receive(status, at: now)
        }
    }

    private mutating func receive(_ status: SubscriptionStatus, at now: Instant) -> [Action] {
        timerN = nil
        if case .terminated(let reason, let retryAfter) = status {
            if isFetch || wantsToLeave { return finish(nil) }
            let failure = Failure.terminated(reason)
            switch reason?.retry ?? .later {
            case .never: return finish(failure)
            case .immediately: return lose(failure, .immediately, retryAfter: nil, at: now)
            case .later: return lose(failure, .later, retryAfter: retryAfter, at: now)
            }
        }
        if isFetch { return [.status(status)] + finish(nil) }
        if let left = status.expires { grant(left, at: now) } else if lapsesAt == nil { grant(configuration.expires, at: now) }
        return [.status(status)]
    }

    // MARK: time

    /// Time at which ``advance(to:)`` must be called; nil when no timer runs.
    public var nextDeadline: Instant? { .earliest(timerN, isAsking ? nil : asksAt, lapsesAt, restsUntil) }

    /// Time of the next refresh, planned or to verify.
    public var asksAt: Instant? { refreshes.next }

    /// Handles Timer N, refresh, expiry and the end of pauses at `now`.
    public mutating func advance(to now: Instant) -> [Action] {
        if let restsUntil, now >= restsUntil {
            return ask(at: now)
        }
        if let timerN, now >= timerN {
            self.timerN = nil
            if phase == .leaving || isFetch || wantsToLeave { return finish(isFetch && !wantsToLeave ? .silent : nil) }
            return lose(.silent, .later, retryAfter: nil, at: now)
        }
        if phase == .established, let lapsesAt, now >= lapsesAt, !isFetch {
            return lose(.lapsed, .immediately, retryAfter: nil, at: now)
        }
        if phase == .established, !isAsking, let asksAt, now >= asksAt {
            return [refresh(at: now)]
        }
        return []
    }

    // MARK: steps

    private mutating func ask(at now: Instant) -> [Action] {
        forgetTimers()
        attempt += 1
        wantsChange = false
        losses.startedAt = now
        phase = .established
        isAsking = true
        timerN = now + configuration.timerN
        return [.subscribe(.initial(attempt), expires: configuration.expires)]
    }

    private mutating func refresh(at now: Instant) -> Action {
        refreshes.cancel()
        wantsChange = false
        isAsking = true
        timerN = now + configuration.timerN
        return .subscribe(.refresh, expires: configuration.expires)
    }

    private mutating func leave(at now: Instant) -> [Action] {
        forgetTimers()
        phase = .leaving
        isAsking = true
        timerN = now + configuration.timerN
        return [.subscribe(.unsubscribe, expires: 0)]
    }

    /// Applies a granted lifetime, limited to the one requested: refresh at three quarters of it, and at least Timer N before
    /// expiry if it is long enough for that.
    private mutating func grant(_ seconds: Int, at now: Instant) {
        let seconds = min(max(seconds, 0), configuration.expires)
        guard !isFetch else { return }
        let span = TimeSpan.seconds(seconds)
        lapsesAt = now + span
        refreshes.plan(now + min(span * 3 / 4, max(span - configuration.timerN, span / 2)))
        // Lifetime 0: wait for the one NOTIFY that follows (RFC 6665 4.2.1.1).
        if seconds == 0, let timerN {
            lapsesAt = timerN
            refreshes.cancel()
        }
    }

    private mutating func lose(_ failure: Failure, _ retry: TerminationReason.Retry, retryAfter: Int?, at now: Instant) -> [Action] {
        if wantsToLeave || phase == .leaving { return finish(nil) }
        if isFetch { return finish(failure) }
        forgetTimers()
        // The outstanding response belongs to the lost dialog.
        isAsking = false
        phase = .resting
        losses.add(at: now)
        var pause = configuration.retryMinimum
        for _ in 1..<min(failures, 16) { pause = min(pause * 2, configuration.retryMaximum) }
        pause = jittered(max(pause, Self.leastPause))
        if retry == .immediately && failures <= 1 { pause = .zero }
        if retry == .later, let retryAfter {
            pause = jittered(max(.seconds(min(max(retryAfter, 0), Self.longestPause)), min(pause, .seconds(1))))
        }
        let isUnheard = retryAfter == nil && [.silent, .refused(status: 408), .refused(status: 503)].contains(failure)
        rest = Rest(until: now + pause, isUnheard: isUnheard)
        return [.lost(failure, retryIn: pause)]
    }

    /// Lengthens a span by up to a quarter, by seed, failures and attempt (SplitMix64).
    private func jittered(_ span: TimeSpan) -> TimeSpan {
        guard configuration.jitterSeed != 0 else { return span }
        var mixed = configuration.jitterSeed &+ UInt64(truncatingIfNeeded: failures &+ attempt) &* 0x9E37_79B9_7F4A_7C15
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return span + span * Int(mixed >> 54) / 4_096
    }

    private mutating func finish(_ failure: Failure?) -> [Action] {
        forgetTimers()
        phase = .over
        isAsking = false
        return [.end(failure)]
    }

    private mutating func forgetTimers() {
        timerN = nil
        refreshes = RefreshPlan()
        lapsesAt = nil
        rest = nil
    }
}
