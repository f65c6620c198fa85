import FederationRouting
import SIPCore
import SIPEvents

/// Ends subscriptions that a changed configuration would refuse (RFC 6665 4.1.3, MS-PRES 3.4.5.3).
///
///     one presentity  --> NOTIFY terminated;reason=rejected, without presence; the upstream subscription ends with the dialog
///     a batch, a list --> its resource is terminated, the others continue
final class WithdrawnRights: FlowsPart, RestartMember {
    /// Withdraws rights after a restart too, because the domains may have changed since the earlier process.
    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool {
        if phase == .rights { withdraw(at: now) }
        return true
    }

    /// Ends the subscriptions that the present configuration refuses.
    func withdraw(at now: Instant) {
        for watcher in flows.subscriptions.dialogs.inOrder {
            if let reason = flows.border.refusalOfDomain(watcher.watcher) {
                end(watcher, because: reason, at: now)
                continue
            }
            for resource in watcher.resources {
                let refusal = flows.border.refusalOfDomain(resource.uri)
                guard let reason = refusal ?? flows.border.refusalOfRights(watcher.watcher, to: resource.uri, through: resource.partner)
                else { continue }
                withdraw(resource, from: watcher, because: reason, at: now)
            }
        }
    }

    private func withdraw(_ resource: WatchedResource, from watcher: WatcherDialog, because reason: String, at now: Instant) {
        guard watcher.namesResources else { return end(watcher, because: reason, at: now) }
        flows.presenceSubscriptions.reject(
            resource, of: watcher, state: "terminated", reason: TerminationReason.rejected.rawValue,
            statusCode: SIPStatus.forbidden.rawValue, because: reason)
        if resource.upstream == nil { flows.presentities.detach(resource, ofDialog: watcher.localTag) }
        flows.upstream.leaveUpstreams([resource], at: now)
        if watcher.held != nil {
            if watcher.isReady { flows.subscriptions.answerHeld(watcher, at: now) }
        } else if watcher.isBatch, watcher.resources.isEmpty {
            flows.subscriptions.perform(watcher.notifier.terminate(.rejected, at: now), on: watcher, at: now)
        } else {
            flows.subscriptions.perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }

    private func end(_ watcher: WatcherDialog, because reason: String, at now: Instant) {
        note(
            .rejected, watcher: watcher.watcherKey, presentity: watcher.subscription.presentity, callID: watcher.dialog.id.callID,
            status: SIPStatus.forbidden.rawValue, rule: reason, at: now)
        // A poll with an unanswered SUBSCRIBE has no subscription yet: refuse the request.
        guard let held = watcher.takeHeld() else {
            flows.subscriptions.perform(watcher.notifier.terminate(.rejected, at: now), on: watcher, at: now)
            return
        }
        refuse(
            held.request, held.transaction, .forbidden("MS-PRES 3.4.5.3: the subscriber may not watch this user", errorID: 2004), at: now)
        flows.subscriptions.remove(watcher, at: now)
    }
}
