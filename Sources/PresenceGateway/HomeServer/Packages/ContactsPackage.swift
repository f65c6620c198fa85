import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// Contacts and groups of the user (MS-SIP 3.7.4.1).
final class ContactsPackage: OwnDataPackage {
    let token = "vnd-microsoft-roaming-contacts"
    let mediaTypes = [ContactListDocument.mediaType.description]
    private unowned let source: any OwnDataSource

    init(_ source: any OwnDataSource) { self.source = source }

    func subscription(of owner: DataOwner, _ request: SIPRequest) throws(Refusal) -> any PackageSubscription {
        ContactsSubscription(source, owner, showsMode: false)
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        ContactsSubscription(source, owner, showsMode: details[ContactsSubscription.modeDetail] != nil)
    }
}

/// A subscription to the contact list.
final class ContactsSubscription: PackageSubscription {
    /// Changes that were not notified; a delta carries one change only (MS-SIP 9.1).
    enum PendingChanges {
        case nothing
        case one(ContactDeltaDocument)
        /// More than one change: the whole list is sent.
        case all
    }

    private unowned let source: any OwnDataSource
    let owner: DataOwner
    /// Whether the client supports the unified contact store (MS-PRES 10).
    private var showsMode: Bool
    private var pendingChanges = PendingChanges.nothing

    /// Key in the stored details that is present if ``showsMode``.
    static let modeDetail = "ucs"

    init(_ source: any OwnDataSource, _ owner: DataOwner, showsMode: Bool) {
        self.source = source
        self.owner = owner
        self.showsMode = showsMode
    }

    var contentType: String { ContactListDocument.mediaType.description }
    var presentity: String { owner.key }

    /// Adds a change of the list.
    func add(_ delta: ContactDeltaDocument) {
        if case .nothing = pendingChanges { pendingChanges = .one(delta) } else { pendingChanges = .all }
    }

    /// Notes that the contacts have moved to the mail server (MS-PRES 4.14.2).
    func moved() {
        showsMode = true
        pendingChanges = .all
    }

    func admit(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) throws(Refusal) {
        showsMode = try source.showsContactMode(request)
    }

    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, at now: Instant
    ) throws(Refusal) -> [String]? {
        guard !request.body.isEmpty else { return nil }
        showsMode = try source.showsContactMode(request)
        pendingChanges = .nothing
        return nil
    }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        defer { pendingChanges = .nothing }
        let list = source.contacts(of: owner.key)
        let bytes: [UInt8]
        switch pendingChanges {
        case .nothing where !isFull: return nil
        case .one(var delta) where !isFull:
            delta.ucsMode = showsMode ? list.mode : nil
            bytes = delta.encoded()
        case .nothing, .one, .all: bytes = list.document(showsMode: showsMode).encoded()
        }
        return NotificationBody(contentType: contentType, bytes: bytes)
    }

    func reload(_ dialog: WatcherDialog, as stored: any PackageSubscription, hopMarks: [String?], at now: Instant) {
        guard let stored = stored as? ContactsSubscription else { return }
        showsMode = stored.showsMode
        pendingChanges = .all
    }

    func store(in stored: inout StoredDialog) { if showsMode { stored.details[Self.modeDetail] = "yes" } }
}
