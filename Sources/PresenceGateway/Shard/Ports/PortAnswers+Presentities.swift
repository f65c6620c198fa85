import EnhancedPresence
import Registration
import SIPCore
import SIPEvents

/// Answers to the hosted presentities; the requirements that are missing here are answers to other flows.
extension PortAnswers: PresentitiesPorts {
    func sourceChanged(_ resource: WatchedResource, inDialog tag: String, at now: Instant) {
        guard let watcher = flows.subscriptions.dialogs[tag] else { return flows.presentities.remoteWatchers.changed(tag) }
        flows.presenceSubscriptions.sourceChanged(resource, of: watcher, at: now)
    }

    func dialogCount(of presentity: String) -> Int { flows.presenceSubscriptions.dialogsOfPresentity[presentity] ?? 0 }

    func isKnown(_ user: String) -> Bool {
        // Dialogs of others about the user's watchers show nothing of the user.
        flows.homeServer.knows(user) || flows.subscriptions.dialogs.about(user).contains { $0.watcherKey == user }
    }

    func watchChanged(
        _ resource: WatchedResource, inDialog tag: String, by watcher: WatcherIdentity, hidesIdentity: Bool, isNew: Bool, at now: Instant
    ) {
        flows.watcherInformation.watchChanged(resource, tag, by: watcher, hidesIdentity: hidesIdentity, isNew: isNew, at: now)
    }

    func watchEnded(_ resource: WatchedResource, inDialog tag: String, at now: Instant) {
        flows.watcherInformation.watchEnded(resource, tag, at: now)
    }

    func decisionsChanged(of presentity: String, at now: Instant) {
        flows.watcherInformation.decisionsChanged(of: presentity, at: now)
    }

    func identity(ofDialog tag: String) -> WatcherIdentity? {
        flows.subscriptions.dialogs[tag]?.identity ?? flows.presentities.remoteWatchers.identity(of: tag)
    }

    func hidesIdentity(ofDialog tag: String) -> Bool {
        flows.subscriptions.dialogs[tag]?.hidesIdentity ?? flows.presentities.remoteWatchers.hidesIdentity(of: tag)
    }

    func accessChanged(of resource: WatchedResource, inDialog tag: String, from former: WatchAccess?, at now: Instant) {
        guard let watcher = flows.subscriptions.dialogs[tag] else {
            return flows.presentities.remoteWatchers.accessChanged(tag)
        }
        flows.presenceSubscriptions.accessChanged(of: resource, in: watcher, wasPending: former?.isPending == true, at: now)
    }

    func hideChange(of resource: WatchedResource, inDialog tag: String, at now: Instant) {
        guard let watcher = flows.subscriptions.dialogs[tag] else {
            return flows.presentities.remoteWatchers.changed(tag, isHidden: true)
        }
        flows.presenceSubscriptions.hideChange(of: resource, from: watcher, at: now)
    }

    func notifyOwner(of presentity: HostedPresentity, _ change: PresentityChange, at now: Instant) {
        flows.homeServer.notifyOwner(of: presentity.key, change, at: now)
    }

    func hasRegistrations(_ user: String) -> Bool { !flows.homeServer.home.registrar.bindings(of: user).isEmpty }
}
