import EnhancedPresence
import Registration
import SIPCore
import SIPEvents

/// Answers to the hosted presentities; the requirements that are missing here are answers to other flows.
extension PortAnswers: PresentitiesPorts {
    func sourceChanged(_ resource: WatchedResource, inDialog tag: String, at now: Instant) {
        if let watcher = flows.subscriptions.dialogs[tag] { flows.presenceSubscriptions.sourceChanged(resource, of: watcher, at: now) }
    }

    func identity(ofDialog tag: String) -> WatcherIdentity? { flows.subscriptions.dialogs[tag]?.identity }

    func hideChange(of resource: WatchedResource, inDialog tag: String, at now: Instant) {
        if let watcher = flows.subscriptions.dialogs[tag] {
            flows.presenceSubscriptions.hideChange(of: resource, from: watcher, at: now)
        }
    }

    func notifyOwner(of presentity: HostedPresentity, _ change: PresentityChange, at now: Instant) {
        flows.homeServer.notifyOwner(of: presentity.key, change, at: now)
    }

    func hasRegistrations(_ user: String) -> Bool { !flows.homeServer.home.registrar.bindings(of: user).isEmpty }
}
