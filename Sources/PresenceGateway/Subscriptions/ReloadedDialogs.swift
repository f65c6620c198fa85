import SIPCore
import SIPEvents

/// Dialogs of failed commits: a request that is refused changes nothing (RFC 3261 12.2).
///
///     SUBSCRIBE --> dialog changed --commit--> 200 sent, `whenKept` steps run
///                        \--failed--> 503 sent; stored dialog read, newest state with the next commit
///
/// Effects outside the dialog, such as a SUBSCRIBE to a remote domain, are `whenKept` steps. The flow by which the watcher was reached
/// last is kept: it is a fact of the transport, not a change that the request asked for.
final class ReloadedDialogs: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The notifier, which owns this part.
    private unowned let notifier: SubscriptionsFlow
    /// Local tags of dialogs with a notification that was not stored; the next successful commit sends the newest state.
    private var unsent: Set<String> = []

    init(_ notifier: SubscriptionsFlow) {
        kernel = notifier.kernel
        context = notifier.context
        self.notifier = notifier
    }

    /// Number of entries by table.
    var sizes: [String: Int] { ["unsent": unsent.count] }

    private var pause: TimeSpan { .seconds(configuration.timing.retryAfter) }

    /// Takes the stored dialogs in place of those of a failed commit. A new one, which the store does not have, is removed, as is one with
    /// an end that is stored although its commit was reported as failed; one that ended meanwhile stays ended.
    func reload(_ stored: StoredRecords, at now: Instant) {
        for tag in stored.dialogs {
            guard let watcher = notifier.dialogs[tag] else { continue }
            if case .dialog(let record)? = stored[.dialog(tag)] {
                reload(watcher, from: record, at: now)
            } else if watcher.record.storage == .begun || watcher.notifier.isOver {
                remove(watcher, at: now)
            }
        }
        // A change of the user's own data that was not stored may wait for a notification in another dialog.
        for user in stored.users.keys.sorted() {
            for watcher in notifier.dialogs.about(user) where watcher.presence == nil { watcher.notifier.replaceChanges() }
        }
    }

    private func reload(_ watcher: WatcherDialog, from record: StoredDialog, at now: Instant) {
        watcher.noteStored()
        watcher.wish(notifier.restored.wishes(of: record))
        watcher.reload(from: record, retryIn: pause, at: now)
        if let domain = configuration.domain(of: watcher.watcher),
            let opened = watcher.package.restore(record, of: watcher.watcher, in: domain)
        {
            watcher.subscription.reload(watcher, as: opened.subscription, hopMarks: record.resources.map(\.hopMarks), at: now)
        }
        unsent.insert(watcher.localTag)
        notifier.schedule(watcher)
    }

    /// Removes a dialog after a failed commit of its first SUBSCRIBE; a poll that waits for state is answered 503.
    private func remove(_ watcher: WatcherDialog, at now: Instant) {
        if let held = watcher.takeHeld() { notifier.ports.refuse(held.request, held.transaction, notKeptRefusal, at: now) }
        notifier.remove(watcher, at: now)
    }

    /// Handles a notification that was not sent because it could not be stored; the next successful commit sends the newest state.
    func notSent(_ watcher: WatcherDialog, at now: Instant) {
        guard notifier.dialogs.contains(watcher) else { return }
        watcher.notSent()
        unsent.insert(watcher.localTag)
        notifier.perform(watcher.notifier.notificationNotSent(retryIn: pause, at: now), on: watcher, at: now)
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
