import SIPCore

/// One attempt to sign in: the address that it comes from, the user whose password it tries, and the connection (over UDP: the port).
struct SignInAttempt: Sendable {
    let host: String
    let flow: ClientFlow

    /// - Parameter user: The login name that is tried, with its domain.
    init(user: String, from source: MessageSource) {
        host = source.remote.host
        // Long names share a count with others: a key of the table has a bounded size.
        flow = ClientFlow(identity: String(user.lowercased().prefix(128)), connection: source.connection, remote: source.remote)
    }

    /// Failures are counted per address and user.
    fileprivate var key: String { "\(host)\n\(flow.identity)" }
}

/// Counts failed sign-ins per address and user, so that passwords cannot be guessed quickly and guesses do not lock users out.
///
/// Only failures whose sender has shown that it receives at its address are noted here; forged datagrams never are. After too many, the
/// connections that failed are paused until the window ends. Connections of the same address and user without a failure are looked at
/// one by one, at the rate at which failures are allowed, and connections over which the user has signed in before are never paused.
struct FailureLimiter: Sendable {
    let failures: Int
    let window: TimeSpan
    /// Pairs of address and user that are counted at once; beyond it the oldest count is dropped.
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

    /// Seconds until an attempt may be made; nil: its credentials are to be checked now.
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

/// The connections over which users have signed in last, in two halves, the older of which is dropped when the newer is full.
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
