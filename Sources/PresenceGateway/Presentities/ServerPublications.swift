import EnhancedPresence
import SIPCore
import UserDirectory
import XMLCore

/// The server's own publications for one user, from the directory (MS-PRES 3.2.6.2).
///
///     unchanged --a client replaces or removes one--> due (after ``period``) --published again--> unchanged
struct ServerPublications {
    /// Time that a client's version of a server publication lasts before the server publishes its data again: the period of the server
    /// publication timer (MS-PRES 3.2.6.2, note 33).
    static let period = TimeSpan.seconds(60)

    /// Directory entry of the user; nil: no directory or no such user.
    private(set) var user: DirectoryUser?
    /// The last publications.
    private(set) var list: [(id: PublicationID, body: XMLFragment)] = []
    /// Time at which they are published again; nil: unchanged.
    private(set) var due: Instant?

    /// Takes the directory entry of the user, and the time of the next publication as unchanged.
    mutating func use(_ user: DirectoryUser) {
        due = nil
        guard self.user != user else { return }
        self.user = user
        list = user.serverPublications.map {
            (PublicationID(category: $0.category, container: $0.container, instance: $0.instance), $0.body)
        }
    }

    /// Notes that there is no directory entry to publish.
    mutating func noEntry() { due = nil }

    /// Notes that the user was removed or disabled.
    mutating func userEnded() { user = nil }

    /// Starts the server publication timer if a change replaced or removed a publication, unless it runs.
    /// - Parameter isUnchanged: whether all publications are in force.
    mutating func changed(_ change: PresentityChange, isUnchanged: Bool, at now: Instant) {
        guard due == nil, !isUnchanged, list.contains(where: { change.pairs.contains($0.id.pair) }) else { return }
        due = now + Self.period
    }

    /// Takes the timer of the true presentity, for a record that blocked watchers see.
    mutating func takeTimer(of other: ServerPublications) { due = other.due }
}
