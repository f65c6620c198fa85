import EnhancedPresence
import Registration
import SIPCore
import SIPEvents

extension Gateway: PresentitiesPorts {
    func sourceChanged(_ resource: WatchedResource, inDialog tag: String, at now: Instant) {
        if let watcher = flows.subscriptions.dialogs[tag] { flows.presenceSubscriptions.sourceChanged(resource, of: watcher, at: now) }
    }

    func identity(ofDialog tag: String) -> WatcherIdentity? { flows.subscriptions.dialogs[tag]?.identity }

    func hideChange(of resource: WatchedResource, inDialog tag: String, at now: Instant) {
        guard let watcher = flows.subscriptions.dialogs[tag], resource.isNotified, watcher.wasNotifiedActive else { return }
        if resource.isKnown(flows.presenceSubscriptions.rendered(resource, for: watcher, at: now)) {
            // A pending change was not shown before the block and must not be shown after it.
            watcher.presence?.changes.remove(resource)
            flows.subscriptions.schedule(watcher)
        } else {
            // The table had no room to record what the watcher was shown, so the watcher is notified.
            flows.presenceSubscriptions.sourceChanged(resource, of: watcher, at: now)
        }
    }

    func notifyOwner(of presentity: HostedPresentity, _ change: PresentityChange, at now: Instant) {
        flows.homeServer.notifyOwner(of: presentity.key, change, at: now)
    }

    func hasRegistrations(_ user: String) -> Bool { !flows.homeServer.home.registrar.bindings(of: user).isEmpty }
}
