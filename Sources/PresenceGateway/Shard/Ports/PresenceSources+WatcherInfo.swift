import EnhancedPresence
import PresenceRules
import SIPCore
import SIPEvents

/// Watches of presentities, for watcher information.
extension PresenceSources: WatchSources {
    func watches(of presentity: String) -> [(tag: String, resource: WatchedResource)] {
        flows.presentities.records(of: presentity).flatMap(\.watchersInOrder).sorted { $0.tag < $1.tag }
    }

    func identity(ofWatch tag: String) -> WatcherIdentity? {
        flows.subscriptions.dialogs[tag]?.identity ?? flows.presentities.remoteWatchers.identity(of: tag)
    }

    func hidesIdentity(ofWatch tag: String) -> Bool {
        flows.subscriptions.dialogs[tag]?.hidesIdentity ?? flows.presentities.remoteWatchers.hidesIdentity(of: tag)
    }

    func isPoll(_ tag: String) -> Bool {
        flows.subscriptions.dialogs[tag]?.notifier.isFetching ?? flows.presentities.remoteWatchers.isPoll(tag)
    }

    func access(of watcher: WatcherIdentity, hidesIdentity: Bool, to presentity: String, at now: Instant) -> WatchAccess? {
        guard let uri = SIPURI(presentity) else { return nil }
        return flows.presentities.authorization.access(
            of: RuleWatcher(watcher, hidesIdentity: hidesIdentity), to: presentity, uri, isWatching: false, at: now)
    }
}
