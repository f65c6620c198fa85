import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// Access control list of a user of the 2005 model (MS-SIP 3.7.4.2).
final class AccessControlPackage: OwnDataPackage {
    let token = "vnd-microsoft-roaming-ACL"
    let mediaTypes = [AccessControlListDocument.mediaType.description]

    func subscription(of owner: DataOwner, _ request: SIPRequest, in gateway: Gateway) throws(Refusal) -> any PackageSubscription {
        AccessControlSubscription(owner)
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        AccessControlSubscription(owner)
    }
}

/// A subscription to the access control list, which is always sent whole.
final class AccessControlSubscription: PackageSubscription {
    let owner: DataOwner

    init(_ owner: DataOwner) { self.owner = owner }

    var contentType: String { AccessControlListDocument.mediaType.description }
    var presentity: String { owner.key }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, in gateway: Gateway, at now: Instant
    ) -> NotificationBody? {
        NotificationBody(contentType: contentType, bytes: gateway.home.lists.accessControl(of: owner.key).document.encoded())
    }
}
