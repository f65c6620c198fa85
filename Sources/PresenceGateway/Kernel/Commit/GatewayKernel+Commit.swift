import SIPCore

/// Group commit: 2xx responses and requests wait until the changes that they depend on are stored.
///
///     input --> tables change, responses and requests are staged --takeOutput()--> commit --stored--> they are sent
///                                                                                    |
///                                                                                    +--failed--> 2xx become 503 and are undone,
///                                                                                                 requests count as not delivered
///
/// While the store fails, requests that depend on it are refused before they change anything; changes by timers are stored with the
/// next successful commit.
extension GatewayKernel {
    /// Marks the record of this key as changed; the next commit writes or removes it.
    func keep(_ key: StoreKey) {
        if commitLog.store != nil { commitLog.unkept.insert(key) }
    }

    /// Registers how to undo a change with a staged 2xx response, in case the commit fails.
    func ifNotKept(_ undo: @escaping (Instant) -> Void) {
        if commitLog.store != nil { commitLog.undo.append(undo) }
    }

    /// Runs a step once the changes of this round are committed; at once without a store.
    func whenKept(at now: Instant, _ step: @escaping (Instant) -> Void) {
        if commitLog.store == nil { step(now) } else { commitLog.whenKept.append(step) }
    }

    /// - Throws: 503 while the store fails.
    func checkStore(at now: Instant) throws(Refusal) {
        guard let until = commitLog.failingUntil, now < until else { return }
        throw notKeptRefusal
    }

    /// Answers 503 to a request if its changes cannot be committed.
    var notKeptRefusal: Refusal { .unavailable("this node cannot keep any change now", retryAfter: configuration.timing.retryAfter) }

    /// Commits, and releases or takes back what was staged. Either may stage more; the loop ends because repeated requests wait for a
    /// timer.
    func settleStore() {
        guard commitLog.store != nil else { return }
        if commitLog.isIdle { for client in clients { client.committed() } }
        for _ in 0..<8 where !commitLog.isIdle {
            let isKept = commit()
            let staged = commitLog.staged
            let undo = commitLog.undo
            let whenKept = commitLog.whenKept
            commitLog.staged = []
            commitLog.undo = []
            commitLog.whenKept = []
            let now = commitLog.now
            if isKept {
                for client in clients { client.committed() }
                for step in whenKept { step(now) }
                for entry in staged { release(entry, at: now) }
                if commitLog.failingUntil == nil {
                    for client in clients { client.storeWorks(at: now) }
                }
            } else {
                for client in clients { client.commitFailed(at: now) }
                for step in undo.reversed() { step(now) }
                for entry in staged { takeBack(entry, at: now) }
            }
            if !isKept { return }
        }
    }

    /// - Returns: whether the store holds the present state of the tables.
    private func commit() -> Bool {
        guard let store = commitLog.store, commitLog.hasChanges else { return true }
        if let until = commitLog.failingUntil, commitLog.now < until { return false }
        var changes = commitLog.unkept.map { key in host.record(of: key).map(StoreChange.put) ?? .remove(key) }
        changes.append(.clock(StoredClock(committed: commitLog.now, step: commitLog.clockStep)))
        do throws(StoreFailure) {
            try store.commit(changes)
        } catch {
            counters.commitsFailed += 1
            log(.error, "the store cannot keep changes", ["reason": error.description, "changes": String(changes.count)])
            commitLog.failingUntil = commitLog.now + CommitLog.pause
            timers.set(KernelTimer.store, at: commitLog.failingUntil)
            return false
        }
        if commitLog.failingUntil != nil { log(.notice, "the store keeps changes again", ["changes": String(changes.count)]) }
        commitLog.failingUntil = nil
        commitLog.isClockDue = false
        commitLog.unkept.removeAll(keepingCapacity: true)
        return true
    }

    private func release(_ entry: Staged, at now: Instant) {
        switch entry {
        case .answer(let response, let transaction):
            deliver(response, transaction, at: now)
        case .request(let request, let requestRoute, let origin):
            delivery.begin(request, by: requestRoute, for: origin, at: now)
        case .unanswered(let request, let requestRoute, let origin):
            delivery.emit(request, by: requestRoute, for: origin, at: now)
        }
    }

    /// Reason for a request that was not sent because a change that it depends on was not stored.
    static let notKeptReason = "not kept"

    private func takeBack(_ entry: Staged, at now: Instant) {
        switch entry {
        case .answer(let response, let transaction):
            var refused = SIPResponse(.serviceUnavailable)
            for name in [SIPHeaderName.via, .from, .to, .callID, .cSeq] {
                for value in response.headers.values(name) { refused.headers.append(name, value) }
            }
            notKeptRefusal.apply(to: &refused, side: host.side(ofResponse: response), node: configuration.nodeName)
            refused.headers.set(.server, Self.product)
            deliver(refused, transaction, at: now)
        case .request(_, _, let origin), .unanswered(_, _, let origin):
            client(of: origin.ticket)?.notSent(origin, at: now)
        }
    }
}
