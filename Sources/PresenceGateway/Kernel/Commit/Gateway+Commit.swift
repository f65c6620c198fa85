import EnhancedPresence
import SIPCore
import SIPEvents
import SimplePresence

/// Group commit: 2xx responses and requests wait until the changes that they depend on are stored.
///
///     input --> tables change, responses and requests are staged --takeOutput()--> commit --stored--> they are sent
///                                                                                    |
///                                                                                    +--failed--> 2xx become 503 and are undone,
///                                                                                                 requests count as not delivered
///
/// While the store fails, requests that depend on it are refused before they change anything; changes by timers are stored with the
/// next successful commit.
extension Gateway {
    /// Marks the record of this key as changed; the next commit writes or removes it.
    func keep(_ key: StoreKey) {
        if store != nil { commitLog.unkept.insert(key) }
    }

    /// Registers how to undo a change with a staged 2xx response, in case the commit fails.
    func ifNotKept(_ undo: @escaping (Instant) -> Void) {
        if store != nil { commitLog.undo.append(undo) }
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
        guard store != nil else { return }
        // Remembered by a request that was refused and changed nothing.
        if commitLog.isIdle { (commitLog.watchersBefore, commitLog.homeDialogsBefore) = ([:], [:]) }
        for _ in 0..<8 where !commitLog.isIdle {
            let isKept = commit()
            let staged = commitLog.staged
            let undo = commitLog.undo
            let records = commitLog.recordsBefore
            let whenKept = commitLog.whenKept
            let (watchersBefore, homeDialogsBefore) = (commitLog.watchersBefore, commitLog.homeDialogsBefore)
            commitLog.staged = []
            commitLog.undo = []
            commitLog.recordsBefore = [:]
            commitLog.whenKept = []
            commitLog.watchersBefore = [:]
            commitLog.homeDialogsBefore = [:]
            let now = commitLog.now
            if isKept {
                for step in whenKept { step(now) }
                for entry in staged { release(entry, at: now) }
                notifyUnsent(at: now)
                verifyUnheard(at: now)
            } else {
                for (tag, record) in records { dialogs[tag]?.lastNotification = record }
                revertDialogs(watchersBefore, homeDialogsBefore, at: now)
                for step in undo.reversed() { step(now) }
                for entry in staged { takeBack(entry, at: now) }
            }
            if !isKept { return }
        }
    }

    /// - Returns: whether the store holds the present state of the tables.
    private func commit() -> Bool {
        guard let store, commitLog.hasChanges else { return true }
        if let until = commitLog.failingUntil, commitLog.now < until { return false }
        var changes = commitLog.unkept.map { key in flows.record(of: key).map(StoreChange.put) ?? .remove(key) }
        changes.append(.clock(StoredClock(committed: commitLog.now, step: clockStep)))
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
            begin(request, by: requestRoute, for: origin, at: now)
        case .unanswered(let request, let requestRoute, let origin):
            emit(request, by: requestRoute, for: origin, at: now)
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
            let side = screening.side(of: response.headers.cSeq?.method, response.headers)
            notKeptRefusal.apply(to: &refused, side: side, node: configuration.nodeName)
            refused.headers.set(.server, Self.product)
            deliver(refused, transaction, at: now)
        case .request(_, _, let origin), .unanswered(_, _, let origin):
            client(of: origin.ticket)?.notSent(origin, at: now)
        }
    }

    /// Sends the newest state in dialogs with a notification that was not stored, once the store works again.
    private func notifyUnsent(at now: Instant) {
        guard !commitLog.unsent.isEmpty, commitLog.failingUntil == nil else { return }
        let tags = commitLog.unsent.sorted()
        commitLog.unsent = []
        for tag in tags {
            if let watcher = dialogs[tag] { perform(watcher.notifier.watcherReturned(at: now), on: watcher, at: now) }
            if let subscription = home.dialogs[tag], !subscription.isDetached {
                perform(subscription.notifier.watcherReturned(at: now), on: subscription, at: now)
            }
        }
    }

    /// Saves the dialog's notification record before another notification is staged.
    func noteStaged(_ watcher: WatcherDialog) {
        if store != nil, commitLog.recordsBefore[watcher.localTag] == nil {
            commitLog.recordsBefore[watcher.localTag] = watcher.lastNotification
        }
    }

    /// Handles a notification that was not sent because it could not be stored; the next successful commit sends the newest state.
    func notSent(_ watcher: WatcherDialog, at now: Instant) {
        guard dialogs[watcher.localTag] === watcher else { return }
        watcher.forgetDelivered()
        if store != nil { commitLog.unsent.insert(watcher.localTag) }
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        perform(watcher.notifier.notificationNotSent(retryIn: pause, at: now), on: watcher, at: now)
    }

    /// Saves the presentity's publications, to restore them if the coming change cannot be stored.
    func undoable(_ key: String) {
        guard store != nil else { return }
        let before = presentities[key]?.published
        ifNotKept { [unowned self] now in
            guard let presentity = presentities[key] ?? before.map({ makePresentity(key, $0.uri) }) else { return }
            presentities[key] = presentity
            presentity.revert(to: before ?? makePresentity(key, presentity.uri).published)
            composeAgain(presentity)
            presentity.noteTimedMoment(at: now)
            placeWatchers(of: presentity, before: presentity.enhanced.withoutBlocks(), at: now)
            notifyWatchers(of: presentity, at: now)
            settle(presentity)
            schedule(presentity)
        }
    }
}
