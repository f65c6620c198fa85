import SIPCore
import SIPEvents

/// Effects of upstream subscriptions on single watchers.
extension PresenceSubscriptions {
    /// Notifies one watcher whether its authorization for a presentity is pending.
    func authorizationChanged(isPending: Bool, of watched: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        if watcher.namesResources { return authorizationChanged(isPending: isPending, of: watched, in: watcher, at: now) }
        if !isPending, watcher.isReady { watcher.notifier.becameReady() }
        notifier.perform(watcher.notifier.authorize(!isPending, at: now), on: watcher, at: now)
    }

    /// Passes a final failure to one watcher.
    func sourceEnded(_ termination: UpstreamTermination, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        let reason = termination.reason
        if let held = watcher.held, watcher.resources.count == 1 {
            _ = watcher.takeHeld()
            notifier.ports.refuse(
                held.request, held.transaction, Refusal(passing: termination, retryAfter: configuration.timing.retryAfter), at: now)
            notifier.remove(watcher, at: now)
            return
        }
        guard watcher.namesResources else {
            let retryAfter = reason.retry == .later ? configuration.timing.retryAfter : nil
            notifier.perform(watcher.notifier.terminate(reason, retryAfter: retryAfter, at: now), on: watcher, at: now)
            return
        }
        reject(
            resource, of: watcher, state: "terminated", reason: termination.word ?? reason.rawValue, statusCode: termination.statusCode)
        if watcher.held != nil {
            if watcher.isReady { notifier.answerHeld(watcher, at: now) }
        } else if watcher.isBatch, watcher.resources.isEmpty {
            notifier.perform(watcher.notifier.terminate(reason, at: now), on: watcher, at: now)
        } else if watcher.list == nil || watcher.isReady || !watcher.notifier.isHeld {
            notifier.perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }
}
