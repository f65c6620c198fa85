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
                flows.presenceSubscriptions.withdraw(watcher, because: reason, at: now)
                continue
            }
            for resource in watcher.resources {
                let refusal = flows.border.refusalOfDomain(resource.uri)
                guard let reason = refusal ?? flows.border.refusalOfRights(watcher.watcher, to: resource.uri, through: resource.partner)
                else { continue }
                flows.presenceSubscriptions.withdraw(resource, from: watcher, because: reason, at: now)
            }
        }
    }
}
