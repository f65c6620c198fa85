import SIPCore
import SIPEvents

/// Dialogs as they were before a SUBSCRIBE in them, or a notification, that is not committed yet. A request that is refused changes
/// nothing (RFC 3261 12.2).
///
///     SUBSCRIBE --remember--> dialog changed --commit--> 200 sent, `whenKept` steps run
///                                               \--failed--> dialog reverted, 503 sent; newest state with the next commit
///
/// Effects outside the dialog, such as a SUBSCRIBE to a remote domain, are `whenKept` steps. The flow by which the watcher was reached
/// last is kept: it is a fact of the transport, not a change that the request asked for.
final class UncommittedDialogs: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The notifier, which owns this part.
    private unowned let notifier: SubscriptionsFlow
    /// State of dialogs, by local tag, before the first uncommitted SUBSCRIBE in them; at most one per dialog.
    private var watchersBefore: [String: WatcherDialogBefore] = [:]
    /// Notification records from before the notifications staged since the last commit, by local tag of the dialog.
    private var recordsBefore: [String: NotificationRecord] = [:]
    /// Local tags of dialogs with a notification that was not stored; the next successful commit sends the newest state.
    private var unsent: Set<String> = []

    init(_ notifier: SubscriptionsFlow) {
        kernel = notifier.kernel
        context = notifier.context
        self.notifier = notifier
    }

    /// Number of entries by table.
    var sizes: [String: Int] { ["unsent": unsent.count, "recordsBefore": recordsBefore.count] }

    // MARK: changes

    /// Remembers a dialog before the first change of this round.
    /// - Parameter end: End that a failed commit undoes.
    func remember(_ watcher: WatcherDialog, undoing end: Notifier.EndReason = .unsubscribed) {
        guard store != nil else { return }
        // The default is made for the first change of a round only.
        watchersBefore[
            watcher.localTag, default: WatcherDialogBefore(watcher, undo: watcher.subscription.undo(of: watcher))
        ].ends.insert(end)
    }

    /// Saves the dialog's notification record before another notification is staged.
    func noteStaged(_ watcher: WatcherDialog) {
        if store != nil, recordsBefore[watcher.localTag] == nil { recordsBefore[watcher.localTag] = watcher.lastNotification }
    }

    /// Handles a notification that was not sent because it could not be stored; the next successful commit sends the newest state.
    func notSent(_ watcher: WatcherDialog, at now: Instant) {
        guard notifier.dialogs.contains(watcher) else { return }
        watcher.subscription.forgetNotified()
        if store != nil { unsent.insert(watcher.localTag) }
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        notifier.perform(watcher.notifier.notificationNotSent(retryIn: pause, at: now), on: watcher, at: now)
    }

    // MARK: commits

    /// Forgets the earlier state: it was replaced, or a request was refused and changed nothing.
    func forget() {
        if !watchersBefore.isEmpty { watchersBefore = [:] }
        if !recordsBefore.isEmpty { recordsBefore = [:] }
    }

    /// Restores the earlier state of dialogs after a failed commit; those that ended for other reasons meanwhile stay ended.
    func revert(at now: Instant) {
        let (watchers, records) = (watchersBefore, recordsBefore)
        forget()
        for (tag, record) in records { notifier.dialogs[tag]?.revert(record) }
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        for (tag, before) in watchers.sorted(by: { $0.key < $1.key }) {
            before.undo(now)
            guard let watcher = notifier.dialogs[tag] else { continue }
            watcher.revert(to: before.dialog, from: before.ends, retryIn: pause, at: now)
            unsent.insert(tag)
            notifier.schedule(watcher)
        }
    }

    /// Sends the newest state in dialogs with a notification that was not stored, once the store works again.
    func notifyUnsent(at now: Instant) {
        guard !unsent.isEmpty else { return }
        let tags = unsent.sorted()
        unsent = []
        for tag in tags {
            guard let watcher = notifier.dialogs[tag], !watcher.isWaiting else { continue }
            notifier.perform(watcher.notifier.watcherReturned(at: now), on: watcher, at: now)
        }
    }
}

/// State of a dialog before an uncommitted SUBSCRIBE.
private struct WatcherDialogBefore {
    let dialog: WatcherDialog.Before
    /// Restores the part of the event package.
    let undo: (Instant) -> Void
    /// Ends of the subscription that a failed commit undoes.
    var ends: Set<Notifier.EndReason> = []

    init(_ watcher: WatcherDialog, undo: @escaping (Instant) -> Void) {
        dialog = watcher.before
        self.undo = undo
    }
}
