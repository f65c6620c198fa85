import SIPCore
import SIPEvents

/// A live watcher dialog, as much of it as a restart needs.
public struct StoredSubscription: Hashable, Sendable {
    public var dialog: DialogSnapshot
    public var event: String
    public var contentType: String
    public var watcher: String
    public var presentities: [String]
    public var expiry: Instant

    init(_ watcher: WatcherDialog) {
        dialog = watcher.dialog.snapshot
        event = watcher.event.description
        contentType = watcher.format.contentType
        self.watcher = watcher.watcherKey
        presentities = watcher.resources.map(\.key)
        expiry = watcher.notifier.expiry
    }
}

/// Keeps watcher dialogs across a restart.
///
/// The gateway calls it before the answer that depends on it comes out of ``Gateway/takeOutput()``; whoever drives the gateway
/// commits the store after `takeOutput()` and before sending, so that nothing is answered that is not kept (group commit).
public protocol SubscriptionStore: AnyObject {
    /// - Parameter subscription: made only when the store wants it.
    func save(_ localTag: String, _ subscription: () -> StoredSubscription)
    func remove(_ localTag: String)
    func all() -> [StoredSubscription]
}

/// Names a stored publication.
public enum PublicationKey: Hashable, Sendable {
    /// The category publications of one presentity (MS-PRES 3.2.1).
    case enhanced(presentity: String)
    /// One PIDF publication (RFC 3903); seconds of life left when it was saved.
    case simple(presentity: String, tag: String, expires: Int)
}

/// Keeps publications across a restart; called and committed as ``SubscriptionStore`` is.
public protocol PublicationStore: AnyObject {
    /// - Parameter request: the body of the request that made the change; made only when the store wants it.
    func save(_ key: PublicationKey, _ request: () -> [UInt8])
    func remove(_ key: PublicationKey)
}

/// Keeps dialogs as long as the process lives: the gateway's own tables are all there is.
public final class MemorySubscriptionStore: SubscriptionStore {
    private var kept: [String: StoredSubscription] = [:]
    private let isKeeping: Bool

    /// - Parameter isKeeping: true to look into it, in tests.
    public init(isKeeping: Bool = false) { self.isKeeping = isKeeping }

    public func save(_ localTag: String, _ subscription: () -> StoredSubscription) {
        if isKeeping { kept[localTag] = subscription() }
    }

    public func remove(_ localTag: String) { kept[localTag] = nil }
    public func all() -> [StoredSubscription] { kept.values.sorted { $0.dialog.localTag < $1.dialog.localTag } }
}

/// Keeps publications as long as the process lives: the gateway's own tables are all there is.
public final class MemoryPublicationStore: PublicationStore {
    public init() {}
    public func save(_ key: PublicationKey, _ request: () -> [UInt8]) {}
    public func remove(_ key: PublicationKey) {}
}
