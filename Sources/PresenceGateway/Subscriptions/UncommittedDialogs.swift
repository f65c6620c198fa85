import SIPCore
import SIPEvents

/// Dialogs with changes or notifications that are not committed yet.
struct UncommittedDialogs {
    /// State of dialogs, by local tag, before the first uncommitted SUBSCRIBE in them; at most one per dialog.
    var watchersBefore: [String: WatcherDialogBefore] = [:]
    /// Notification records from before the notifications staged since the last commit, by local tag of the dialog.
    var recordsBefore: [String: NotificationRecord] = [:]
    /// Local tags of dialogs with a notification that was not stored; the next successful commit sends the newest state.
    var unsent: Set<String> = []

    /// Forgets the earlier state: it was replaced, or a request was refused and changed nothing.
    mutating func forget() {
        if !watchersBefore.isEmpty { watchersBefore = [:] }
        if !recordsBefore.isEmpty { recordsBefore = [:] }
    }
}

extension Gateway {
    /// Restores the earlier state of dialogs after a failed commit.
    func revertUncommitted(at now: Instant) {
        let before = uncommitted
        uncommitted.forget()
        for (tag, record) in before.recordsBefore { dialogs[tag]?.revert(record) }
        revertDialogs(before.watchersBefore, at: now)
    }

    /// Sends the newest state in dialogs with a notification that was not stored, once the store works again.
    func notifyUnsent(at now: Instant) {
        guard !uncommitted.unsent.isEmpty else { return }
        let tags = uncommitted.unsent.sorted()
        uncommitted.unsent = []
        for tag in tags {
            guard let watcher = dialogs[tag], !watcher.isWaiting else { continue }
            perform(watcher.notifier.watcherReturned(at: now), on: watcher, at: now)
        }
    }

    /// Saves the dialog's notification record before another notification is staged.
    func noteStaged(_ watcher: WatcherDialog) {
        if store != nil, uncommitted.recordsBefore[watcher.localTag] == nil {
            uncommitted.recordsBefore[watcher.localTag] = watcher.lastNotification
        }
    }

    /// Handles a notification that was not sent because it could not be stored; the next successful commit sends the newest state.
    func notSent(_ watcher: WatcherDialog, at now: Instant) {
        guard dialogs.contains(watcher) else { return }
        watcher.subscription.forgetNotified()
        if store != nil { uncommitted.unsent.insert(watcher.localTag) }
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        perform(watcher.notifier.notificationNotSent(retryIn: pause, at: now), on: watcher, at: now)
    }
}
