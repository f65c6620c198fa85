import SIPCore
import SIPEvents

/// Write-behind of what watchers were last notified of (docs/decisions/write-behind.md).
///
///     NOTIFY --> waiting --quiet--> settled: record with the notified state, in a commit that no message waits for
///                  |  ^
///                  +--+ notified meanwhile, without response, or while the store fails
///
/// A dialog whose watcher is away or gets the full state next stays unsettled; its next notification lets it wait again.
final class DialogSettlement: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The notifier, which owns this part.
    private unowned let notifier: SubscriptionsFlow
    /// Dialogs by the time at which they may be quiet.
    private var waiting = DeadlineQueue<Ticket>()
    /// Time of the timer; nil: none is set.
    private var timerAt: Instant?

    /// Time without a notification after which a record is settled.
    static let quiet = TimeSpan.seconds(30)
    /// Records are settled at multiples of this time, so that one commit has many of them.
    private static let round = TimeSpan.seconds(10)
    /// Largest number of records in one commit, and the pause before the next one, so that other commits are not delayed.
    private static let batch = 256
    private static let pause = TimeSpan.milliseconds(50)
    /// Pause of an orderly stop until a missing response is looked for again.
    private static let stopPause = TimeSpan.seconds(1)

    private static let ticket = Ticket(.subscriptions, only: 2)

    init(_ notifier: SubscriptionsFlow) {
        kernel = notifier.kernel
        context = notifier.context
        self.notifier = notifier
    }

    /// Number of entries by table.
    var sizes: [String: Int] { ["unsettledDialogs": waiting.count] }

    /// Whether no dialog waits.
    var isEmpty: Bool { waiting.count == 0 }

    static func isTicket(_ ticket: Ticket) -> Bool { ticket == Self.ticket }

    // MARK: inputs

    /// Lets a dialog wait after a notification.
    func add(_ watcher: WatcherDialog, at now: Instant) {
        guard !watcher.record.isQueued else { return }
        queue(watcher, until: now + (isShuttingDown ? Self.stopPause : Self.quiet))
    }

    /// Removes a dialog that ended.
    func remove(_ watcher: WatcherDialog) {
        guard watcher.record.isQueued else { return }
        watcher.queueForSettlement(false)
        waiting.set(watcher.ticket, at: nil)
        if isEmpty { arm(at: nil) }
    }

    /// Handles the response to a notification: during an orderly stop nothing else is waited for.
    func answered(_ watcher: WatcherDialog, at now: Instant) {
        if isShuttingDown, watcher.record.isQueued { queue(watcher, until: now) }
    }

    /// Settles all dialogs, as an orderly stop does.
    func settleAll(at now: Instant) {
        for watcher in notifier.dialogs.inOrder where watcher.record.isQueued { queue(watcher, until: now) }
    }

    // MARK: time

    /// Settles the dialogs that are quiet.
    func timerDue(at now: Instant) {
        timerAt = nil
        var count = 0
        while count < Self.batch, let ticket = waiting.popDue(at: now) {
            if let watcher = notifier.dialog(ticket) { settle(watcher, at: now) }
            count += 1
        }
        guard let next = waiting.next else { return }
        arm(at: count == Self.batch ? now + Self.pause : next.roundedUp(to: isShuttingDown ? Self.pause : Self.round))
    }

    private func settle(_ watcher: WatcherDialog, at now: Instant) {
        watcher.queueForSettlement(false)
        if isShuttingDown {
            if watcher.notifier.isAwaitingAnswer { return queue(watcher, until: now + Self.stopPause) }
        } else {
            let quietAt = watcher.record.notifiedAt + Self.quiet
            if quietAt > now { return queue(watcher, until: quietAt) }
            // After a failed commit, its watchers get another notification. So no record is settled while the store fails.
            if watcher.notifier.isAwaitingAnswer || !commitLog.isWorking { return queue(watcher, until: now + Self.quiet) }
        }
        guard watcher.isSettleable else { return }
        watcher.settle()
        notifier.keep(watcher)
    }

    private func queue(_ watcher: WatcherDialog, until moment: Instant) {
        watcher.queueForSettlement(true)
        waiting.set(watcher.ticket, at: moment)
        let due = isShuttingDown ? moment : moment.roundedUp(to: Self.round)
        if timerAt.map({ due < $0 }) ?? true { arm(at: due) }
    }

    private func arm(at moment: Instant?) {
        timerAt = moment
        timers.set(Self.ticket, at: moment)
    }
}

extension WatcherDialog {
    /// Whether the watcher has the state that is noted as notified.
    fileprivate var isSettleable: Bool {
        record.reserve != nil && !isAway && !notifier.isEnding && !notifier.isAwaitingAnswer && !notifier.isRedelivering
            && !notifier.owesWholeState
    }
}

extension Instant {
    fileprivate func roundedUp(to span: TimeSpan) -> Instant {
        let rest = nanosecondsSince1970 % span.nanoseconds
        return rest == 0 ? self : self + (span - TimeSpan(nanoseconds: rest))
    }
}
