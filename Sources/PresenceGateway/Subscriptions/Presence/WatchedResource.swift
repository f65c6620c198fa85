import EnhancedPresence
import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents

/// One presentity in one dialog.
final class WatchedResource {
    /// Partner of the watcher; nil: the watcher's domain is hosted here.
    private(set) var partner: String?
    /// Canonical URI.
    let uri: SIPURI
    let key: String
    /// Key of the record shown of a hosted presentity; differs from ``key`` while the watcher is blocked.
    private(set) var hostedKey: String
    /// The URI as the watcher wrote it, used in its documents.
    let entity: SIPURI
    /// Requested categories, for watchers of categories.
    private(set) var categories: [CategoryName]
    /// The upstream subscription; nil: the presentity is hosted here.
    private(set) var upstream: UpstreamSubscription?
    /// Known state of the presentity, limited to what the watcher may see.
    private(set) var source = PresenceSource.unknown
    /// `source` in the watcher's format; nil: not rendered yet.
    private(set) var rendered: RenderedPresence?
    /// Whether ``rendered`` has content that is not published for every user.
    private(set) var isRenderedOwn = false
    /// State that the watcher has received; nil: none, or only a digest is kept.
    private(set) var delivered: RenderedPresence? {
        didSet {
            remembered = [:]
            deliveredDigest = nil
        }
    }
    /// Digest of a delivered document that is not shared with other watchers.
    private(set) var deliveredDigest: UInt64?
    /// Whether the remote domain has not granted it, or withdrawn it; only in dialogs about several presentities.
    private(set) var isPending = false {
        didSet { if isPending != oldValue { isPendingNotified = false } }
    }
    /// Whether the watcher was notified that it is pending.
    private(set) var isPendingNotified = false
    /// Version of the last partial document; continues over refreshes (RFC 5263 4.4).
    private(set) var partialVersion: UInt32 = 0
    /// Whether it is in the changes of its dialog.
    private(set) var isWaiting = false
    /// Time from which the next change may be notified (RFC 3856 6.10); nil: no known state was notified yet.
    private(set) var spacedUntil: Instant?
    /// Digests of the state delivered before a restart; cleared by the next delivery.
    private(set) var remembered: [String: UInt64] = [:]
    /// Whether the dialog is from an earlier process.
    private(set) var isRestored = false

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

    /// Creates the resource of a restored dialog.
    /// - Parameters:
    ///   - remembered: digests of the state delivered before the restart; empty: unknown.
    ///   - version: version of the last partial document.
    convenience init(
        restored uri: SIPURI, key: String, categories: [CategoryName], entity: SIPURI, remembered: [String: UInt64], version: UInt32
    ) {
        self.init(uri: uri, key: key, categories: categories, entity: entity)
        isRestored = true
        self.remembered = remembered
        partialVersion = version
    }

    // MARK: source

    /// Sets the subscription that feeds the resource; nil: none.
    func feed(from upstream: UpstreamSubscription?) { self.upstream = upstream }

    /// Sets the known state.
    func show(_ source: PresenceSource) {
        self.source = source
        rendered = nil
    }

    /// Sets the record that is shown of a hosted presentity.
    func place(at hostedKey: String) {
        self.hostedKey = hostedKey
        rendered = nil
    }

    /// Sets the requested categories.
    func request(_ categories: [CategoryName]) {
        self.categories = categories
        rendered = nil
    }

    /// Sets whether the remote domain grants the presence.
    func authorize(isPending: Bool) { self.isPending = isPending }

    /// Sets the partner for which the resource is counted.
    func count(for partner: String?) { self.partner = partner }

    /// Notes that the dialog's wait after the restart is over.
    func endResume() { isRestored = false }

    // MARK: views

    /// Drops the rendered state, because its source or time changed.
    func dropRendered() { rendered = nil }

    /// Keeps the rendered state.
    /// - Parameter isOwn: whether it has content that is not published for every user.
    func keep(_ rendered: RenderedPresence, isOwn: Bool) {
        self.rendered = rendered
        isRenderedOwn = isOwn
    }

    /// Keeps the rendered state of a presentity that is not hosted here.
    func keep(_ rendered: RenderedPresence) { self.rendered = rendered }

    // MARK: delivery

    /// Keeps the delivered state.
    func deliver(_ rendered: RenderedPresence) { delivered = rendered }

    /// Delays the next change; nil: it is not delayed.
    func space(until moment: Instant?) { spacedUntil = moment }

    /// Forgets the delivered state after a lost notification.
    func forgetDelivered() {
        delivered = nil
        spacedUntil = nil
    }

    /// Notes that it is in the queue of changes, or was removed from it.
    func wait(_ isWaiting: Bool) { self.isWaiting = isWaiting }

    /// Returns the version of the next partial document.
    func nextPartialVersion() -> UInt32 {
        partialVersion &+= 1
        return partialVersion
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

    /// Keeps only the digest of the delivered document, which is not shared and can be made again.
    func deliver(digest: UInt64) {
        delivered = nil
        deliveredDigest = digest
        rendered = nil
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
