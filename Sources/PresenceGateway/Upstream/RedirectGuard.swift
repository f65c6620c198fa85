import SIPCore

/// Redirections of one presentity since the remote domain last showed its state.
struct RedirectHistory: Hashable {
    /// Addresses of its subscriptions, in order.
    fileprivate(set) var visited: [UpstreamTarget] = []
    /// Times of the redirections followed within the policy's span.
    fileprivate var followed: [Instant] = []
    /// Number of rests in a row.
    fileprivate(set) var setbacks = 0
    fileprivate var lastSetback: Instant?

    init() {}
}

/// Limits the rate of `resubscribe` (MS-PRES 3.4.5.1.3.1): decides when a redirected presentity is subscribed elsewhere.
///
///     resubscribe --new place, seldom enough--> followed: at once, after the pause of that place, or spread while it has a rush
///         |
///         +--place visited before, or too often--> rests, twice as long each time, with jitter; then from its origin
struct RedirectGuard {
    struct Policy: Hashable {
        /// Most redirections of one presentity followed within `span`.
        var follows = 6
        var span = TimeSpan.seconds(3_600)
        /// First rest; doubled with each further one up to `longestRest`.
        var shortestRest = TimeSpan.seconds(10)
        var longestRest = TimeSpan.seconds(3_600)
        /// Longest pause before other presentities are sent to a place that caused a loop.
        var longestAddressPause = TimeSpan.seconds(60)
        /// Most presentities sent to one place per second; others are delayed.
        var rush = 50
        /// Time without a rest after which the number of rests is forgotten, once state is shown. A place that shows state has no pause.
        var settled = TimeSpan.seconds(600)
        /// Most places with remembered pauses.
        var addresses = 1_000
    }

    enum Decision: Hashable {
        case follow(after: TimeSpan)
        case rest(TimeSpan, isLoop: Bool)
    }

    private struct Address {
        /// Earliest time of the next subscription there.
        var notBefore: Instant
        var rushStart: Instant
        var rushCount = 0
    }

    let policy: Policy
    private var addresses: [UpstreamTarget: Address] = [:]
    private var random: TokenGenerator

    init(random: TokenGenerator, policy: Policy = Policy()) {
        self.policy = policy
        self.random = random
    }

    /// Decides about a redirection from `source` to `target`.
    mutating func decide(_ redirectHistory: inout RedirectHistory, from source: UpstreamTarget, to target: UpstreamTarget, at now: Instant)
        -> Decision
    {
        redirectHistory.followed.removeAll { now - $0 >= policy.span }
        if redirectHistory.visited.last != source { redirectHistory.visited.append(source) }
        let isLoop = redirectHistory.visited.contains(target)
        if isLoop || redirectHistory.followed.count >= policy.follows {
            let pause = rest(&redirectHistory, at: now)
            note(target, at: now)
            addresses[target]?.notBefore = now + min(pause, policy.longestAddressPause)
            return .rest(pause, isLoop: isLoop)
        }
        redirectHistory.visited.append(target)
        redirectHistory.followed.append(now)
        note(target, at: now)
        return .follow(after: wait(for: target, at: now))
    }

    /// Counts a failed redirection; returns the rest before the presentity is subscribed at its origin.
    mutating func rest(_ redirectHistory: inout RedirectHistory, at now: Instant) -> TimeSpan {
        redirectHistory.setbacks += 1
        redirectHistory.lastSetback = now
        redirectHistory.visited = []
        var pause = policy.shortestRest
        for _ in 1..<min(max(redirectHistory.setbacks, 1), 32) { pause = min(pause * 2, policy.longestRest) }
        return jittered(pause)
    }

    /// Ends the redirections of a presentity after its state was shown.
    mutating func arrived(_ redirectHistory: inout RedirectHistory?, at address: UpstreamTarget, now: Instant) {
        addresses[address]?.notBefore = now
        guard redirectHistory != nil else { return }
        redirectHistory?.visited = []
        redirectHistory?.followed.removeAll { now - $0 >= policy.span }
        if let last = redirectHistory?.lastSetback, now - last < policy.settled { return }
        redirectHistory?.setbacks = 0
        redirectHistory?.lastSetback = nil
        if redirectHistory?.followed.isEmpty ?? false { redirectHistory = nil }
    }

    private mutating func wait(for target: UpstreamTarget, at now: Instant) -> TimeSpan {
        guard var address = addresses[target] else { return .zero }
        defer { addresses[target] = address }
        if now - address.rushStart >= .seconds(1) {
            address.rushStart = now
            address.rushCount = 0
        }
        address.rushCount += 1
        var wait = address.notBefore > now ? address.notBefore - now + jitter(.seconds(1)) : .zero
        let later = (address.rushCount - 1) / max(policy.rush, 1)
        if later > 0 { wait = max(wait, .seconds(later) + jitter(.seconds(1))) }
        return wait
    }

    private mutating func note(_ target: UpstreamTarget, at now: Instant) {
        guard addresses[target] == nil else { return }
        if addresses.count >= policy.addresses { addresses = addresses.filter { $0.value.notBefore > now } }
        if addresses.count >= policy.addresses { addresses = [:] }
        addresses[target] = Address(notBefore: now, rushStart: now)
    }

    /// A random span between half of a span and the whole.
    private mutating func jittered(_ span: TimeSpan) -> TimeSpan { span / 2 + jitter(span / 2) }

    private mutating func jitter(_ span: TimeSpan) -> TimeSpan {
        .milliseconds(Int(random.number(below: UInt64(max(span.nanoseconds / 1_000_000, 0)) + 1)))
    }
}
