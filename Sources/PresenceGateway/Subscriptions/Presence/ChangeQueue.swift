import FederationRouting
import SIPCore

/// Presentities of one dialog with changes that were not notified, in the order of the changes.
///
/// A presentity waits until its spacing ends (RFC 3856 6.10) and is rendered only then. Only notifications start a spacing, so that their
/// times reveal nothing about hidden changes.
struct ChangeQueue {
    private var waiting: [WatchedResource] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a presentity at the end, unless it is waiting already.
    mutating func add(_ resource: WatchedResource) {
        guard !resource.isWaiting else { return }
        resource.wait(true)
        waiting.append(resource)
    }

    /// Removes a presentity that was notified, or has the watcher's state again.
    mutating func remove(_ resource: WatchedResource) {
        guard resource.isWaiting else { return }
        resource.wait(false)
        waiting.removeAll { $0 === resource }
    }

    mutating func removeAll() {
        waiting.forEach { $0.wait(false) }
        waiting = []
    }

    /// Presentities that may be notified now, the longest-waiting first.
    /// - Parameter listSpacedUntil: end of the spacing that the presentities of a list share; nil: each has its own.
    func due(at now: Instant, listSpacedUntil: Instant? = nil) -> [WatchedResource] {
        waiting.filter { Self.moment(of: $0, listSpacedUntil) <= now }
    }

    func hasDue(at now: Instant, listSpacedUntil: Instant? = nil) -> Bool {
        waiting.contains { Self.moment(of: $0, listSpacedUntil) <= now }
    }

    /// Earliest time at which a presentity may be notified.
    func nextDeadline(listSpacedUntil: Instant? = nil) -> Instant? {
        waiting.lazy.map { Self.moment(of: $0, listSpacedUntil) }.min()
    }

    /// A presentity without a notified state does not wait.
    private static func moment(of resource: WatchedResource, _ listSpacedUntil: Instant?) -> Instant {
        guard let own = resource.spacedUntil else { return Instant(nanosecondsSince1970: 0) }
        return listSpacedUntil ?? own
    }
}
