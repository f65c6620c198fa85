import PresenceDocuments
import SIPCore
import SIPEvents

/// Settings of the enterprise for its clients; each group is sent empty, so that clients keep their own settings.
final class ProvisioningPackage: OwnDataPackage {
    let token = "vnd-microsoft-provisioning-v2"
    let mediaTypes = [ProvisionGroupListDocument.mediaType.description]
    private unowned let source: any OwnDataSource

    init(_ source: any OwnDataSource) { self.source = source }

    func subscription(of owner: DataOwner, _ request: SIPRequest) throws(Refusal) -> any PackageSubscription {
        ProvisioningSubscription(source, owner, groups: try source.provisioningGroups(request))
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        details[ProvisioningSubscription.groupsDetail].map { groups in
            ProvisioningSubscription(source, owner, groups: groups.split(separator: "\n").map(String.init))
        }
    }
}

/// A subscription to groups of settings.
final class ProvisioningSubscription: PackageSubscription {
    private unowned let source: any OwnDataSource
    let owner: DataOwner
    private var groups: [String]

    /// Key of the groups in the stored details.
    static let groupsDetail = "groups"

    init(_ source: any OwnDataSource, _ owner: DataOwner, groups: [String]) {
        self.source = source
        self.owner = owner
        self.groups = groups
    }

    var contentType: String { ProvisionGroupListDocument.mediaType.description }
    var presentity: String { owner.key }
    var requiresEventList: Bool { true }

    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, at now: Instant
    ) throws(Refusal) -> [String]? {
        if !request.body.isEmpty { groups = try source.provisioningGroups(request) }
        return nil
    }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        NotificationBody(contentType: contentType, bytes: ProvisionGroupListDocument(groups: groups).encoded())
    }

    func reload(_ dialog: WatcherDialog, as stored: any PackageSubscription, hopMarks: [String?], at now: Instant) {
        if let stored = stored as? ProvisioningSubscription { groups = stored.groups }
    }

    func store(in stored: inout StoredDialog) { stored.details[Self.groupsDetail] = groups.joined(separator: "\n") }
}
