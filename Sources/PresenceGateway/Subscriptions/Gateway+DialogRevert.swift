import EnhancedPresence
import PresenceDocuments
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
    /// Remembers a watcher's dialog before the first change of this round.
    /// - Parameter end: End that a failed commit undoes.
    func remember(_ watcher: WatcherDialog, undoing end: Notifier.EndReason = .unsubscribed) {
        guard store != nil else { return }
        // The default is copied for the first change of a round only.
        uncommitted.watchersBefore[watcher.localTag, default: WatcherDialogBefore(watcher, isBatchOfEndpoint: isBatchOfEndpoint(watcher))]
            .ends.insert(end)
    }

    private func isBatchOfEndpoint(_ watcher: WatcherDialog) -> Bool {
        watcher.endpoint.map { batchOfEndpoint[$0] == watcher.localTag } ?? false
    }

    /// Remembers a dialog about a user's own data before the first change of this round.
    func remember(_ subscription: HomeDialog, undoing end: Notifier.EndReason = .unsubscribed) {
        guard store != nil else { return }
        uncommitted.homeDialogsBefore[subscription.localTag, default: HomeDialogBefore(subscription)].ends.insert(end)
    }

    /// Reverts remembered dialogs after a failed commit; those that ended for other reasons meanwhile stay ended.
    func revertDialogs(_ watchers: [String: WatcherDialogBefore], _ subscriptions: [String: HomeDialogBefore], at now: Instant) {
        for (tag, before) in watchers.sorted(by: { $0.key < $1.key }) {
            if let watcher = dialogs[tag] {
                revert(watcher, to: before, at: now)
            } else {
                // The steps that leave them were dropped.
                leaveUpstreams(before.resources.map(\.resource), at: now)
            }
        }
        for (tag, before) in subscriptions.sorted(by: { $0.key < $1.key }) {
            if let subscription = home.dialogs[tag] { revert(subscription, to: before, at: now) }
        }
    }

    private func revert(_ watcher: WatcherDialog, to before: WatcherDialogBefore, at now: Instant) {
        watcher.dialog.revert(to: before.dialog)
        revertResources(of: watcher, to: before, at: now)
        watcher.rejected = before.rejected
        watcher.wasNotifiedActive = before.wasNotifiedActive
        if before.isBatchOfEndpoint, let endpoint = watcher.endpoint { batchOfEndpoint[endpoint] = watcher.localTag }
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        watcher.notifier.revert(to: before.notifier, from: before.ends, retryIn: pause, at: now)
        // An unsent 200 or NOTIFY may have marked state as delivered.
        watcher.forgetDelivered()
        uncommitted.unsent.insert(watcher.localTag)
        schedule(watcher)
    }

    private func revertResources(of watcher: WatcherDialog, to before: WatcherDialogBefore, at now: Instant) {
        let added = watcher.resources.filter { resource in !before.resources.contains { $0.resource === resource } }
        let kept = watcher.resources
        watcher.resources = before.resources.map(\.resource)
        for resource in added { watcher.changes.remove(resource) }
        detach(added, from: watcher, at: now)
        for (resource, categories) in before.resources {
            if resource.categories != categories {
                resource.categories = categories
                resource.rendered = nil
            }
            guard !kept.contains(where: { $0 === resource }) else { continue }
            countWatched(resource, by: watcher)
            // Subscriptions at remote domains are left only after the commit.
            if resource.upstream == nil, configuration.domain(resource.uri.domainKey)?.hosted == true {
                attachHosted(resource, to: watcher, at: now)
                resource.rendered = nil
            }
        }
    }

    /// Removes a dialog after a failed commit of its first SUBSCRIBE; a poll that waits for state is answered 503.
    func takeBack(_ watcher: WatcherDialog, at now: Instant) {
        if let held = watcher.held { refuse(held.request, held.transaction, notKeptRefusal, at: now) }
        watcher.held = nil
        remove(watcher, at: now)
    }

    /// Detaches resources without leaving the subscriptions that feed them.
    func detachHere(_ resources: [WatchedResource], from watcher: WatcherDialog) {
        for resource in resources {
            uncountWatched(resource)
            if resource.upstream == nil { detachHosted(resource, from: watcher) }
        }
    }

    private func revert(_ subscription: HomeDialog, to before: HomeDialogBefore, at now: Instant) {
        subscription.dialog.revert(to: before.dialog)
        subscription.subject = before.subject
        subscription.terminationDiagnostic = before.terminationDiagnostic
        let pause = TimeSpan.seconds(configuration.timing.retryAfter)
        subscription.notifier.revert(to: before.notifier, from: before.ends, retryIn: pause, at: now)
        uncommitted.unsent.insert(subscription.localTag)
        schedule(subscription)
    }
}

/// State of a watcher's dialog before an uncommitted SUBSCRIBE.
struct WatcherDialogBefore {
    fileprivate let dialog: Dialog
    fileprivate let notifier: Notifier
    fileprivate let resources: [(resource: WatchedResource, categories: [CategoryName])]
    fileprivate let rejected: [WatcherDialog.RejectedResource]
    fileprivate let wasNotifiedActive: Bool
    fileprivate let isBatchOfEndpoint: Bool
    /// Ends of the subscription that a failed commit undoes.
    fileprivate var ends: Set<Notifier.EndReason> = []

    fileprivate init(_ watcher: WatcherDialog, isBatchOfEndpoint: Bool) {
        dialog = watcher.dialog
        notifier = watcher.notifier
        resources = watcher.resources.map { ($0, $0.categories) }
        rejected = watcher.rejected
        wasNotifiedActive = watcher.wasNotifiedActive
        self.isBatchOfEndpoint = isBatchOfEndpoint
    }
}

/// State of a dialog about a user's own data before an uncommitted SUBSCRIBE.
struct HomeDialogBefore {
    fileprivate let dialog: Dialog
    fileprivate let notifier: Notifier
    fileprivate let subject: HomeDialog.Subject
    fileprivate let terminationDiagnostic: Diagnostic?
    fileprivate var ends: Set<Notifier.EndReason> = []

    fileprivate init(_ subscription: HomeDialog) {
        dialog = subscription.dialog
        notifier = subscription.notifier
        subject = subscription.subject
        terminationDiagnostic = subscription.terminationDiagnostic
    }
}
