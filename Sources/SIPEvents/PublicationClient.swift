import SIPCore

/// The event publication agent's side of one publication (RFC 3903 section 4): creates it, keeps it alive, replaces and removes it,
/// and starts afresh when the compositor has forgotten it.
///
///     idle --publish--> asking --2xx--> live --publish--> asking --412--> asking (without tag)
///                         | failure       | withdraw
///                         v               v
///                      resting          leaving --> over
public struct PublicationClient: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        /// Send PUBLISH; with `hasBody` the newest body goes along.
        case publish(ifMatch: EntityTag?, hasBody: Bool, expires: Int)
        case published
        /// The compositor refuses it for good.
        case refused(status: Int)
        case over
    }

    private enum Phase: Hashable, Sendable {
        case idle, live, leaving, over
    }

    private var phase = Phase.idle
    private var expires: Int
    private let retryPause: TimeSpan
    private var tag: EntityTag?
    private var isAsking = false
    private var hasNews = false
    private var wantsToLeave = false
    private var hasBriefRetry = false
    private var wakesAt: Instant?
    private var lapsesAt: Instant?

    public init(expires: Int, retryPause: TimeSpan = .seconds(30)) {
        self.expires = expires
        self.retryPause = retryPause
    }

    public var entityTag: EntityTag? { tag }
    public var nextDeadline: Instant? { isAsking ? nil : wakesAt }

    /// There is a new body.
    public mutating func publish(at now: Instant) -> [Action] {
        guard phase != .over, phase != .leaving else { return [] }
        phase = .live
        hasNews = true
        return next(at: now)
    }

    /// Removes the publication.
    public mutating func withdraw(at now: Instant) -> [Action] {
        guard phase == .live else { return [] }
        wantsToLeave = true
        return next(at: now)
    }

    public mutating func receiveAnswer(
        status: Int, tag newTag: EntityTag?, expires granted: Int?, minimumExpires: Int? = nil, retryAfter: Int? = nil, at now: Instant
    ) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        if phase == .leaving { return over() }
        switch status {
        case 200..<300:
            hasBriefRetry = false
            tag = newTag ?? tag
            let seconds = min(granted ?? expires, expires)
            lapsesAt = now + .seconds(seconds)
            wakesAt = now + max(.seconds(seconds) * 3 / 4, .seconds(1))
            return [.published] + next(at: now)
        case 412:
            // The tag is dead: do not repeat it, publish afresh (RFC 3903 4.5).
            let hadTag = tag != nil
            tag = nil
            hasNews = true
            guard hadTag else { return pause(retryAfter, at: now) }
            return next(at: now)
        case 423:
            guard let minimumExpires, minimumExpires > expires, minimumExpires <= 604_800, !hasBriefRetry else { return refuse(status) }
            hasBriefRetry = true
            expires = minimumExpires
            hasNews = true
            return next(at: now)
        case 408, 480, 500..<600:
            hasNews = true
            return pause(retryAfter, at: now)
        default:
            return refuse(status)
        }
    }

    /// No answer: whether the compositor has the publication is unknown; a 412 will tell.
    public mutating func publishFailed(at now: Instant) -> [Action] {
        guard isAsking else { return [] }
        isAsking = false
        if phase == .leaving { return over() }
        hasNews = true
        return pause(nil, at: now)
    }

    public mutating func advance(to now: Instant) -> [Action] {
        guard !isAsking, phase == .live, let due = wakesAt, now >= due else { return [] }
        wakesAt = nil
        if let lapsesAt, now >= lapsesAt {
            tag = nil
            hasNews = true
        }
        return ask(hasBody: hasNews || tag == nil)
    }

    private mutating func next(at now: Instant) -> [Action] {
        guard !isAsking else { return [] }
        if wantsToLeave {
            guard tag != nil else { return over() }
            phase = .leaving
            isAsking = true
            return [.publish(ifMatch: tag, hasBody: false, expires: 0)]
        }
        return hasNews ? ask(hasBody: true) : []
    }

    private mutating func ask(hasBody: Bool) -> [Action] {
        isAsking = true
        hasNews = false
        return [.publish(ifMatch: tag, hasBody: hasBody, expires: expires)]
    }

    private mutating func pause(_ retryAfter: Int?, at now: Instant) -> [Action] {
        if wantsToLeave { return over() }
        wakesAt = now + (retryAfter.map { .seconds(min(max($0, 1), 86_400)) } ?? retryPause)
        return []
    }

    private mutating func refuse(_ status: Int) -> [Action] {
        phase = .over
        wakesAt = nil
        return [.refused(status: status)]
    }

    private mutating func over() -> [Action] {
        phase = .over
        wakesAt = nil
        return [.over]
    }
}
