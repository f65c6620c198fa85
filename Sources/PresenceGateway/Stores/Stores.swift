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
    /// Everything that was published for one presentity in categories, and its memberships (MS-PRES 3.2.1, 3.5.1).
    case enhanced(presentity: String)
    /// One PIDF publication (RFC 3903).
    case simple(presentity: String, tag: String)
}

/// A publication, as much of it as a restart needs.
public struct StoredPublication: Hashable, Sendable {
    /// The PIDF document, or the presentity's whole self document (MS-PRES 2.2.2.3.2) with its versions and lives.
    public var document: [UInt8]
    /// Lives in a self document count from here.
    public var savedAt: Instant
    /// When it ends by itself; nil: its document says when its parts do.
    public var expiry: Instant?

    public init(document: [UInt8], savedAt: Instant, expiry: Instant?) {
        self.document = document
        self.savedAt = savedAt
        self.expiry = expiry
    }
}

/// Keeps publications across a restart; called and committed as ``SubscriptionStore`` is.
public protocol PublicationStore: AnyObject {
    /// - Parameter publication: made only when the store wants it.
    func save(_ key: PublicationKey, _ publication: () -> StoredPublication)
    /// A refresh (RFC 3903 4.3): the same document under a new entity-tag, for longer.
    func renew(_ old: PublicationKey, as key: PublicationKey, until expiry: Instant)
    func remove(_ key: PublicationKey)
    func all() -> [PublicationKey: StoredPublication]
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
    private var kept: [PublicationKey: StoredPublication] = [:]
    private let isKeeping: Bool

    /// - Parameter isKeeping: true to look into it, in tests.
    public init(isKeeping: Bool = false) { self.isKeeping = isKeeping }

    public func save(_ key: PublicationKey, _ publication: () -> StoredPublication) {
        if isKeeping { kept[key] = publication() }
    }

    public func renew(_ old: PublicationKey, as key: PublicationKey, until expiry: Instant) {
        guard var publication = kept.removeValue(forKey: old) else { return }
        publication.expiry = expiry
        kept[key] = publication
    }

    public func remove(_ key: PublicationKey) { kept[key] = nil }
    public func all() -> [PublicationKey: StoredPublication] { kept }
}
