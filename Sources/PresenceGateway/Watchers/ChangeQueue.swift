import SIPCore

/// The presentities of one dialog of which the watcher has not been told everything, in the order in which they changed.
///
/// It decides nothing about what is said: a presentity waits until its spacing is over (RFC 3856 6.10), and is then written as it is
/// at that moment. Only what was really told starts a spacing, so that the moments of notifications say nothing of hidden changes.
struct ChangeQueue {
    private var waiting: [WatchedResource] = []

    var isEmpty: Bool { waiting.isEmpty }

    /// Adds a presentity at the end, unless it waits already.
    mutating func add(_ resource: WatchedResource) {
        guard !resource.isWaiting else { return }
        resource.isWaiting = true
        waiting.append(resource)
    }

    /// It was told, or is again as the watcher knows it.
    mutating func remove(_ resource: WatchedResource) {
        guard resource.isWaiting else { return }
        resource.isWaiting = false
        waiting.removeAll { $0 === resource }
    }

    mutating func removeAll() {
        waiting.forEach { $0.isWaiting = false }
        waiting = []
    }

    /// Those that may be told now, the one that waits longest first.
    /// - Parameter listSpacedUntil: for the dialog of a list, whose presentities share one spacing: its end.
    func due(at now: Instant, listSpacedUntil: Instant? = nil) -> [WatchedResource] {
        waiting.filter { Self.moment(of: $0, listSpacedUntil) <= now }
    }

    func hasDue(at now: Instant, listSpacedUntil: Instant? = nil) -> Bool {
        waiting.contains { Self.moment(of: $0, listSpacedUntil) <= now }
    }

    /// When the first of them may be told.
    func nextDeadline(listSpacedUntil: Instant? = nil) -> Instant? {
        waiting.lazy.map { Self.moment(of: $0, listSpacedUntil) }.min()
    }

    /// A presentity of which nothing was told yet is not kept waiting.
    private static func moment(of resource: WatchedResource, _ listSpacedUntil: Instant?) -> Instant {
        guard let own = resource.spacedUntil else { return Instant(nanosecondsSince1970: 0) }
        return listSpacedUntil ?? own
    }
}
