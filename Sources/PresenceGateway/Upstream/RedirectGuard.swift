import SIPCore

/// Where one presentity was sent on from, since the far side last showed its state.
struct RedirectTrail: Hashable {
    /// The places that it was asked for at, in their order.
    fileprivate(set) var visited: [UpstreamTarget] = []
    /// When it was followed, within the policy's span.
    fileprivate var followed: [Instant] = []
    /// How often in a row it had to rest.
    fileprivate(set) var setbacks = 0
    fileprivate var lastSetback: Instant?

    init() {}
}

/// Keeps `resubscribe` from becoming a storm (MS-PRES 3.4.5.1.3.1): says when a presentity that is sent on may be asked for elsewhere.
///
///     resubscribe --new place, seldom enough--> followed: at once, after the pause of that place, or spread while it has a rush
///         |
///         +--a place where it has been, or too often--> rests, twice as long each time, with jitter; then from its origin
struct RedirectGuard {
    struct Policy: Hashable {
        /// How often one presentity is followed within `span`.
        var follows = 6
        var span = TimeSpan.seconds(3_600)
        /// The first rest; it doubles up to `longestRest`.
        var shortestRest = TimeSpan.seconds(10)
        var longestRest = TimeSpan.seconds(3_600)
        /// How long others are kept from a place that sent somebody in circles.
        var longestPlacePause = TimeSpan.seconds(60)
        /// How many presentities are followed to one place in a second; the others come later.
        var rush = 50
        /// A place forgets its pause when it shows state, a presentity its rests when it was left alone for that long.
        var settled = TimeSpan.seconds(600)
        /// Places whose pauses are remembered.
        var places = 1_000
    }

    enum Decision: Hashable {
        case follow(after: TimeSpan)
        case rest(TimeSpan, isLoop: Bool)
    }

    private struct Place {
        /// Nobody is sent there sooner.
        var notBefore: Instant
        var rushStart: Instant
        var rushCount = 0
    }

    let policy: Policy
    private var places: [UpstreamTarget: Place] = [:]
    private var random: TokenGenerator

    init(random: TokenGenerator, policy: Policy = Policy()) {
        self.policy = policy
        self.random = random
    }

    /// A presentity that was asked for at `source` is said to live at `goal`.
    mutating func decide(_ trail: inout RedirectTrail, from source: UpstreamTarget, to goal: UpstreamTarget, at now: Instant) -> Decision {
        trail.followed.removeAll { now - $0 >= policy.span }
        if trail.visited.last != source { trail.visited.append(source) }
        let isLoop = trail.visited.contains(goal)
        if isLoop || trail.followed.count >= policy.follows {
            let pause = rest(&trail, at: now)
            note(goal, at: now)
            places[goal]?.notBefore = now + min(pause, policy.longestPlacePause)
            return .rest(pause, isLoop: isLoop)
        }
        trail.visited.append(goal)
        trail.followed.append(now)
        note(goal, at: now)
        return .follow(after: wait(for: goal, at: now))
    }

    /// The presentity cannot be had where it was sent to: how long it rests before it is asked for at its origin.
    mutating func rest(_ trail: inout RedirectTrail, at now: Instant) -> TimeSpan {
        trail.setbacks += 1
        trail.lastSetback = now
        trail.visited = []
        var pause = policy.shortestRest
        for _ in 1..<min(max(trail.setbacks, 1), 32) { pause = min(pause * 2, policy.longestRest) }
        return jittered(pause)
    }

    /// The far side showed the presentity's state: it is where it belongs.
    mutating func arrived(_ trail: inout RedirectTrail?, at place: UpstreamTarget, now: Instant) {
        places[place]?.notBefore = now
        guard trail != nil else { return }
        trail?.visited = []
        trail?.followed.removeAll { now - $0 >= policy.span }
        if let last = trail?.lastSetback, now - last < policy.settled { return }
        trail?.setbacks = 0
        trail?.lastSetback = nil
        if trail?.followed.isEmpty ?? false { trail = nil }
    }

    private mutating func wait(for goal: UpstreamTarget, at now: Instant) -> TimeSpan {
        guard var place = places[goal] else { return .zero }
        defer { places[goal] = place }
        if now - place.rushStart >= .seconds(1) {
            place.rushStart = now
            place.rushCount = 0
        }
        place.rushCount += 1
        var wait = place.notBefore > now ? place.notBefore - now + jitter(.seconds(1)) : .zero
        let later = (place.rushCount - 1) / max(policy.rush, 1)
        if later > 0 { wait = max(wait, .seconds(later) + jitter(.seconds(1))) }
        return wait
    }

    private mutating func note(_ goal: UpstreamTarget, at now: Instant) {
        guard places[goal] == nil else { return }
        if places.count >= policy.places { places = places.filter { $0.value.notBefore > now } }
        if places.count >= policy.places { places = [:] }
        places[goal] = Place(notBefore: now, rushStart: now)
    }

    /// Between half of a span and the whole of it.
    private mutating func jittered(_ span: TimeSpan) -> TimeSpan { span / 2 + jitter(span / 2) }

    private mutating func jitter(_ span: TimeSpan) -> TimeSpan {
        .milliseconds(Int(random.number(below: UInt64(max(span.nanoseconds / 1_000_000, 0)) + 1)))
    }
}
