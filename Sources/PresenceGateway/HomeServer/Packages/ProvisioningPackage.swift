import PresenceDocuments
import SIPCore
import SIPEvents

/// Settings of the enterprise for its clients; each group is sent empty, so that clients keep their own settings.
final class ProvisioningPackage: OwnDataPackage {
    let token = "vnd-microsoft-provisioning-v2"
    let mediaTypes = [ProvisionGroupListDocument.mediaType.description]

    func subscription(of owner: DataOwner, _ request: SIPRequest, in gateway: Gateway) throws(Refusal) -> any PackageSubscription {
        ProvisioningSubscription(owner, groups: try gateway.provisioningGroups(request))
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        details[ProvisioningSubscription.groupsDetail].map { groups in
            ProvisioningSubscription(owner, groups: groups.split(separator: "\n").map(String.init))
        }
    }
}

/// A subscription to groups of settings.
final class ProvisioningSubscription: PackageSubscription {
    let owner: DataOwner
    private var groups: [String]

    /// Key of the groups in the stored details.
    static let groupsDetail = "groups"

    init(_ owner: DataOwner, groups: [String]) {
        self.owner = owner
        self.groups = groups
    }

    var contentType: String { ProvisionGroupListDocument.mediaType.description }
    var presentity: String { owner.key }
    var requiresEventList: Bool { true }

    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, in gateway: Gateway, at now: Instant
    ) throws(Refusal) -> [String]? {
        if !request.body.isEmpty { groups = try gateway.provisioningGroups(request) }
        return nil
    }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, in gateway: Gateway, at now: Instant
    ) -> NotificationBody? {
        NotificationBody(contentType: contentType, bytes: ProvisionGroupListDocument(groups: groups).encoded())
    }

    func undo(of dialog: WatcherDialog, in gateway: Gateway) -> (Instant) -> Void {
        let groups = groups
        return { _ in self.groups = groups }
    }

    func store(in stored: inout StoredDialog) { stored.details[Self.groupsDetail] = groups.joined(separator: "\n") }
}
