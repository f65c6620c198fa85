import PresenceDocuments
import SIPCore

/// One recent refusal, loss or end, with the deciding rule.
package struct JournalEntry: Codable, Hashable, Sendable {
    /// Kind of entry.
    package enum Event: String, Codable, Hashable, Sendable {
        /// The gateway refused a request.
        case refused
        /// A watcher's subscription ended.
        case ended
        /// An upstream subscription was lost and is retried.
        case lost
        /// The remote domain refused or ended an upstream subscription for good.
        case farEnded
        /// The remote domain redirected a subscription, or declined a list.
        case redirected
        /// A resource was refused, or must be subscribed to elsewhere.
        case rejected
        /// Parts of a received document were skipped, because they violate its standard.
        case flawed
        /// A received document was unreadable: the known state is unverified, and the full state was requested.
        case unreadable
    }

    /// Time of the event.
    package var at: DateTime
    /// Kind of entry.
    package var event: Event
    /// Method of a refused request; nil otherwise.
    package var method: String?
    /// Address of record of the watcher.
    package var watcher: String
    /// Address of record of the presentity; empty for a whole batch or list.
    package var presentity: String
    /// Call-ID of the dialog or request.
    package var callID: String
    /// Status code, if a response decided.
    package var status: Int?
    /// Deciding rule, for operators.
    package var rule: String

    func isAbout(watcher: String, presentity: String) -> Bool {
        self.watcher == watcher && (self.presentity == presentity || self.presentity.isEmpty)
    }
}

/// Ring buffer of the last `limit` entries.
struct Journal {
    private var entries: [JournalEntry] = []
    /// Position of the next entry once the ring is full.
    private var next = 0
    private(set) var limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    var count: Int { entries.count }

    /// Applies another limit; the newest entries stay.
    mutating func use(limit newLimit: Int) {
        guard newLimit != limit else { return }
        entries = Array(newestFirst.prefix(newLimit).reversed())
        limit = newLimit
        next = 0
    }

    mutating func add(_ entry: JournalEntry) {
        guard limit > 0 else { return }
        if entries.count < limit {
            entries.append(entry)
        } else {
            entries[next] = entry
            next = (next + 1) % limit
        }
    }

    var newestFirst: [JournalEntry] { entries[..<next].reversed() + entries[next...].reversed() }
}
