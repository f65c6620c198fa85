import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// A user's contacts at all of his endpoints (MS-SIP 3.7.4.1, 3.7.5.2; MS-PRES 3.10).
extension Gateway {
    /// A subscription to the contact list; one who can read his contacts from the mail server is sent there once they are
    /// (MS-PRES 3.10.4, 4.14).
    func contactsSubject(_ request: SIPRequest) throws(Refusal) -> HomeDialog.Subject {
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
        return .contacts(showsMode: document.ucsMode != nil, untold: .nothing)
    }

    /// What to tell of the contacts; nil: nothing is new.
    func contactsBody(of user: String, showsMode: Bool, untold: HomeDialog.UntoldContacts, isFull: Bool) -> [UInt8]? {
        let list = home.lists.contacts(of: user)
        guard !isFull else { return list.document(showsMode: showsMode).encoded() }
        switch untold {
        case .nothing: return nil
        case .one(var delta):
            delta.ucsMode = showsMode ? list.mode : nil
            return delta.encoded()
        case .all: return list.document(showsMode: showsMode).encoded()
        }
    }

    /// Tells every endpoint of the user what has changed, also the one that asked for it (MS-SIP 3.7.5.2).
    func tellContacts(of user: String, _ delta: ContactDeltaDocument, at now: Instant) {
        for subscription in home.dialogs.of(user) {
            guard case .contacts(let showsMode, let untold) = subscription.subject else { continue }
            subscription.subject = .contacts(showsMode: showsMode, untold: untold.with(delta))
            guard !subscription.isDetached else { continue }
            perform(subscription.notifier.stateChanged(at: now), on: subscription, at: now)
        }
    }

    /// Tells every endpoint of the user his access control list (MS-SIP 3.7.5.3).
    func tellAccessControl(of user: String, at now: Instant) {
        for subscription in home.dialogs.of(user) where subscription.package == .accessControl && !subscription.isDetached {
            perform(subscription.notifier.stateChanged(at: now), on: subscription, at: now)
        }
    }

    // MARK: the unified contact store

    /// Users whose clients said that their contacts may move to the mail server (MS-PRES 3.10.4), in order of their keys.
    public var usersAwaitingContactMigration: [String] { home.lists.awaitingMigration }

    /// The mail server's side starts to carry the contacts over: until it is done nobody may change them (MS-PRES 3.10.4).
    /// - Parameter user: the user's URI.
    /// - Returns: what to carry over; nil, and nothing changed, unless the user awaits migration.
    public func beginContactMigration(of user: SIPURI) -> ContactListDocument? {
        var list = home.lists.contacts(of: user.aorKey)
        guard list.beginMigration() else { return nil }
        home.lists.set(list, of: user.aorKey)
        keep(.contacts(user.aorKey))
        return list.document(showsMode: true)
    }

    /// The contacts are on the mail server, or could not be carried over. In the first case every subscription to the list ends, with
    /// diagnostic 2186 (MS-PRES 4.14.2).
    /// - Returns: False, and nothing changed, unless the user's contacts were migrating.
    public func endContactMigration(of user: SIPURI, succeeded: Bool, at now: Instant) -> Bool {
        let user = user.aorKey
        var list = home.lists.contacts(of: user)
        guard succeeded ? list.completeMigration() : list.cancelMigration() else { return false }
        home.lists.set(list, of: user)
        keep(.contacts(user))
        guard succeeded else { return true }
        for subscription in home.dialogs.of(user) where subscription.package == .contacts {
            subscription.farewell = .contactsMoved
            subscription.subject = .contacts(showsMode: true, untold: .all)
            perform(subscription.notifier.terminate(.deactivated, content: .full, at: now), on: subscription, at: now)
        }
        return true
    }
}

extension HomeDialog {
    /// What a contacts dialog has not been told; a delta carries one change only (MS-SIP 9.1).
    enum UntoldContacts {
        case nothing
        case one(ContactDeltaDocument)
        /// More than one change: the whole list says them all.
        case all

        func with(_ delta: ContactDeltaDocument) -> UntoldContacts {
            if case .nothing = self { .one(delta) } else { .all }
        }
    }
}
