import PresenceDocuments
import PresenceRules

/// Access of watchers to a presentity, as its rules decide. Watchers with equal access share one object, and by it one view.
///
/// Watchers that see everything have none: nil.
final class WatchAccess: Sendable {
    let handling: SubscriptionHandling
    /// Parts of the presence that are shown; they apply if the handling is `allow`.
    let grants: PresenceGrants

    /// The subscription is refused.
    static let block = WatchAccess(.block)
    /// The subscription is pending until the presentity decides.
    static let confirm = WatchAccess(.confirm)
    /// The watcher sees a presentity that never published.
    static let politeBlock = WatchAccess(.politeBlock)

    /// Access to a part of the presence.
    init(to grants: PresenceGrants) {
        handling = .allow
        self.grants = grants
    }

    private init(_ handling: SubscriptionHandling) {
        self.handling = handling
        grants = PresenceGrants()
    }

    var isPending: Bool { handling == .confirm }
    var isBlocked: Bool { handling == .block }
    /// Whether nothing of the presentity is shown.
    var showsNothing: Bool { handling != .allow }
}

/// Equality is identity: the key of a cached view holds the object, so that no other access takes its place.
extension WatchAccess: Hashable {
    static func == (left: WatchAccess, right: WatchAccess) -> Bool { left === right }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
