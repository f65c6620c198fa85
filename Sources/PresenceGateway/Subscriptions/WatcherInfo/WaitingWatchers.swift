import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Watchers whose subscriptions ended before a decision (RFC 3857 4.7.1, `waiting`), so that the presentity can still decide.
///
/// In memory: a restart forgets them. They are bounded in number, of one presentity and of the shard, and in time.
struct WaitingWatchers {
    struct Entry {
        let id: String
        let watcher: WatcherIdentity
        let hidesIdentity: Bool
        let since: Instant
    }

    /// Longest time that a watcher waits for a decision.
    static let patience = TimeSpan.seconds(7 * 86_400)

    private var entries: [String: [Entry]] = [:]
    private(set) var count = 0

    /// The watchers of a presentity, oldest first.
    func of(_ presentity: String) -> [Entry] { entries[presentity] ?? [] }

    /// Adds a watcher.
    /// - Returns: the entry that was dropped for it; `isAdded` is false if the table is full.
    mutating func add(
        _ entry: Entry, of presentity: String, limitOfPresentity: Int, limit: Int
    ) -> (dropped: Entry?, isAdded: Bool) {
        var dropped: Entry?
        if entries[presentity, default: []].count >= limitOfPresentity {
            dropped = entries[presentity]?.removeFirst()
            count -= 1
        }
        if count >= limit { removeAll(before: entry.since - Self.patience) }
        guard count < limit else { return (dropped, false) }
        entries[presentity, default: []].append(entry)
        count += 1
        return (dropped, true)
    }

    /// Removes the watchers of a presentity for which a function returns true, and returns them.
    mutating func remove(of presentity: String, where isGone: (Entry) -> Bool) -> [Entry] {
        guard let present = entries[presentity] else { return [] }
        let gone = present.filter(isGone)
        guard !gone.isEmpty else { return [] }
        let left = present.filter { !isGone($0) }
        entries[presentity] = left.isEmpty ? nil : left
        count -= gone.count
        return gone
    }

    private mutating func removeAll(before moment: Instant) {
        for key in entries.keys.sorted() { _ = remove(of: key) { $0.since <= moment } }
    }
}
