import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// Access control list of a user of the 2005 model (MS-SIP 3.7.4.2).
final class AccessControlPackage: OwnDataPackage {
    let token = "vnd-microsoft-roaming-ACL"
    let mediaTypes = [AccessControlListDocument.mediaType.description]
    private unowned let source: any OwnDataSource

    init(_ source: any OwnDataSource) { self.source = source }

    func subscription(of owner: DataOwner, _ request: SIPRequest) throws(Refusal) -> any PackageSubscription {
        AccessControlSubscription(source, owner)
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        AccessControlSubscription(source, owner)
    }
}

/// A subscription to the access control list, which is always sent whole.
final class AccessControlSubscription: PackageSubscription {
    private unowned let source: any OwnDataSource
    let owner: DataOwner

    init(_ source: any OwnDataSource, _ owner: DataOwner) {
        self.source = source
        self.owner = owner
    }

    var contentType: String { AccessControlListDocument.mediaType.description }
    var presentity: String { owner.key }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        NotificationBody(contentType: contentType, bytes: source.accessControl(of: owner.key).document.encoded())
    }
}
