import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// What a user's own endpoints may subscribe to at their home server (MS-PRES 3.3, MS-SIP 3.7).
enum HomePackage: String, CaseIterable {
    /// Publications, containers, subscribers and delegates of the user (MS-PRES 3.3).
    case roamingSelf = "vnd-microsoft-roaming-self"
    /// What the enterprise prescribes to its clients.
    case provisioning = "vnd-microsoft-provisioning-v2"
    /// Contacts and groups of the user (MS-SIP 3.7.4.1).
    case contacts = "vnd-microsoft-roaming-contacts"
    /// Who may see and call a user of the 2005 model (MS-SIP 3.7.4.2).
    case accessControl = "vnd-microsoft-roaming-ACL"
    /// Watchers that wait for a user of the 2005 model to decide; here nobody waits, since containers decide (MS-PRES 3.2.5.3).
    case pendingWatchers = "presence.wpending"

    /// Of requests and bodies.
    var mediaType: String {
        switch self {
        case .roamingSelf: WatcherFormat.roamingSelfType
        case .provisioning: ProvisionGroupListDocument.mediaType.description
        case .contacts: ContactListDocument.mediaType.description
        case .accessControl: AccessControlListDocument.mediaType.description
        case .pendingWatchers: "text/xml+msrtc.wpending"
        }
    }
}

extension HomePackage {
    /// Whether its messages carry `Require: eventlist`; those of MS-SIP 3.7 do not.
    var requiresEventList: Bool { self == .roamingSelf || self == .provisioning }
}

/// A subscription of one of a user's own endpoints to what the home server keeps for him.
///
/// When to notify is decided by its ``SIPEvents/Notifier``, what to say by its subject.
final class HomeDialog {
    /// What the endpoint asked for, with what it has not yet been told.
    enum Subject {
        case roamingSelf(scope: Set<RoamingScope>, untold: PresentityChange)
        case provisioning(groups: [String])
        /// - Parameter showsMode: whether the client knows of the unified contact store (MS-PRES 10).
        case contacts(showsMode: Bool, untold: UntoldContacts)
        case accessControl
        case pendingWatchers
    }

    /// Our tag: unique, and the key of the gateway's table.
    let localTag: String
    let package: HomePackage
    /// The user's key, and his URI.
    let user: String
    let userURI: SIPURI
    /// nil: the request did not say which endpoint it comes from.
    let endpoint: EndpointID?
    /// Of the SUBSCRIBE, with its `id`; written into every notification.
    let event: Event
    /// The dialog lives as long as the registration does, without a refresh (com.microsoft.autoextend).
    let followsRegistration: Bool
    var dialog: Dialog
    var notifier: Notifier
    /// Changed by ``HomeDialogs/move(_:to:)``.
    fileprivate(set) var flow: Flow
    var subject: Subject
    /// Reason of the last failed notification; valid while the notifier retries.
    var failureReason: String?
    /// Its connection closed; it is told nothing until its endpoint is back.
    var isDetached = false
    /// Until then its endpoint may come back, if it was never registered.
    var returnsBy: Instant?
    /// Why this server ended the dialog, for the last notification.
    var farewell: Diagnostic?

    init(
        localTag: String, package: HomePackage, parties: RequestScreening.Parties, endpoint: EndpointID?, event: Event,
        followsRegistration: Bool, dialog: Dialog, notifier: Notifier, flow: Flow, subject: Subject
    ) {
        self.localTag = localTag
        self.package = package
        user = parties.presentityKey
        userURI = parties.presentity
        self.endpoint = endpoint
        self.event = event
        self.followsRegistration = followsRegistration
        self.dialog = dialog
        self.notifier = notifier
        self.flow = flow
        self.subject = subject
    }
}

extension HomeDialog {
    /// Its endpoint is reached again.
    func attach() {
        isDetached = false
        returnsBy = nil
    }

    /// Nothing is sent: the endpoint is not there. What is due is sent when it is back.
    func isWaiting(at now: Instant) -> Bool { isDetached && !notifier.isEnding && now < notifier.expiry }

    var nextDeadline: Instant? {
        isDetached && !notifier.isEnding ? .earliest(notifier.expiry, returnsBy) : .earliest(notifier.nextDeadline, returnsBy)
    }
}

/// Dialogs by their tag, by their user and by the connection over which they are told.
struct HomeDialogs {
    private var byTag: [String: HomeDialog] = [:]
    private var byUser: [String: [HomeDialog]] = [:]
    private var byConnection: [ConnectionID: Set<String>] = [:]

    var count: Int { byTag.count }
    var all: [HomeDialog] { byTag.values.sorted { $0.localTag < $1.localTag } }

    subscript(tag: String) -> HomeDialog? { byTag[tag] }

    /// In the order in which they came.
    func of(_ user: String) -> [HomeDialog] { byUser[user] ?? [] }

    /// Told over this connection, by tag.
    func over(_ connection: ConnectionID) -> [HomeDialog] { (byConnection[connection] ?? []).sorted().compactMap { byTag[$0] } }

    mutating func insert(_ dialog: HomeDialog) {
        byTag[dialog.localTag] = dialog
        byUser[dialog.user, default: []].append(dialog)
        bind(dialog)
    }

    /// From now on the dialog is told over this flow.
    mutating func move(_ dialog: HomeDialog, to flow: Flow) {
        unbind(dialog)
        dialog.flow = flow
        if byTag[dialog.localTag] != nil { bind(dialog) }
    }

    /// - Returns: whether it was there.
    mutating func remove(_ dialog: HomeDialog) -> Bool {
        guard byTag.removeValue(forKey: dialog.localTag) != nil else { return false }
        byUser[dialog.user]?.removeAll { $0 === dialog }
        if byUser[dialog.user]?.isEmpty == true { byUser[dialog.user] = nil }
        unbind(dialog)
        return true
    }

    private mutating func bind(_ dialog: HomeDialog) {
        if let connection = dialog.flow.connection { byConnection[connection, default: []].insert(dialog.localTag) }
    }

    private mutating func unbind(_ dialog: HomeDialog) {
        guard let connection = dialog.flow.connection else { return }
        byConnection[connection]?.remove(dialog.localTag)
        if byConnection[connection]?.isEmpty == true { byConnection[connection] = nil }
    }
}
