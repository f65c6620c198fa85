import SIPCore

/// The event publication agent's side of one publication (RFC 3903 section 4): creates it, keeps it alive, replaces and removes it,
/// and starts afresh when the compositor has forgotten it.
///
///     idle --publish--> asking --2xx--> live --publish, refresh--> asking --412--> asking (without tag)
///                         | 408, 480, 5xx, silence; 401 and 407 of a refresh or removal: again after a pause
///                         | other refusals: as before the request
///     live --withdraw--> leaving --2xx, 412, lapse--> idle
///
/// One PUBLISH is outstanding at a time; what comes meanwhile follows with the newest body.
public struct PublicationClient: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        /// Send PUBLISH; with `hasBody` the newest body goes along.
        case publish(ifMatch: EntityTag?, hasBody: Bool, expires: Int)
        /// The compositor has the body of the last request.
        case published
        /// It cannot say now: the request is repeated after this moment.
        case postponed(until: Instant)
        /// The compositor refuses the last request. What it had before, it still has.
        case refused(status: Int)
        /// Nothing is published any more.
        case over
    }

    /// What must be kept to go on after a restart (RFC 3903 4.1: the tag is all that names the publication).
    public struct Standing: Hashable, Sendable {
        public var tag: EntityTag
        /// When the compositor drops the publication.
        public var lapsesAt: Instant
        /// Seconds asked for, as learnt from 423.
        public var expires: Int

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
    /// Whether something is to be published, as far as ``publish(at:)`` and ``withdraw(at:)`` said.
    public private(set) var isWanted = false
    private var hasNews = false
    private var hasBriefRetry = false
    private var refreshAt: Instant?
    /// Nothing is sent before: the compositor wished a pause, or did not answer.
    private var pausedUntil: Instant?
    private var failures = 0

    /// - Parameters:
    ///   - expires: seconds to ask for.
    ///   - retryPause: after a failure that names no Retry-After, doubling up to `longestPause`; at least 1 s. A refresh comes no sooner.
    public init(expires: Int, retryPause: TimeSpan = .seconds(30), longestPause: TimeSpan = .seconds(300)) {
        self.expires = expires
        self.retryPause = max(retryPause, .seconds(1))
        self.longestPause = longestPause
    }

    /// A publication of which an earlier process knew this; it is refreshed in time, as if it had never been left alone.
    public init(
        restoring standing: Standing, retryPause: TimeSpan = .seconds(30), longestPause: TimeSpan = .seconds(300), at now: Instant
    ) {
        self.init(expires: standing.expires, retryPause: retryPause, longestPause: longestPause)
        tag = standing.tag
        lapsesAt = standing.lapsesAt
        isWanted = true
        refreshAt = now + max(TimeSpan(nanoseconds: (standing.lapsesAt - now).nanoseconds / 4), .seconds(1))
    }

    public var entityTag: EntityTag? { tag }
    /// What the compositor has; nil: nothing that is known.
    public var standing: Standing? {
        tag.flatMap { tag in lapsesAt.map { Standing(tag: tag, lapsesAt: $0, expires: expires) } }
    }
    /// Whether nothing is published, asked or wished.
    public var isIdle: Bool { tag == nil && asking == nil && !isWanted }
    /// Whether a request waits for its answer.
    public var isAsking: Bool { asking != nil }

    public var nextDeadline: Instant? {
        guard asking == nil else { return nil }
        if let pausedUntil, hasNews || !isWanted { return pausedUntil }
        return refreshAt
    }

    /// There is a new body.
    public mutating func publish(at now: Instant) -> [Action] {
        isWanted = true
        hasNews = true
        return next(at: now)
    }

    /// Removes the publication.
    public mutating func withdraw(at now: Instant) -> [Action] {
        guard isWanted else { return [] }
        isWanted = false
        hasNews = false
        return next(at: now)
    }

    /// What the compositor has is wanted as it is: nothing waits to be sent, and the tag is refreshed in its time.
    public mutating func revert(at now: Instant) {
        guard tag != nil, asking == nil else { return }
        isWanted = true
        hasNews = false
        pausedUntil = nil
        refreshAt = refreshAt ?? now
    }

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
            // A compositor that grants next to nothing is asked again no oftener than one that fails.
            refreshAt = now + max(.seconds(seconds) * 3 / 4, retryPause)
            return [.published] + next(at: now)
        case 408, 480, 500..<600:
            return pause(request, retryAfter, at: now)
        case 401,
            407 where request != .body:
            // The credentials are missing; the publication is as it was (RFC 5057 5.1), and is asked for again until it lapses.
            return pause(request, retryAfter, at: now)
        case 412:
            // The tag is dead: do not repeat it, publish afresh (RFC 3903 4.5).
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

    /// No answer: whether the compositor has the publication is unknown; a 412 will tell.
    public mutating func publishFailed(at now: Instant) -> [Action] {
        guard let request = asking else { return [] }
        asking = nil
        return pause(request, nil, at: now)
    }

    public mutating func advance(to now: Instant) -> [Action] {
        guard asking == nil else { return [] }
        if let lapsesAt, now >= lapsesAt {
            forget()
            // Nobody heard of us in time: the whole state, as if new.
            if isWanted { hasNews = true }
        }
        if let refreshAt, now >= refreshAt, isWanted, !hasNews, pausedUntil.map({ now >= $0 }) ?? true {
            self.refreshAt = nil
            if tag != nil { return ask(.refresh) }
            // The compositor gave it no tag, so that nothing names it: the whole state, as if new.
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

    /// Nothing is there any more; a body that came meanwhile starts a new publication.
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
            // It lapses by itself before it could be removed.
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
            // Whatever it says, it is asked no more; what is left lapses.
            return removed(at: now)
        case .refresh:
            forget()
        case .body:
            if let lapsesAt { refreshAt = now + max(TimeSpan(nanoseconds: (lapsesAt - now).nanoseconds / 2), .seconds(1)) }
        }
        // Whether a newer body fares better, the caller decides.
        hasNews = false
        return [.refused(status: status)] + (isWanted ? [] : next(at: now))
    }
}
