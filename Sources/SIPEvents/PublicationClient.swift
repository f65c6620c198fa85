import SIPCore

/// Publication agent's side of one publication (RFC 3903 4): creates, refreshes, replaces and removes it, and creates it again when
/// the compositor no longer knows it.
///
///     idle --publish--> asking --2xx--> live --publish, refresh--> asking --412--> asking (without tag)
///                         | 408, 480, 5xx, silence; 401 and 407 of a refresh or removal: again after a pause
///                         | other refusals: as before the request
///     live --withdraw--> leaving --2xx, 412, lapse--> idle
///
/// One PUBLISH is outstanding at a time; changes meanwhile are sent afterwards with the newest body.
public struct PublicationClient: Hashable, Sendable {
    /// Action that the owner takes, in the order returned.
    public enum Action: Hashable, Sendable {
        /// Send PUBLISH with this many seconds of lifetime (0 removes); with `hasBody` include the newest body.
        case publish(ifMatch: EntityTag?, hasBody: Bool, expires: Int)
        /// The compositor has the body of the last request.
        case published
        /// Temporary failure: the request is repeated after this time.
        case postponed(until: Instant)
        /// The compositor refused the last request; its earlier state is unchanged.
        case refused(status: Int)
        /// Nothing is published any more.
        case over
    }

    /// State to keep across a restart; the tag alone names the publication (RFC 3903 4.1).
    public struct Standing: Hashable, Sendable {
        /// Tag of the newest accepted request.
        public var tag: EntityTag
        /// Time at which the compositor drops the publication.
        public var lapsesAt: Instant
        /// Seconds to request, raised by a 423.
        public var expires: Int

        /// Creates the state of a publication that an earlier process made.
        public init(tag: EntityTag, lapsesAt: Instant, expires: Int) {
            self.tag = tag
            self.lapsesAt = lapsesAt
            self.expires = expires
        }
    }

    private enum Request: Hashable, Sendable {
        case body, refresh, removal
    }

    private var expires: Int
    private let retryPause: TimeSpan
    private let longestPause: TimeSpan
    private var tag: EntityTag?
    private var lapsesAt: Instant?
    private var asking: Request?
    /// Whether a publication is wanted, by ``publish(at:)``, ``withdraw(at:)`` and ``revert(at:)``.
    public private(set) var isWanted = false
    private var hasNews = false
    private var hasBriefRetry = false
    private var refreshAt: Instant?
    /// Nothing is sent before this time: the compositor asked for a pause or did not answer.
    private var pausedUntil: Instant?
    private var failures = 0

    /// Creates a client that has published nothing.
    /// - Parameters:
    ///   - expires: Seconds to request.
    ///   - retryPause: Pause after a failure without Retry-After, doubled up to `longestPause`, at least 1 s; also the least time
    ///     between acceptance and refresh.
    public init(expires: Int, retryPause: TimeSpan = .seconds(30), longestPause: TimeSpan = .seconds(300)) {
        self.expires = expires
        self.retryPause = max(retryPause, .seconds(1))
        self.longestPause = longestPause
    }

    /// Restores a publication of an earlier process; it is refreshed after a quarter of the remaining lifetime, at least after 1 s.
    public init(
        restoring standing: Standing, retryPause: TimeSpan = .seconds(30), longestPause: TimeSpan = .seconds(300), at now: Instant
    ) {
        self.init(expires: standing.expires, retryPause: retryPause, longestPause: longestPause)
        tag = standing.tag
        lapsesAt = standing.lapsesAt
        isWanted = true
        refreshAt = now + max(TimeSpan(nanoseconds: (standing.lapsesAt - now).nanoseconds / 4), .seconds(1))
    }

    /// Tag that the next request carries; nil when no publication is known to exist.
    public var entityTag: EntityTag? { tag }
    /// State to keep across a restart; nil when no publication is known to exist.
    public var standing: Standing? {
        tag.flatMap { tag in lapsesAt.map { Standing(tag: tag, lapsesAt: $0, expires: expires) } }
    }
    /// Whether nothing is published, requested or wanted.
    public var isIdle: Bool { tag == nil && asking == nil && !isWanted }
    /// Whether a request awaits its response.
    public var isAsking: Bool { asking != nil }

    /// Time at which ``advance(to:)`` must be called; nil while a request is outstanding or when nothing is due.
    public var nextDeadline: Instant? {
        guard asking == nil else { return nil }
        if let pausedUntil, hasNews || !isWanted { return pausedUntil }
        return refreshAt
    }

    /// Publishes a new body; the owner adds the newest one to each PUBLISH that has a body.
    public mutating func publish(at now: Instant) -> [Action] {
        isWanted = true
        hasNews = true
        return next(at: now)
    }

    /// Removes the publication; does nothing when none is wanted.
    public mutating func withdraw(at now: Instant) -> [Action] {
        guard isWanted else { return [] }
        isWanted = false
        hasNews = false
        return next(at: now)
    }

    /// Drops a change that was not sent: the published body is refreshed as it is. Ignored without a tag or while a request is
    /// outstanding.
    public mutating func revert(at now: Instant) {
        guard tag != nil, asking == nil else { return }
        isWanted = true
        hasNews = false
        pausedUntil = nil
        refreshAt = refreshAt ?? now
    }

    /// Handles the final response to the outstanding PUBLISH; lifetimes and `retryAfter` are in seconds.
    public mutating func receiveAnswer(
        status: Int, tag newTag: EntityTag?, expires granted: Int?, minimumExpires: Int? = nil, retryAfter: Int? = nil, at now: Instant
    ) -> [Action] {
        guard let request = asking else { return [] }
        asking = nil
        switch status {
        case 200..<300:
            failures = 0
            hasBriefRetry = false
            if request == .removal { return removed(at: now) }
            tag = newTag ?? tag
            let seconds = max(1, min(granted ?? expires, expires))
            lapsesAt = now + .seconds(seconds)
            // A compositor that grants very short lifetimes is not asked more often than one that fails.
            refreshAt = now + max(.seconds(seconds) * 3 / 4, retryPause)
            return [.published] + next(at: now)
        case 408, 480, 500..<600:
            return pause(request, retryAfter, at: now)
        case 401 where request != .body, 407 where request != .body:
            // Credentials are missing; the publication is unchanged (RFC 5057 5.1), and the request is repeated until it lapses.
            return pause(request, retryAfter, at: now)
        case 412:
            // The tag is invalid: do not repeat it, publish without one (RFC 3903 4.5).
            if request == .removal { return removed(at: now) }
            let hadTag = tag != nil
            forget()
            guard hadTag else { return pause(.body, retryAfter, at: now) }
            if isWanted { hasNews = true }
            return next(at: now)
        case 423:
            guard request != .removal, let minimumExpires, minimumExpires > expires, minimumExpires <= 604_800, !hasBriefRetry else {
                return refuse(request, status, at: now)
            }
            hasBriefRetry = true
            expires = minimumExpires
            if request == .body, isWanted { hasNews = true }
            guard request == .refresh, isWanted, !hasNews else { return next(at: now) }
            return ask(.refresh)
        default:
            return refuse(request, status, at: now)
        }
    }

    /// Handles a PUBLISH without a response: whether the publication exists is unknown, and a later 412 shows that it does not.
    public mutating func publishFailed(at now: Instant) -> [Action] {
        guard let request = asking else { return [] }
        asking = nil
        return pause(request, nil, at: now)
    }

    /// Handles expiry, refresh and the end of pauses at `now`.
    public mutating func advance(to now: Instant) -> [Action] {
        guard asking == nil else { return [] }
        if let lapsesAt, now >= lapsesAt {
            forget()
            // The publication was not refreshed in time: publish the whole state again.
            if isWanted { hasNews = true }
        }
        if let refreshAt, now >= refreshAt, isWanted, !hasNews, pausedUntil.map({ now >= $0 }) ?? true {
            self.refreshAt = nil
            if tag != nil { return ask(.refresh) }
            // Without a tag it cannot be refreshed: publish the whole state again.
            hasNews = true
        }
        return next(at: now)
    }

    // MARK: steps

    private mutating func next(at now: Instant) -> [Action] {
        guard asking == nil else { return [] }
        if let pausedUntil, now < pausedUntil { return [.postponed(until: pausedUntil)] }
        pausedUntil = nil
        if isWanted { return hasNews ? ask(.body) : [] }
        guard tag != nil else {
            forget()
            return [.over]
        }
        return ask(.removal)
    }

    private mutating func ask(_ request: Request) -> [Action] {
        asking = request
        if request != .refresh { hasNews = false }
        return [.publish(ifMatch: tag, hasBody: request == .body, expires: request == .removal ? 0 : expires)]
    }

    /// Forgets the publication; a body that arrived meanwhile starts a new one.
    private mutating func removed(at now: Instant) -> [Action] {
        forget()
        return next(at: now)
    }

    private mutating func forget() {
        tag = nil
        lapsesAt = nil
        refreshAt = nil
    }

    private mutating func pause(_ request: Request, _ retryAfter: Int?, at now: Instant) -> [Action] {
        failures += 1
        if isWanted, request == .body { hasNews = true }
        let doubled = min(retryPause * (1 << min(failures - 1, 10)), longestPause)
        let until = now + (retryAfter.map { .seconds(min(max($0, 1), 86_400)) } ?? doubled)
        if !isWanted, tag == nil || lapsesAt.map({ until >= $0 }) ?? true {
            // The publication expires before it could be removed.
            forget()
            return [.over]
        }
        pausedUntil = until
        if request == .refresh { refreshAt = until }
        return [.postponed(until: until)]
    }

    private mutating func refuse(_ request: Request, _ status: Int, at now: Instant) -> [Action] {
        failures = 0
        switch request {
        case .removal:
            // Any refusal ends the removal; the publication expires by itself.
            return removed(at: now)
        case .refresh:
            forget()
        case .body:
            if let lapsesAt { refreshAt = now + max(TimeSpan(nanoseconds: (lapsesAt - now).nanoseconds / 2), .seconds(1)) }
        }
        // The caller decides whether a newer body is worth another request.
        hasNews = false
        return [.refused(status: status)] + (isWanted ? [] : next(at: now))
    }
}
