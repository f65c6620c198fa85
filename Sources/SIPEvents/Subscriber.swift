import SIPCore

/// The subscriber's side of one subscription (RFC 6665 section 4.1) over as many dialogs as it takes: first SUBSCRIBE, refreshes,
/// what every answer and every termination reason asks for, and a new start with growing pauses when the far side fails.
///
///     idle --start--> asking --2xx--> waiting --NOTIFY--> established --refresh--> asking'
///                        |               |                   |
///                        | refusal       | timer N           | terminated, refresh refused, lapse
///                        v               v                   v
///                      over <--never-- (retry table) --later--> resting --pause over--> asking (new dialog)
///
/// Every dialog is of the ``Attempt`` that made it; what belongs to an older attempt is answered 481 by its owner. A NOTIFY may
/// come before the 200 (RFC 6665 4.4.1). A piggybacked state (MS-SIP 3.4.5.1) counts as a NOTIFY.
public struct Subscriber: Hashable, Sendable {
    public struct Configuration: Hashable, Sendable {
        /// Seconds asked for; 0 is a fetch.
        public var expires: Int
        /// Pause before the first new start; it doubles with every failure up to `retryMaximum`.
        public var retryMinimum: TimeSpan
        public var retryMaximum: TimeSpan
        /// RFC 6665 4.1.2: 64*T1.
        public var timerN: TimeSpan
        /// Lengthens every pause before a new start by up to a quarter, so that legs that were lost together do not come back
        /// together; 0: no such chance.
        public var jitterSeed: UInt64

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

    /// Which start a dialog belongs to; grows by one with each.
    public typealias Attempt = Int

    public enum Request: Hashable, Sendable {
        /// Outside any dialog: new Call-ID and From tag.
        case initial(Attempt)
        case refresh
        case unsubscribe
    }

    public enum Failure: Hashable, Sendable {
        /// The SUBSCRIBE was answered with this status.
        case refused(status: Int)
        /// A NOTIFY ended it.
        case terminated(TerminationReason?)
        /// No answer, or no NOTIFY within timer N, or the transport failed.
        case silent
        /// It was not refreshed in time.
        case lapsed
    }

    public enum Action: Hashable, Sendable {
        case subscribe(Request, expires: Int)
        /// The far side says active or pending.
        case status(SubscriptionStatus)
        /// The subscription is lost; a new start follows after the pause by itself.
        case lost(Failure, retryIn: TimeSpan)
        /// It is over for good; forget it. nil: as wished (unsubscribed, or fetched).
        case end(Failure?)
    }

    enum Phase: Hashable, Sendable {
        case idle, established, resting, leaving, over
    }

    private static let settled = TimeSpan.seconds(60)
    /// No pause but the first is shorter, whatever is configured: a far side that refuses is not asked as fast as it answers.
    private static let leastPause = TimeSpan.milliseconds(200)
    /// Longest pause that a Retry-After can ask for, in seconds.
    private static let longestPause = 86_400
    /// Longest lifetime that a Min-Expires can make us ask for, in seconds.
    private static let longestLife = 86_400 * 7

    public private(set) var configuration: Configuration
    public private(set) var attempt: Attempt = 0
    var phase = Phase.idle
    /// A SUBSCRIBE is unanswered.
    var isAsking = false
    /// To be left as soon as the answer is there.
    var wantsToLeave = false
    /// To be asked again as soon as the answer is there.
    private var wantsChange = false
    private var hasBriefRetry = false
    /// Losses in a row.
    public private(set) var failures = 0
    private var startedAt = Instant(nanosecondsSince1970: 0)
    private var timerN: Instant?
    public internal(set) var refreshAt: Instant?
    /// A refused refresh is not repeated before this moment, whatever a NOTIFY says of the lifetime.
    var refreshesFrom: Instant?
    public private(set) var lapsesAt: Instant?
    public internal(set) var restsUntil: Instant?
    /// It rests because the far side was not reached, and not because that asked for a pause.
    var restsUnheard = false

    public init(_ configuration: Configuration) {
        self.configuration = configuration
    }

    /// A subscription whose dialog an earlier process made.
    /// - Parameters:
    ///   - expiry: when it lapses without a refresh.
    ///   - refreshAt: when it is this one's turn to ask for the whole state.
    public init(resuming configuration: Configuration, expiry: Instant, refreshAt: Instant) {
        self.init(configuration)
        attempt = 1
        phase = .established
        startedAt = refreshAt
        lapsesAt = expiry
        self.refreshAt = refreshAt
    }

    /// A subscription that an earlier process lost, and that is made anew after a pause.
    public init(resting configuration: Configuration, until end: Instant, failures: Int) {
        self.init(configuration)
        attempt = 1
        phase = .resting
        restsUntil = end
        self.failures = min(max(failures, 0), 64)
    }

    public var isOver: Bool { phase == .over }

    /// Where the subscription stands, for whoever asks; the names are those of the diagram above.
    public enum Standing: Hashable, Sendable {
        case idle, asking, waiting, established, refreshing, resting, leaving, over
    }

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

    public var isFetch: Bool { configuration.expires == 0 }

    // MARK: wishes

    public mutating func start(at now: Instant) -> [Action] {
        guard phase == .idle else { return [] }
        return ask(at: now)
    }

    /// Asks anew at once, in a new dialog: elsewhere, or in another form. What belongs to the attempt before is forgotten.
    public mutating func restart(at now: Instant) -> [Action] {
        wantsToLeave = false
        return ask(at: now)
    }

    /// Asks again in the dialog, because what is asked for has changed (MS-PRES 3.4.5.1.3): now, or with the answer to the SUBSCRIBE
    /// that is on its way, or when a refused refresh may be repeated. Between two dialogs there is nothing to do: the next one begins with
    /// what is wanted then.
    public mutating func change(at now: Instant) -> [Action] {
        guard phase == .established, !isFetch, !wantsToLeave else { return [] }
        if !isAsking, let refreshesFrom, now < refreshesFrom {
            refreshAt = refreshesFrom
            return []
        }
        wantsChange = isAsking
        return isAsking ? [] : [refresh(at: now)]
    }

    /// Whether NOTIFYs of the current attempt's dialog are expected.
    public var isListening: Bool { phase == .established || phase == .leaving }

    /// Ends it: SUBSCRIBE with Expires 0 in the dialog, then the last NOTIFY or timer N (RFC 6665 4.1.2.3).
    /// - Parameter hasDialog: whether a dialog exists; without one there is nothing to leave yet.
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

    // MARK: answers

    /// A final answer to the SUBSCRIBE.
    /// - Parameters:
    ///   - expires: the Expires of a 2xx; authoritative, never longer than asked.
    ///   - piggybacked: the state that the 200 itself carries (MS-SIP 3.4.5.1).
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
                // The dialog is gone (RFC 6665 4.1.2.2), or elsewhere; start anew, out of it.
                return lose(.refused(status: status), .immediately, retryAfter: retryAfter, at: now)
            case 408:
                // As good as no answer (RFC 3261 12.2.1.2).
                return lose(.refused(status: status), .later, retryAfter: retryAfter, at: now)
            default:
                // It stays valid until its known expiry; try again in time.
                timerN = nil
                let pause = retryAfter.map { TimeSpan.seconds(min(max($0, 1), Self.longestPause)) } ?? configuration.retryMinimum
                refreshesFrom = now + max(pause, Self.leastPause)
                refreshAt = refreshesFrom
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
        refreshesFrom = nil
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

    /// The SUBSCRIBE was not answered (timer F) or could not be sent.
    public mutating func subscribeFailed(at now: Instant) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        if phase == .leaving || wantsToLeave { return finish(nil) }
        return lose(.silent, .later, retryAfter: nil, at: now)
    }

    // MARK: notifications

    /// A NOTIFY or BENOTIFY of the current attempt's dialog; its owner answers it 200.
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

    public var nextDeadline: Instant? { .earliest(timerN, isAsking ? nil : refreshAt, lapsesAt, restsUntil) }

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
        if phase == .established, !isAsking, let refreshAt, now >= refreshAt {
            return [refresh(at: now)]
        }
        return []
    }

    // MARK: steps

    private mutating func ask(at now: Instant) -> [Action] {
        forgetTimers()
        attempt += 1
        wantsChange = false
        startedAt = now
        phase = .established
        isAsking = true
        timerN = now + configuration.timerN
        return [.subscribe(.initial(attempt), expires: configuration.expires)]
    }

    private mutating func refresh(at now: Instant) -> Action {
        refreshAt = nil
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

    /// Takes over the far side's word on the lifetime: refresh at three quarters of it, and at least timer N before it ends if it
    /// is long enough for that.
    private mutating func grant(_ seconds: Int, at now: Instant) {
        let seconds = min(max(seconds, 0), configuration.expires)
        guard !isFetch else { return }
        let span = TimeSpan.seconds(seconds)
        lapsesAt = now + span
        refreshAt = now + min(span * 3 / 4, max(span - configuration.timerN, span / 2))
        if let refreshesFrom { refreshAt = max(refreshesFrom, refreshAt ?? refreshesFrom) }
        // Granted nothing: the one NOTIFY that follows is still worth waiting for (RFC 6665 4.2.1.1).
        if seconds == 0, let timerN {
            lapsesAt = timerN
            refreshAt = nil
        }
    }

    private mutating func lose(_ failure: Failure, _ retry: TerminationReason.Retry, retryAfter: Int?, at now: Instant) -> [Action] {
        if wantsToLeave || phase == .leaving { return finish(nil) }
        if isFetch { return finish(failure) }
        forgetTimers()
        // What is still unanswered belongs to the dialog that was lost.
        isAsking = false
        phase = .resting
        // A leg that lived for a while starts with a clean slate; one that dies at birth again and again does not.
        if now - startedAt >= Self.settled { failures = 0 }
        failures += 1
        var pause = configuration.retryMinimum
        for _ in 1..<min(failures, 16) { pause = min(pause * 2, configuration.retryMaximum) }
        pause = jittered(max(pause, Self.leastPause))
        if retry == .immediately && failures <= 1 { pause = .zero }
        if retry == .later, let retryAfter {
            pause = jittered(max(.seconds(min(max(retryAfter, 0), Self.longestPause)), min(pause, .seconds(1))))
        }
        restsUntil = now + pause
        restsUnheard = retryAfter == nil && [.silent, .refused(status: 408), .refused(status: 503)].contains(failure)
        return [.lost(failure, retryIn: pause)]
    }

    /// The span and up to a quarter of it, by seed and number of failures (SplitMix64).
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
        refreshAt = nil
        refreshesFrom = nil
        lapsesAt = nil
        restsUntil = nil
    }
}
