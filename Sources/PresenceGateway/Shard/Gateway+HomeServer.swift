import PresenceDocuments
import SIPCore

/// Directory and contacts of users, for administration.
extension Gateway {
    /// Present state of the directory; see ``use(directory:at:)``.
    package var directoryState: DirectoryState { directory.state }

    /// Replaces the directory: publishes changed data, and ends dialogs and registrations of users that are gone or disabled.
    package func use(directory state: DirectoryState, at now: Instant) { flows.homeServer.use(directory: state, at: now) }

    /// Replaces the documents that the configuration has of a user of a hosted simple domain to decide about its watchers, and applies the
    /// decisions to live subscriptions. Documents that the user keeps by XCAP come before them. Call it in every shard; that of the user
    /// takes them.
    /// - Parameters:
    ///   - documents: nil: the user has none, and the default of the domain decides.
    ///   - key: `aorKey` of the user.
    package func use(_ documents: UserDocuments?, of key: String, at now: Instant) {
        commitLog.noteInput(at: now)
        flows.decidingDocuments.configure(documents, of: key)
        flows.presentities.review.reviewWatchers(of: key, at: now)
    }

    /// Keys of the users with clients ready for the migration of contacts to the mail server, sorted (MS-PRES 3.10.4).
    package var usersAwaitingContactMigration: [String] { flows.homeServer.usersAwaitingContactMigration }

    /// Starts the migration of a user's contacts to the mail server; the list is read-only until it ends (MS-PRES 3.10.4).
    /// - Parameter user: the user's URI.
    /// - Returns: the contacts to migrate; nil, without a change, unless the user awaits migration.
    package func beginContactMigration(of user: SIPURI) -> ContactListDocument? { flows.homeServer.beginContactMigration(of: user) }

    /// Ends the migration of a user's contacts. On success every subscription to the list ends with diagnostic 2186 (MS-PRES 4.14.2);
    /// after a failure the user awaits migration again.
    /// - Returns: false, without a change, unless the user's contacts were migrating.
    package func endContactMigration(of user: SIPURI, succeeded: Bool, at now: Instant) -> Bool {
        flows.homeServer.endContactMigration(of: user, succeeded: succeeded, at: now)
    }
}
