import SIPCore
import SIPEvents

/// Watchers that wait for a decision of a user of the 2005 model; always empty, since containers decide (MS-PRES 3.2.5.3).
final class PendingWatchersPackage: OwnDataPackage {
    let token = "presence.wpending"
    let mediaTypes = [PendingWatchersSubscription.mediaType]

    func subscription(of owner: DataOwner, _ request: SIPRequest) throws(Refusal) -> any PackageSubscription {
        PendingWatchersSubscription(owner)
    }

    func subscription(of owner: DataOwner, _ details: [String: String]) -> (any PackageSubscription)? {
        PendingWatchersSubscription(owner)
    }
}

/// A subscription to the list of waiting watchers.
final class PendingWatchersSubscription: PackageSubscription {
    let owner: DataOwner

    static let mediaType = "text/xml+msrtc.wpending"

    init(_ owner: DataOwner) { self.owner = owner }

    var contentType: String { Self.mediaType }
    var presentity: String { owner.key }

    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        NotificationBody(contentType: contentType, bytes: Array("<watchers/>".utf8))
    }
}
