import SIPCore

/// One sign-in attempt: source address, login name, and connection (for UDP the source port).
struct SignInAttempt: Sendable {
    let host: String
    let flow: ClientFlow

    /// - Parameter user: The login name with its domain.
    init(user: String, from source: MessageSource) {
        host = source.remote.host
        // Names beyond 128 characters share a count, which bounds the size of a key.
        flow = ClientFlow(identity: String(user.lowercased().prefix(128)), connection: source.connection, remote: source.remote)
    }

    /// Key of the count: address and user.
    fileprivate var key: String { "\(host)\n\(flow.identity)" }
}

/// Counts failed sign-ins per address and user: slows password guessing without locking users out.
///
/// Only failures of senders that have proved their address are counted; forged datagrams are not. Beyond the limit, connections with
/// failures are paused until the window ends. Other connections of the same address and user are checked one at a time, at the
/// permitted rate of failures; connections of users that have signed in before are not paused.
struct FailureLimiter: Sendable {
    let failures: Int
    let window: TimeSpan
    /// Largest number of counts; beyond it the oldest is dropped.
    let userLimit: Int
    private var counts: [String: Count] = [:]
    private var order = ExpiryOrder()
    private var known: KnownFlows

    private struct Count {
        var failures = 0
        var until: Instant
        var failedFlows: Set<ClientFlow> = []
        var nextLook: Instant
    }

    init(failures: Int, window: TimeSpan, userLimit: Int, knownFlowLimit: Int) {
        self.failures = failures
        self.window = window
        self.userLimit = max(1, userLimit)
        known = KnownFlows(limit: knownFlowLimit)
    }

    var count: Int { counts.count }
    var knownFlowCount: Int { known.count }

    /// Seconds until the next attempt is allowed; nil: check the credentials now.
    mutating func pause(of attempt: SignInAttempt, at now: Instant) -> Int? {
        guard let count = counts[attempt.key], count.failures >= failures, now < count.until, !known.contains(attempt.flow) else {
            return nil
        }
        if count.failedFlows.contains(attempt.flow) { return Self.seconds(until: count.until, from: now) }
        guard now >= count.nextLook else { return Self.seconds(until: min(count.nextLook, count.until), from: now) }
        counts[attempt.key]?.nextLook = now + TimeSpan(nanoseconds: window.nanoseconds / Int64(max(1, failures)))
        return nil
    }

    mutating func noteFailure(of attempt: SignInAttempt, at now: Instant) {
        while let due = order.popDue(at: now) { counts[due] = nil }
        known.remove(attempt.flow)
        if counts[attempt.key] == nil {
            if counts.count >= userLimit, let oldest = order.popFirst() { counts[oldest.key] = nil }
            counts[attempt.key] = Count(until: now + window, nextLook: now)
            order.append(attempt.key, made: now, until: now + window)
        }
        counts[attempt.key]?.failures += 1
        if counts[attempt.key].map({ $0.failedFlows.count < 2 * failures }) == true {
            counts[attempt.key]?.failedFlows.insert(attempt.flow)
        }
    }

    mutating func noteSuccess(of attempt: SignInAttempt) {
        known.insert(attempt.flow)
        counts[attempt.key]?.failedFlows.remove(attempt.flow)
    }

    private static func seconds(until end: Instant, from now: Instant) -> Int { max(1, (end - now).seconds) }
}

/// Recent connections with a successful sign-in, in two generations; when the newer is full, it replaces the older.
private struct KnownFlows: Sendable {
    private let halfLimit: Int
    private var newer: Set<ClientFlow> = []
    private var older: Set<ClientFlow> = []

    init(limit: Int) { halfLimit = max(1, limit / 2) }

    var count: Int { newer.count + older.count }

    func contains(_ flow: ClientFlow) -> Bool { newer.contains(flow) || older.contains(flow) }

    mutating func insert(_ flow: ClientFlow) {
        guard !newer.contains(flow) else { return }
        if newer.count >= halfLimit {
            older = newer
            newer = []
        }
        newer.insert(flow)
        older.remove(flow)
    }

    mutating func remove(_ flow: ClientFlow) {
        newer.remove(flow)
        older.remove(flow)
    }
}
