import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// Event packages for a user's own endpoints at their home server (MS-PRES 3.3, MS-SIP 3.7).
enum HomePackage: String, CaseIterable {
    /// Publications, containers, subscribers and delegates of the user (MS-PRES 3.3).
    case roamingSelf = "vnd-microsoft-roaming-self"
    /// Settings of the enterprise for its clients.
    case provisioning = "vnd-microsoft-provisioning-v2"
    /// Contacts and groups of the user (MS-SIP 3.7.4.1).
    case contacts = "vnd-microsoft-roaming-contacts"
    /// Access control list of a user of the 2005 model (MS-SIP 3.7.4.2).
    case accessControl = "vnd-microsoft-roaming-ACL"
    /// Watchers that wait for a decision of a user of the 2005 model; always empty, since containers decide (MS-PRES 3.2.5.3).
    case pendingWatchers = "presence.wpending"

    /// Media type of requests and notifications.
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
    /// Whether messages of the package carry `Require: eventlist`; those of MS-SIP 3.7 do not.
    var requiresEventList: Bool { self == .roamingSelf || self == .provisioning }
}

/// A subscription of a user's own endpoint to the user's data at the home server.
///
/// Its ``SIPEvents/Notifier`` decides when to notify, its subject decides the content.
final class HomeDialog {
    /// The subscribed data, with the changes that were not yet notified.
    enum Subject {
        case roamingSelf(scope: Set<RoamingScope>, pendingChanges: PresentityChange)
        case provisioning(groups: [String])
        /// - Parameter showsMode: whether the client supports the unified contact store (MS-PRES 10).
        case contacts(showsMode: Bool, pendingChanges: PendingContacts)
        case accessControl
        case pendingWatchers
    }

    /// Local tag; key in the gateway's table.
    let localTag: String
    /// Names the dialog to the kernel while it is in the gateway's table.
    var ticket = Ticket.none
    let package: HomePackage
    /// `aorKey` of the user.
    let user: String
    let userURI: SIPURI
    /// Endpoint of the SUBSCRIBE; nil: the request named none.
    let endpoint: EndpointID?
    /// Event of the SUBSCRIBE with its `id`, repeated in every notification.
    let event: Event
    /// Whether the registration prolongs the dialog without a refresh (com.microsoft.autoextend).
    let followsRegistration: Bool
    var dialog: Dialog
    var notifier: Notifier
    /// Changed by ``HomeDialogs/move(_:to:)``.
    fileprivate(set) var flow: Flow
    var subject: Subject
    /// Reason of the last failed notification; valid while the notifier retries.
    var failureReason: String?
    /// Whether the connection is gone: nothing is sent until the endpoint returns.
    var isDetached = false
    /// Time by which an endpoint without a registration must return; nil: no such limit.
    var returnsBy: Instant?
    /// Diagnostic for the last notification, if this server ended the dialog.
    var terminationDiagnostic: Diagnostic?

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
    /// Marks the endpoint as reachable again.
    func attach() {
        isDetached = false
        returnsBy = nil
    }

    /// Whether due notifications wait for the endpoint to return.
    func isWaiting(at now: Instant) -> Bool { isDetached && !notifier.isEnding && now < notifier.expiry }

    var nextDeadline: Instant? {
        isDetached && !notifier.isEnding ? .earliest(notifier.expiry, returnsBy) : .earliest(notifier.nextDeadline, returnsBy)
    }
}

/// Dialogs by tag, by user and by the connection of their notifications.
struct HomeDialogs {
    private var byTag: [String: HomeDialog] = [:]
    private var byUser: [String: [HomeDialog]] = [:]
    private var byConnection: [ConnectionID: Set<String>] = [:]

    var count: Int { byTag.count }
    var all: [HomeDialog] { byTag.values.sorted { $0.localTag < $1.localTag } }

    subscript(tag: String) -> HomeDialog? { byTag[tag] }

    /// Dialogs of a user in order of creation.
    func of(_ user: String) -> [HomeDialog] { byUser[user] ?? [] }

    /// Dialogs notified over a connection, ordered by tag.
    func over(_ connection: ConnectionID) -> [HomeDialog] { (byConnection[connection] ?? []).sorted().compactMap { byTag[$0] } }

    mutating func insert(_ dialog: HomeDialog) {
        byTag[dialog.localTag] = dialog
        byUser[dialog.user, default: []].append(dialog)
        bind(dialog)
    }

    /// Changes the flow over which the dialog is notified.
    mutating func move(_ dialog: HomeDialog, to flow: Flow) {
        unbind(dialog)
        dialog.flow = flow
        if byTag[dialog.localTag] != nil { bind(dialog) }
    }

    /// - Returns: whether the dialog was in the table.
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
