import FederationRouting
import SIPCore

/// State of a shard's next hops: results, health, running lookups and waiting requests.
struct NextHopResolver {
    /// Result of a lookup.
    struct Known {
        var result: Result<HopPlan, HopFailure>
        var until: Instant
        /// Servers of the last successful lookup, for DNS outages.
        var last: (plan: HopPlan, until: Instant)?
        /// Transport of the servers found last: TLS if one of them uses it.
        var transport: TransportProtocol?
    }

    struct Lookup {
        let key: SlabKey
        var locator: HopLocator
        var open: Set<NameQuestion> = []
        var waiting: [Delivery] = []
        /// Messages received from senders that cannot be checked before the servers are located.
        var held: [InboundMessage] = []
    }

    var cache: NameCache
    var health: TargetHealth
    var random: TokenGenerator
    var known: [HopTarget: Known] = [:]
    private var ends = DeadlineQueue<HopTarget>()
    var lookups: [HopTarget: Lookup] = [:]
    /// Hop targets of the running lookups, by the keys of their timers.
    var lookupKeys = Slab<HopTarget>()
    /// Open questions with the hop targets that need them.
    var asking: [NameQuestion: Set<HopTarget>] = [:]
    /// Questions that the edge has not taken yet.
    var questions: [NameQuestion] = []
    private(set) var waiting = 0
    /// Requests on their way, by present transaction.
    var deliveries: [ClientTransactionID: Delivery] = [:]
    /// Requests that cannot be sent; reported after the present input.
    private(set) var undeliverable: [(delivery: Delivery, failure: HopFailure)] = []

    init(_ naming: NamingConfiguration, random: TokenGenerator) {
        cache = NameCache(bounds: naming.cache)
        health = TargetHealth(policy: naming.health)
        self.random = random
    }

    /// The valid result for a hop target; nil: none.
    func result(for hopTarget: HopTarget, at now: Instant) -> Result<HopPlan, HopFailure>? {
        guard let known = known[hopTarget], now < known.until else { return nil }
        return known.result
    }

    /// Stores the result of a lookup; after a DNS failure the servers known before stay in use.
    /// - Returns: the result to use now.
    mutating func keep(
        _ result: Result<HopPlan, HopFailure>, for hopTarget: HopTarget, _ naming: NamingConfiguration, at now: Instant
    ) -> Result<HopPlan, HopFailure> {
        var entry: Known
        switch result {
        case .success(let plan):
            let until = plan.timeToLive.map { now + $0 } ?? Instant(nanosecondsSince1970: .max)
            entry = Known(result: result, until: until)
            let transports = plan.servers.flatMap(\.addresses).map(\.transport)
            entry.transport = transports.contains(.tls) ? .tls : transports.first
            if plan.timeToLive != nil { entry.last = (plan, until + naming.staleness) }
        case .failure(let failure):
            let last = known[hopTarget]?.last
            entry = Known(result: result, until: now + (failure.timeToLive ?? naming.cache.failure))
            entry.transport = known[hopTarget]?.transport
            if failure.kind == .unknown, let last, now < last.until {
                entry.result = .success(last.plan)
                // A repeated lookup may block for as long as a request waits, so do not repeat it sooner.
                entry.until = now + max(naming.outagePause, naming.cache.failure)
                entry.last = last
            }
        }
        if known[hopTarget] == nil, known.count >= naming.hopTargets, let first = ends.popDue(at: .init(nanosecondsSince1970: .max)) {
            known[first] = nil
        }
        guard naming.hopTargets > 0 else { return entry.result }
        known[hopTarget] = entry
        ends.set(hopTarget, at: entry.last?.until ?? entry.until)
        return entry.result
    }

    /// Records a failed target.
    /// - Returns: whether it was up before.
    mutating func noteDown(_ target: TransportAddress, _ reason: String, retryAfter: Int?, at now: Instant) -> Bool {
        health.failed(target, reason, retryAfter: retryAfter, at: now, using: &random)
    }

    // MARK: waiting requests

    /// Keeps a request until a running lookup ends.
    mutating func wait(_ delivery: Delivery, for hopTarget: HopTarget) {
        waiting += 1
        lookups[hopTarget]?.waiting.append(delivery)
    }

    /// Keeps a received message until a running lookup ends.
    mutating func hold(_ message: InboundMessage, for hopTarget: HopTarget) {
        waiting += 1
        lookups[hopTarget]?.held.append(message)
    }

    /// Removes a lookup with its open questions; nil: none is running.
    mutating func endLookup(of hopTarget: HopTarget) -> Lookup? {
        guard let lookup = lookups.removeValue(forKey: hopTarget) else { return nil }
        lookupKeys.remove(lookup.key)
        forget(lookup.open, of: hopTarget)
        waiting -= lookup.waiting.count + lookup.held.count
        return lookup
    }

    /// Keeps a request that cannot be sent until it is reported.
    mutating func postpone(_ delivery: Delivery, _ failure: HopFailure) { undeliverable.append((delivery, failure)) }

    /// Removes and returns the requests that cannot be sent.
    mutating func takeUndeliverable() -> [(delivery: Delivery, failure: HopFailure)] {
        defer { undeliverable = [] }
        return undeliverable
    }

    /// Returns the questions since the last call.
    mutating func takeQuestions() -> [NameQuestion] {
        guard !questions.isEmpty else { return [] }
        defer { questions = [] }
        return questions
    }

    /// Applies new limits and pauses.
    mutating func use(_ naming: NamingConfiguration) {
        cache.use(naming.cache)
        health.use(naming.health)
    }

    /// Removes a hop target from the open questions.
    private mutating func forget(_ questions: Set<NameQuestion>, of hopTarget: HopTarget) {
        for question in questions {
            asking[question]?.remove(hopTarget)
            if asking[question]?.isEmpty ?? false { asking[question] = nil }
        }
    }
}
