import SIPCore
import SIPEvents

/// Refusal of single resources of a list.
extension PresenceSubscriptions {
    /// Whether the rules of a hosted presentity block the watcher of a list; the list then reports the refusal (RFC 5025 3.2.1).
    func isBlocked(_ resource: WatchedResource, _ watcher: WatcherDialog, at now: Instant) -> Bool {
        guard hosted.decidesByRules else { return false }
        do throws(Refusal) {
            try hosted.checkAccess(
                of: watcher.identity, hidesIdentity: watcher.hidesIdentity, to: resource.key, resource.uri, at: now)
            return false
        } catch {
            reject(
                resource, of: watcher, state: "terminated", reason: TerminationReason.rejected.rawValue,
                statusCode: error.status.rawValue, because: error.explanation)
            return true
        }
    }

    /// Whether a resource of a list may be watched; if not, the list reports the refusal.
    func mayWatch(_ resource: WatchedResource, _ watcher: WatcherDialog) -> Bool {
        do throws(Refusal) {
            try admission.checkRights(watcher: watcher.watcher, presentity: resource.uri)
        } catch {
            reject(
                resource, of: watcher, state: "terminated", reason: TerminationReason.rejected.rawValue,
                statusCode: error.status.rawValue, because: error.detail)
            return false
        }
        do throws(Refusal) {
            try admission.checkPartner(of: watcher.watcher, watcher.flow, watching: [resource.key], countedFor: resource.partner)
        } catch {
            reject(resource, of: watcher, state: "terminated", reason: "quotaExceeded", statusCode: error.status.rawValue)
            return false
        }
        return true
    }
}
