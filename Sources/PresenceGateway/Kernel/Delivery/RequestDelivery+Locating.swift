import FederationRouting
import SIPCore

/// Location of the servers of a next hop (RFC 3263): DNS questions, and the requests that wait for the answers.
///
///     deliver --servers known----------------------------------------> start (RequestDelivery+Failover)
///        |                                                               ^
///        +--waits--> HopLocator --takeQuestions()--> edge --.answered----+
///                        \--too long, or there are none--> failure
extension RequestDelivery {
    /// The DNS questions since the last call, to be asked by the caller.
    func takeQuestions() -> [NameQuestion] { hops.takeQuestions() }

    /// Sends a request to one of the servers of a hop target, once they are known.
    func deliver(_ request: SIPRequest, to hopTarget: HopTarget, for origin: RequestOrigin, isAnswered: Bool, at now: Instant) {
        let delivery = Delivery(request, for: origin, isAnswered: isAnswered, hopTarget: hopTarget, at: now)
        guard let naming = kernel.configuration.naming else {
            return postpone(delivery, HopFailure(.unknown, "names are not looked up by this node"), at: now)
        }
        if let known = hops.result(for: hopTarget, at: now) { return resume(delivery, known, at: now) }
        // Checked before a lookup starts, so that requests to ever new domains do not start lookups faster than they end.
        guard hops.waiting < naming.waiting, hops.lookups[hopTarget]?.waiting.count ?? 0 < naming.waitingPerTarget else {
            kernel.counters.limitsReached += 1
            return postpone(delivery, HopFailure(.unknown, "too many requests wait for the servers of \(hopTarget.host)"), at: now)
        }
        if let found = lookUp(hopTarget, naming, at: now) { return resume(delivery, found, at: now) }
        hops.wait(delivery, for: hopTarget)
    }

    private func resume(_ delivery: Delivery, _ result: Result<HopPlan, HopFailure>, at now: Instant) {
        switch result {
        case .success(let plan): start(delivery, plan, at: now)
        case .failure(let failure): postpone(delivery, failure, at: now)
        }
    }

    /// Outcome of holding a message until a hop target is located.
    enum Holding {
        /// Nothing has to be located any more.
        case found
        /// The message is received again after the lookup.
        case waiting
        /// Too many messages wait already.
        case full
    }

    /// Per-hop target cap of waiting messages: forged senders must not exhaust memory.
    private static let heldPerTarget = 64

    /// Holds a message until a hop target is located.
    func hold(_ message: InboundMessage, for hopTarget: HopTarget, _ naming: NamingConfiguration, at now: Instant) -> Holding {
        if hops.lookups[hopTarget] == nil { _ = lookUp(hopTarget, naming, at: now) }
        guard let lookup = hops.lookups[hopTarget] else { return .found }
        guard hops.waiting < naming.waiting, lookup.held.count < min(Self.heldPerTarget, naming.waitingPerTarget) else {
            kernel.counters.limitsReached += 1
            return .full
        }
        hops.hold(message, for: hopTarget)
        return .waiting
    }

    /// Starts the lookup of a hop target; nil: it takes time, or one is running.
    private func lookUp(_ hopTarget: HopTarget, _ naming: NamingConfiguration, at now: Instant) -> Result<HopPlan, HopFailure>? {
        guard hops.lookups[hopTarget] == nil else { return nil }
        let key = hops.lookupKeys.insert(hopTarget)
        hops.lookups[hopTarget] = NextHopResolver.Lookup(key: key, locator: HopLocator(hopTarget, prefersIPv6: naming.prefersIPv6))
        kernel.timers.set(KernelTimer.lookup(key), at: now + naming.wait)
        return pursue(hopTarget, at: now)
    }

    /// Continues a lookup as far as the answers allow.
    @discardableResult
    private func pursue(_ hopTarget: HopTarget, at now: Instant) -> Result<HopPlan, HopFailure>? {
        while let step = hops.lookups[hopTarget]?.locator.step() {
            switch step {
            case .found(let plan): return finish(hopTarget, .success(plan), at: now)
            case .failed(let failure): return finish(hopTarget, .failure(failure), at: now)
            case .ask(let questions):
                var isAnswered = false
                for question in questions where hops.lookups[hopTarget]?.open.contains(question) == false {
                    if let answer = hops.cache.answer(to: question, at: now) {
                        hops.lookups[hopTarget]?.locator.receive(answer, to: question)
                        kernel.counters.nameCacheHits += 1
                        isAnswered = true
                        continue
                    }
                    if hops.asking[question] == nil {
                        kernel.counters.nameQuestions += 1
                        hops.questions.append(question)
                    }
                    hops.asking[question, default: []].insert(hopTarget)
                    hops.lookups[hopTarget]?.open.insert(question)
                }
                if !isAnswered { return nil }
            }
        }
        return nil
    }

    /// Handles an answer from the edge; answers to unknown questions are ignored.
    func receive(_ answer: NameAnswer, to question: NameQuestion, at now: Instant) {
        guard let hopTargets = hops.asking.removeValue(forKey: question) else { return }
        if case .failed(let reason) = answer.outcome {
            kernel.counters.nameFailures += 1
            kernel.log(.notice, "name lookup failed", ["question": question.description, "reason": reason.rawValue])
        }
        let kept = hops.cache.keep(answer, to: question, at: now)
        for hopTarget in hopTargets.sorted(by: { $0.description < $1.description }) {
            hops.lookups[hopTarget]?.open.remove(question)
            hops.lookups[hopTarget]?.locator.receive(kept, to: question)
            pursue(hopTarget, at: now)
        }
    }

    /// Ends a lookup that takes too long: open questions count as failed, and the known answers decide.
    func abandonLookup(_ key: SlabKey, at now: Instant) {
        guard let hopTarget = hops.lookupKeys[key], let lookup = hops.lookups[hopTarget], let naming = kernel.configuration.naming else {
            return
        }
        let silence = NameAnswer(.failed(.timeout), timeToLive: naming.outagePause)
        var locator = lookup.locator
        for question in lookup.open.sorted(by: { $0.description < $1.description }) {
            kernel.counters.nameFailures += 1
            kernel.log(.notice, "name lookup failed", ["question": question.description, "reason": NameFailure.timeout.rawValue])
            locator.receive(silence, to: question)
        }
        while true {
            switch locator.step() {
            case .found(let plan):
                finish(hopTarget, .success(plan), at: now)
                return
            case .failed(let failure):
                finish(hopTarget, .failure(failure), at: now)
                return
            case .ask(let questions):
                for question in questions { locator.receive(hops.cache.answer(to: question, at: now) ?? silence, to: question) }
            }
        }
    }

    @discardableResult
    private func finish(_ hopTarget: HopTarget, _ result: Result<HopPlan, HopFailure>, at now: Instant) -> Result<HopPlan, HopFailure> {
        guard let lookup = hops.endLookup(of: hopTarget), let naming = kernel.configuration.naming else { return result }
        kernel.timers.set(KernelTimer.lookup(lookup.key), at: nil)
        let result = hops.keep(result, for: hopTarget, naming, at: now)
        // Keep zero-TTL results for 1 s so that waiting requests can use them.
        kernel.host.noteLocated(result, of: hopTarget, until: max(hops.known[hopTarget]?.until ?? now, now + .seconds(1)))
        for delivery in lookup.waiting { resume(delivery, result, at: now) }
        for message in lookup.held { kernel.receive(message, at: now) }
        return result
    }

    // MARK: failures

    /// Reports the failure after the present input, because callers do not expect it while they send.
    private func postpone(_ delivery: Delivery, _ failure: HopFailure, at now: Instant) {
        hops.postpone(delivery, failure)
        kernel.timers.set(KernelTimer.undeliverable, at: now)
    }

    func reportUndeliverable(at now: Instant) {
        for (delivery, failure) in hops.takeUndeliverable() { reportUndeliverable(delivery, failure, at: now) }
    }

    private func reportUndeliverable(_ delivery: Delivery, _ failure: HopFailure, at now: Instant) {
        kernel.counters.hopsNotLocated += 1
        kernel.log(
            .notice, "next hop not located",
            [
                "method": delivery.request.method.rawValue, "goal": delivery.hopTarget.description, "reason": failure.description,
                "call-id": delivery.request.headers.callID ?? "",
            ])
        if delivery.isAnswered { kernel.host.noteSilence(of: delivery.origin, failure.description, .transport, at: now) }
        kernel.client(of: delivery.origin.ticket)?.notLocated(delivery.origin, failure, at: now)
    }
}
