import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// One presentity in one dialog.
final class WatchedResource {
    /// Partner of the watcher; nil: the watcher's domain is hosted here.
    var partner: String?
    /// Canonical URI.
    let uri: SIPURI
    let key: String
    /// Key of the record shown of a hosted presentity; differs from ``key`` while the watcher is blocked.
    var hostedKey: String
    /// The URI as the watcher wrote it, used in its documents.
    let entity: SIPURI
    /// Requested categories, for watchers of categories.
    var categories: [CategoryName]
    /// The upstream subscription; nil: the presentity is hosted here.
    var upstream: UpstreamSubscription?
    /// Known state of the presentity, limited to what the watcher may see.
    var source = PresenceSource.unknown
    /// `source` in the watcher's format; nil: not rendered yet.
    var rendered: RenderedPresence?
    /// Whether ``rendered`` has content that is not published for every user.
    var isRenderedOwn = false
    /// State that the watcher has received; nil: none, or only a digest is kept.
    var delivered: RenderedPresence? {
        didSet {
            remembered = [:]
            deliveredDigest = nil
        }
    }
    /// Digest of a delivered document that is not shared with other watchers.
    private(set) var deliveredDigest: UInt64?
    /// Whether the remote domain has not granted it, or withdrawn it; only in dialogs about several presentities.
    var isPending = false {
        didSet { if isPending != oldValue { isPendingNotified = false } }
    }
    /// Whether the watcher was notified that it is pending.
    private(set) var isPendingNotified = false
    /// Version of the last partial document; continues over refreshes (RFC 5263 4.4).
    var partialVersion: UInt32 = 0
    /// Whether it is in its dialog's ``WatcherDialog/changes``.
    var isWaiting = false
    /// Time from which the next change may be notified (RFC 3856 6.10); nil: no known state was notified yet.
    var spacedUntil: Instant?
    /// Digests of the state delivered before a restart; cleared by the next delivery.
    var remembered: [String: UInt64] = [:]
    /// Whether the dialog is from an earlier process.
    var isRestored = false

    init(uri: SIPURI, key: String, categories: [CategoryName], entity: SIPURI? = nil) {
        self.uri = uri
        self.key = key
        hostedKey = key
        self.categories = categories
        self.entity = entity ?? uri
    }

    convenience init(_ wanted: CategoryRequest.Resource) {
        self.init(uri: wanted.uri, key: wanted.key, categories: wanted.categories, entity: wanted.entity)
    }

    /// Notes that the watcher was notified of pending; the delivered state is no longer valid.
    func notePendingNotified() {
        isPendingNotified = true
        delivered = nil
    }

    /// Restores a pending state from before a restart.
    func restorePending(isNotified: Bool) {
        isPending = true
        isPendingNotified = isNotified
    }

    /// Whether any state was delivered to the watcher.
    var isNotified: Bool { delivered != nil || deliveredDigest != nil || !remembered.isEmpty }

    /// Keeps only the digest of the delivered document.
    func deliver(digest: UInt64) {
        delivered = nil
        deliveredDigest = digest
    }

    /// Whether the watcher has this state already.
    func isKnown(_ rendered: RenderedPresence) -> Bool {
        if let deliveredDigest, case .document(let view) = rendered { return view.digest == deliveredDigest }
        return delivered == nil && !remembered.isEmpty
            ? rendered.digests(of: categories) == remembered : rendered.changesNothing(after: delivered, among: categories)
    }

    /// Categories that differ from the delivered state.
    func changedCategories(in rendered: RenderedPresence) -> [CategoryName] {
        guard delivered == nil, !remembered.isEmpty else {
            return rendered.changedCategories(since: delivered, among: categories) ?? []
        }
        let digests = rendered.digests(of: categories)
        return categories.filter { digests[$0.rawValue] != remembered[$0.rawValue] }
    }

    /// Digests of the delivered state, for the store.
    var deliveredDigests: [String: UInt64] {
        if let deliveredDigest { return [PresenceDigest.whole: deliveredDigest] }
        return delivered?.digests(of: categories) ?? remembered
    }
}
