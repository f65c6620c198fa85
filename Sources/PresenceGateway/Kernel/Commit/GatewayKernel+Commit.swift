import SIPCore

/// Commits beside the event loop: 2xx responses and requests wait until the changes that they depend on are stored.
///
///     input --> tables change, messages wait --takeOutput()--> commit is submitted --stored--> messages are sent, in order
///                                                                    |
///                                                                    +--failed, or of unknown outcome--> answers become 503, requests
///                                                                         count as not sent, and the changed records are read again
///
/// A message depends on the newest commit that changes its users or its dialog; others do not wait. While the store fails, requests
/// that depend on it are refused before they change anything; changes by timers are stored with the next successful commit.
extension GatewayKernel {
    /// Marks the record of this key as changed; the next commit writes or removes it.
    func keep(_ key: StoreKey) {
        if commitLog.store != nil { commitLog.note(key) }
    }

    /// Runs a step once the changes made until now are stored; at once without a store.
    func whenKept(at now: Instant, _ step: @escaping (Instant) -> Void) {
        if commitLog.store == nil { step(now) } else { commitLog.add(step: step) }
    }

    /// - Parameter changesNothing: whether the request is one that is answered from the tables.
    /// - Throws: 503 while the store fails, or if too many messages wait for it. What changes nothing is refused only while records are
    ///   read again, whatever it asks for: the answer to a politely blocked watcher must not depend on the presentity.
    func checkStore(changesNothing: @autoclosure () -> Bool, at now: Instant) throws(Refusal) {
        switch commitLog.phase {
        case .reading: throw notKeptRefusal
        case .restarting: throw .unavailable("this node is starting", retryAfter: configuration.timing.retryAfter)
        case .working, .failing: break
        }
        if commitLog.waitingMessages >= configuration.limits.pendingOutput, !changesNothing() {
            counters.limitsReached += 1
            throw .unavailable("too many changes wait for the store", retryAfter: configuration.timing.retryAfter)
        }
        guard commitLog.isRefusing(at: now), !changesNothing() else { return }
        throw notKeptRefusal
    }

    /// Answers 503 to a request if its changes cannot be committed.
    var notKeptRefusal: Refusal { .unavailable("this node cannot keep any change now", retryAfter: configuration.timing.retryAfter) }

    /// Reason for a request that was not sent because a change that it depends on was not stored.
    static let notKeptReason = "not kept"

    // MARK: messages

    /// Sends a value to another shard, once the changes that it depends on are stored.
    /// - Parameter flow: the flow that is told if it is not sent.
    func post(_ value: any Sendable, to shard: Int, in scope: CommitScope, from flow: FlowID) {
        guard commitLog.store != nil else { return mailboxes.post(value, to: shard) }
        commitLog.add(WaitingMessage(content: .value(value, shard: shard, flow), scope: scope))
    }

    /// Sends an answer, once the changes of its scope are stored; at once without a store.
    func reply(_ reply: WaitingReply, in scope: CommitScope) {
        guard commitLog.store != nil else { return reply.send() }
        commitLog.add(WaitingMessage(content: .reply(reply), scope: scope))
    }

    /// Number of the newest commit that changes a record of one of the users and is not stored; 0: none.
    func dependency(on keys: some Sequence<String>) -> UInt64 {
        guard commitLog.hasUnstored else { return 0 }
        return keys.reduce(0) { max($0, commitLog.dependencies[$1]) }
    }

    /// Sends the messages of the round that depend on no commit; the others wait for theirs. None overtakes another one of its dialog.
    private func sendRound(at now: Instant) {
        for message in commitLog.takeRound() {
            guard commitLog.hasUnstored else {
                release(message, at: now)
                continue
            }
            let scope = message.scope ?? message.scopeByHeaders
            let number = commitLog.dependencies.newest(in: scope)
            if number == 0 {
                release(message, at: now)
            } else if message.isAnswer, commitLog.isRefusing(at: now) {
                refuse(message, at: now)
            } else if number == CommitDependencies.unknown {
                commitLog.add(unsent: message)
            } else {
                commitLog.add(message, waitingFor: number, ofDialog: scope.dialog)
            }
        }
    }

    private func release(_ message: WaitingMessage, at now: Instant) {
        switch message.content {
        case .answer(let response, let transaction):
            deliver(response, transaction, at: now)
        case .request(let request, let requestRoute, let origin):
            delivery.begin(request, by: requestRoute, for: origin, at: now)
        case .unanswered(let request, let requestRoute, let origin):
            delivery.emit(request, by: requestRoute, for: origin, at: now)
        case .reply(let reply):
            reply.send()
        case .value(let value, let shard, _):
            mailboxes.post(value, to: shard)
        }
    }

    /// Answers 503, or reports a request as not sent, because the changes were not stored.
    private func refuse(_ message: WaitingMessage, at now: Instant) {
        switch message.content {
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
        case .reply(let reply):
            reply.refuse(notKeptRefusal)
        case .value(let value, _, let flow):
            clients[Int(flow.rawValue) - 1].notSent(value, at: now)
        }
    }

    // MARK: commits

    /// Submits the changes; if the gateway carries out the requests to the store itself, until nothing waits. The loop ends because
    /// repeated requests wait for a timer.
    func settleStore() {
        guard commitLog.store != nil else { return }
        for _ in 0..<8 {
            let now = commitLog.now
            sendRound(at: now)
            submit(at: now)
            if !commitLog.isDeferred {
                for request in commitLog.takeRequests() { commitLog.perform(request).map { receive($0, at: now) } }
            }
            guard !commitLog.hasRound, commitLog.isDeferred || !commitLog.hasRequests else { continue }
            if commitLog.open.isEmpty || !commitLog.isWorking || commitLog.inFlight.count >= CommitLog.flightLimit { return }
        }
    }

    private func submit(at now: Instant) {
        guard commitLog.prepareSubmission(at: now) else { return }
        guard commitLog.open.hasChanges else {
            if let unchanged = commitLog.takeUnchanged() { finish(unchanged, at: now) }
            return
        }
        guard commitLog.inFlight.count < CommitLog.flightLimit else { return }
        var changes = commitLog.open.keys.map { key in host.record(of: key).map(StoreChange.put) ?? .remove(key) }
        changes.append(.clock(StoredClock(committed: now, step: commitLog.clockStep)))
        commitLog.submit(changes)
    }

    private func finish(_ batch: CommitLog.Batch, at now: Instant) {
        for step in batch.steps { step(now) }
        for message in batch.messages { release(message, at: now) }
    }

    /// Handles the result of a request to the store.
    func receive(_ result: StoreResult, at now: Instant) {
        commitLog.noteInput(at: now)
        switch result {
        case .committed(let number):
            noteDuration(ofCommit: number, at: now)
            committed(number, at: now)
        case .failed(let number, let failure):
            noteDuration(ofCommit: number, at: now)
            failed(number, failure, at: now)
        case .read(let number, let records):
            guard number == commitLog.lastRead, case .reading(let keys, retryAt: nil) = commitLog.phase else { return }
            wasRead(keys, records, at: now)
        }
    }

    private func noteDuration(ofCommit number: UInt64, at now: Instant) {
        guard let oldest = commitLog.inFlight.first, oldest.number == number, let submittedAt = oldest.submittedAt else { return }
        counters.durations.commits.note(now - submittedAt)
    }

    private func committed(_ number: UInt64, at now: Instant) {
        guard let batch = commitLog.take(committed: number) else { return }
        if commitLog.noteWorking() { log(.notice, "the store keeps changes again", ["changes": String(batch.keys.count)]) }
        finish(batch, at: now)
        for client in clients { client.storeWorks(at: now) }
    }

    private func failed(_ number: UInt64, _ failure: StoreFailure, at now: Instant) {
        guard let given = commitLog.giveUp(failed: number) else { return }
        counters.commitsFailed += 1
        log(.error, "the store cannot keep changes", ["reason": failure.description, "changes": String(given.changes)])
        for answer in given.answers { refuse(answer, at: now) }
    }

    private func wasRead(_ keys: Set<StoreKey>, _ records: Result<[StoreRecord], StoreFailure>, at now: Instant) {
        let next = now + CommitLog.pause
        timers.set(KernelTimer.store, at: next)
        switch records {
        case .success(let records):
            let unsent = commitLog.endReading(keys, retryAt: next)
            host.reload(keys, records, at: now)
            for message in unsent { refuse(message, at: now) }
        case .failure(let failure):
            log(.error, "the store cannot be read", ["reason": failure.description])
            commitLog.noteUnread(keys, retryAt: next)
        }
    }
}
