import SIPCore
import SIPEvents

/// Dialogs as they were before a SUBSCRIBE in them that is not committed yet. A request that is refused changes nothing (RFC 3261 12.2).
///
///     SUBSCRIBE --remember--> dialog changed --commit--> 200 sent, `whenKept` steps run
///                                               \--failed--> dialog reverted, 503 sent; newest state with the next commit
///
/// Effects outside the dialog, such as a SUBSCRIBE to a remote domain, are `whenKept` steps. The flow by which the watcher was reached
/// last is kept: it is a fact of the transport, not a change that the request asked for.
extension Gateway {
    /// Remembers a dialog before the first change of this round.
    /// - Parameter end: End that a failed commit undoes.
    func remember(_ watcher: WatcherDialog, undoing end: Notifier.EndReason = .unsubscribed) {
        guard store != nil else { return }
        // The default is made for the first change of a round only.
        uncommitted.watchersBefore[
            watcher.localTag, default: WatcherDialogBefore(watcher, undo: watcher.subscription.undo(of: watcher, in: self))
        ].ends.insert(end)
    }

    /// Reverts remembered dialogs after a failed commit; those that ended for other reasons meanwhile stay ended.
    func revertDialogs(_ watchers: [String: WatcherDialogBefore], at now: Instant) {
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        for (tag, before) in watchers.sorted(by: { $0.key < $1.key }) {
            before.undo(now)
            guard let watcher = dialogs[tag] else { continue }
            watcher.revert(to: before.dialog, from: before.ends, retryIn: pause, at: now)
            uncommitted.unsent.insert(tag)
            schedule(watcher)
        }
    }

    /// Removes a dialog after a failed commit of its first SUBSCRIBE; a poll that waits for state is answered 503.
    func takeBack(_ watcher: WatcherDialog, at now: Instant) {
        if let held = watcher.takeHeld() { refuse(held.request, held.transaction, notKeptRefusal, at: now) }
        remove(watcher, at: now)
    }
}

/// State of a dialog before an uncommitted SUBSCRIBE.
struct WatcherDialogBefore {
    fileprivate let dialog: WatcherDialog.Before
    /// Restores the part of the event package.
    fileprivate let undo: (Instant) -> Void
    /// Ends of the subscription that a failed commit undoes.
    fileprivate var ends: Set<Notifier.EndReason> = []

    fileprivate init(_ watcher: WatcherDialog, undo: @escaping (Instant) -> Void) {
        dialog = watcher.before
        self.undo = undo
    }
}
