import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// Contact lists of users and their notifications (MS-SIP 3.7.4.1, 3.7.5.2; MS-PRES 3.10).
extension HomeServerFlow {
    /// Decides about the migration of contacts for a client that subscribes, and whether it is shown their mode.
    /// - Throws: 488 if the contacts were migrated and the client can read them from the mail server (MS-PRES 3.10.4, 4.14).
    func showsContactMode(_ request: SIPRequest) throws(Refusal) -> Bool {
        guard let user = request.headers.to?.uri.aorKey else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        var list = home.lists.contacts(of: user)
        let known = list.mode
        let document: ContactListDocument
        do throws(EnhancedPresenceRefusal) {
            document = try list.answer(
                UCSOffer(
                    isCapable: request.headers.hasToken(.supported, "ms-ucs"),
                    isReady: request.headers.hasToken(.supported, "ms-ucs-ready")))
        } catch {
            throw Refusal(error)
        }
        if list.mode != known {
            home.lists.set(list, of: user)
            keep(.contacts(user))
        }
        return document.ucsMode != nil
    }

    /// Notifies the user's endpoints of a change, including the one that requested it (MS-SIP 3.7.5.2).
    func notifyContacts(of user: String, _ delta: ContactDeltaDocument, at now: Instant) {
        for dialog in ports.ownDialogs(of: user) {
            guard let subscription = dialog.subscription as? ContactsSubscription else { continue }
            subscription.add(delta)
            ports.stateChanged(of: dialog, at: now)
        }
    }

    /// Notifies the user's endpoints of the access control list (MS-SIP 3.7.5.3).
    func notifyAccessControl(of user: String, at now: Instant) {
        for dialog in ports.ownDialogs(of: user) where dialog.subscription is AccessControlSubscription {
            ports.stateChanged(of: dialog, at: now)
        }
    }

    // MARK: the unified contact store

    /// Keys of the users with clients ready for the migration of contacts to the mail server, sorted (MS-PRES 3.10.4).
    var usersAwaitingContactMigration: [String] { home.lists.awaitingMigration }

    /// Starts the migration of a user's contacts to the mail server; the list is read-only until it ends (MS-PRES 3.10.4).
    /// - Parameter user: the user's URI.
    /// - Returns: the contacts to migrate; nil, without a change, unless the user awaits migration.
    func beginContactMigration(of user: SIPURI) -> ContactListDocument? {
        var list = home.lists.contacts(of: user.aorKey)
        guard list.beginMigration() else { return nil }
        home.lists.set(list, of: user.aorKey)
        keep(.contacts(user.aorKey))
        return list.document(showsMode: true)
    }

    /// Ends the migration of a user's contacts. On success every subscription to the list ends with diagnostic 2186 (MS-PRES 4.14.2);
    /// after a failure the user awaits migration again.
    /// - Returns: false, without a change, unless the user's contacts were migrating.
    func endContactMigration(of user: SIPURI, succeeded: Bool, at now: Instant) -> Bool {
        let user = user.aorKey
        var list = home.lists.contacts(of: user)
        guard succeeded ? list.completeMigration() : list.cancelMigration() else { return false }
        home.lists.set(list, of: user)
        keep(.contacts(user))
        guard succeeded else { return true }
        for dialog in ports.ownDialogs(of: user) {
            guard let subscription = dialog.subscription as? ContactsSubscription else { continue }
            dialog.diagnose(.contactsMoved)
            subscription.moved()
            ports.deactivate(dialog, at: now)
        }
        return true
    }
}
