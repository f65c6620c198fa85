import FederationRouting
import Registration
import SIPCore
import SIPEvents

/// Dialogs in the store, and after a restart.
extension Gateway {
    /// Restores a dialog.
    /// - Returns: false if the record cannot be read, or if its package or domain is unknown.
    func restore(
        _ stored: StoredDialog, fedBy upstreams: RestoredUpstreamSubscriptions = RestoredUpstreamSubscriptions(), at now: Instant
    ) -> Bool {
        guard let package = packages.package(of: stored.kind), let dialog = Dialog.resumed(from: stored.dialog),
            let event = Event(stored.event), let uri = SIPURI(stored.watcher), let domain = configuration.domain(of: uri),
            domain.refuse == nil, let opened = package.restore(stored, of: uri, in: domain, by: self)
        else { return false }
        let endpoint = stored.details[StoredDialog.endpointDetail].flatMap { EndpointID($0) }
        let watcher = WatcherDialog(
            dialog: dialog,
            notifier: Notifier(
                restoring: notifierConfiguration(package, domain, bestEffort: stored.isBestEffort), expiry: stored.expiry,
                wasNotified: stored.wasNotifiedActive && !isUncertain(stored, of: uri)),
            event: event, package, opened, flow: Flow(local: stored.local, remote: stored.remote),
            endpoint: endpoint.map { EndpointKey(watcher: opened.parties.watcherKey, endpoint: $0) },
            hidesIdentity: stored.details[StoredDialog.privacyDetail] != nil,
            followsRegistration: stored.details[StoredDialog.registrationDetail] != nil)
        watcher.resume(wasNotifiedActive: stored.wasNotifiedActive)
        insert(watcher)
        if stored.local.transport.isReliable, hop(toward: uri) == nil {
            _ = leave(watcher, for: configuration.timing.restartGrace, at: now)
        }
        resumedCalls.add(watcher, at: now)
        watcher.subscription.resume(watcher, from: stored, fedBy: upstreams, in: self, at: now)
        if watcher.subscription.isReady { watcher.notifier.becameReady() }
        schedule(watcher)
        return true
    }

    /// Whether the last notification before the restart may not have arrived, so that the watcher gets the full state.
    func isUncertain(_ stored: StoredDialog, of watcher: SIPURI) -> Bool {
        stored.isUnanswered || stored.isBestEffort && hop(toward: watcher) != nil
    }

    /// Notifies the watchers that have another state than the present one, once; expired subscriptions end.
    func notifyRestored(_ stored: [StoredDialog], _ state: inout RestoredState, at now: Instant) {
        let unanswered = Set(stored.lazy.filter(\.isUnanswered).map(\.dialog.localTag))
        for watcher in dialogs.inOrder {
            if now >= watcher.notifier.expiry {
                state.expired += 1
                perform(watcher.isAway ? watcher.notifier.watcherGone() : watcher.notifier.advance(to: now), on: watcher, at: now)
                continue
            }
            let isUnanswered = unanswered.contains(watcher.localTag)
            guard watcher.subscription.isBehind(watcher, isUnanswered: isUnanswered, in: self, at: now), !watcher.isAway else { continue }
            state.notified += 1
            perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }
}

extension WatcherDialog {
    /// The dialog as the store keeps it; nil: nothing is kept.
    var stored: StoredDialog? {
        guard held == nil, !notifier.isOver else { return nil }
        var stored = StoredDialog(
            kind: package.storedKind, dialog: dialog.snapshot, owner: owner, event: event.description,
            contentType: subscription.contentType, watcher: watcher.description, isBestEffort: notifier.configuration.bestEffort,
            expiry: notifier.expiry, local: flow.local, remote: flow.remote, wasNotifiedActive: wasNotifiedActive,
            isUnanswered: notifier.isAwaitingAnswer || notifier.isRedelivering)
        stored.details[StoredDialog.endpointDetail] = endpoint?.endpoint.description
        if followsRegistration { stored.details[StoredDialog.registrationDetail] = "yes" }
        if hidesIdentity { stored.details[StoredDialog.privacyDetail] = "id" }
        subscription.store(in: &stored)
        return stored
    }
}
