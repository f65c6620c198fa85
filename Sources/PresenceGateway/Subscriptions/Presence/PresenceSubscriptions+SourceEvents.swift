import SIPCore
import SIPEvents

/// Effects of sources on single watchers: blocks, and the authorization and end of upstream subscriptions.
extension PresenceSubscriptions {
    /// Drops a pending change that a block hides, for a watcher that was never shown presence; one that has other state is notified.
    func hideChange(of resource: WatchedResource, from watcher: WatcherDialog, at now: Instant) {
        guard resource.isNotified, watcher.wasNotifiedActive else { return }
        if resource.isKnown(rendered(resource, for: watcher, at: now)) {
            // A pending change was not shown before the block and must not be shown after it.
            watcher.presence?.changes.remove(resource)
            notifier.schedule(watcher)
        } else {
            // The table had no room to record what the watcher was shown, so the watcher is notified.
            sourceChanged(resource, of: watcher, at: now)
        }
    }

    /// Ends what a watcher has of a removed or disabled user, which never existed to others (MS-PRES 3.4.5.3).
    func userEnded(_ resource: WatchedResource, of watcher: WatcherDialog, at now: Instant) {
        guard watcher.namesResources else {
            return notifier.perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
        }
        reject(resource, of: watcher, state: "resubscribe")
        if watcher.isBatch, watcher.resources.isEmpty {
            notifier.perform(watcher.notifier.terminate(.noresource, at: now), on: watcher, at: now)
        } else {
            notifier.perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }

    /// Applies a change of a watcher's access by the rules of a hosted presentity.
    /// - Parameter wasPending: whether the watcher waited for the presentity before.
    func accessChanged(of resource: WatchedResource, in watcher: WatcherDialog, wasPending: Bool, at now: Instant) {
        if resource.access?.isBlocked == true {
            return withdraw(resource, from: watcher, because: Refusal.blockedByRules.explanation, at: now)
        }
        let isPending = resource.access?.isPending == true
        if isPending == wasPending { return sourceChanged(resource, of: watcher, at: now) }
        authorizationChanged(isPending: isPending, of: resource, to: watcher, at: now)
    }

    /// Ends a watch that is not permitted any more; a dialog about one presentity ends with it (RFC 6665 4.1.3, RFC 4662 5.5).
    func withdraw(_ resource: WatchedResource, from watcher: WatcherDialog, because reason: String, at now: Instant) {
        guard watcher.namesResources else { return withdraw(watcher, because: reason, at: now) }
        guard watcher.resources.contains(where: { $0 === resource }) else { return }
        reject(
            resource, of: watcher, state: "terminated", reason: TerminationReason.rejected.rawValue,
            statusCode: SIPStatus.forbidden.rawValue, because: reason)
        if resource.upstream == nil { hosted.detachHosted(resource, from: watcher) }
        remote.leaveUpstreams([resource], at: now)
        if watcher.held != nil {
            if watcher.isReady { notifier.answerHeld(watcher, at: now) }
        } else if watcher.isBatch, watcher.resources.isEmpty {
            notifier.perform(watcher.notifier.terminate(.rejected, at: now), on: watcher, at: now)
        } else {
            notifier.perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }

    /// Ends a subscription that is not permitted any more.
    func withdraw(_ watcher: WatcherDialog, because reason: String, at now: Instant) {
        note(
            .rejected, watcher: watcher.watcherKey, presentity: watcher.subscription.presentity, callID: watcher.dialog.id.callID,
            status: SIPStatus.forbidden.rawValue, rule: reason, at: now)
        // A poll with an unanswered SUBSCRIBE has no subscription yet: refuse the request.
        guard let held = watcher.takeHeld() else {
            return notifier.perform(watcher.notifier.terminate(.rejected, at: now), on: watcher, at: now)
        }
        notifier.ports.refuse(
            held.request, held.transaction, .forbidden("MS-PRES 3.4.5.3: the subscriber may not watch this user", errorID: 2004), at: now)
        notifier.remove(watcher, at: now)
    }

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
