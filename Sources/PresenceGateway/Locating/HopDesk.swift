import FederationRouting
import SIPCore

/// What a shard knows of its next hops: where they are, which are down, who waits to hear.
struct HopDesk {
    /// What was found for a goal.
    struct Known {
        var result: Result<HopPlan, HopFailure>
        var until: Instant
        /// Servers that the Domain Name System named last, for when it does not answer.
        var last: (plan: HopPlan, until: Instant)?
        /// By what the servers were reached that were found last; TLS if it was among it.
        var transport: TransportProtocol?
    }

    struct Lookup {
        var locator: HopLocator
        var open: Set<NameQuestion> = []
        var waiting: [Delivery] = []
        /// Requests of others, whose senders are known when the servers are.
        var held: [InboundMessage] = []
    }

    var cache: NameCache
    var health: TargetHealth
    var random: TokenGenerator
    var known: [HopGoal: Known] = [:]
    private var ends = DeadlineQueue<HopGoal>()
    var lookups: [HopGoal: Lookup] = [:]
    /// Open questions, and for what each is asked.
    var asking: [NameQuestion: Set<HopGoal>] = [:]
    /// To be taken by the edge.
    var questions: [NameQuestion] = []
    var waiting = 0
    /// What is on its way, by its present transaction.
    var deliveries: [ClientTransactionID: Delivery] = [:]
    /// What cannot be sent; told when the present input is done with.
    var undeliverable: [(delivery: Delivery, failure: HopFailure)] = []

    init(_ naming: NamingConfiguration, random: TokenGenerator) {
        cache = NameCache(bounds: naming.cache)
        health = TargetHealth(policy: naming.health)
        self.random = random
    }

    /// What is known of a goal and holds now.
    func result(for goal: HopGoal, at now: Instant) -> Result<HopPlan, HopFailure>? {
        guard let known = known[goal], now < known.until else { return nil }
        return known.result
    }

    /// Keeps what was found; a failure of the Domain Name System itself leaves in use what was known before.
    /// - Returns: what to go by now.
    mutating func keep(
        _ result: Result<HopPlan, HopFailure>, for goal: HopGoal, _ naming: NamingConfiguration, at now: Instant
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
            let last = known[goal]?.last
            entry = Known(result: result, until: now + (failure.timeToLive ?? naming.cache.failure))
            entry.transport = known[goal]?.transport
            if failure.kind == .unknown, let last, now < last.until {
                entry.result = .success(last.plan)
                // Each new look at it may take as long as a request waits.
                entry.until = now + max(naming.outagePause, naming.cache.failure)
                entry.last = last
            }
        }
        if known[goal] == nil, known.count >= naming.goals, let first = ends.popDue(at: .init(nanosecondsSince1970: .max)) {
            known[first] = nil
        }
        guard naming.goals > 0 else { return entry.result }
        known[goal] = entry
        ends.set(goal, at: entry.last?.until ?? entry.until)
        return entry.result
    }

    /// A target failed.
    /// - Returns: whether it was up before.
    mutating func noteDown(_ target: TransportAddress, _ reason: String, retryAfter: Int?, at now: Instant) -> Bool {
        health.failed(target, reason, retryAfter: retryAfter, at: now, using: &random)
    }

    /// Forgets every lookup's share in a question.
    mutating func forget(_ questions: Set<NameQuestion>, of goal: HopGoal) {
        for question in questions {
            asking[question]?.remove(goal)
            if asking[question]?.isEmpty ?? false { asking[question] = nil }
        }
    }
}
