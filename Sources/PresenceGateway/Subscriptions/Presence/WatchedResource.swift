import EnhancedPresence
import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents

/// One presentity in one dialog.
final class WatchedResource {
    /// Source of its presence.
    enum Feed {
        case none
        /// A record of a hosted presentity in this shard; its key differs from the presentity's while the watcher is blocked.
        case record(String)
        /// A hosted presentity of another shard, and what it shows; nil: nothing was received yet.
        case view(WatchID, RenderedPresence?)
        case upstream(UpstreamSubscription)
    }

    /// State that the watcher has received.
    enum Delivered {
        case none
        case presence(RenderedPresence)
        /// Digest of a document that is not shared with other watchers.
        case digest(UInt64)
        /// Digests of the state delivered before a restart.
        case remembered([String: UInt64])
    }

    /// Whether the remote domain grants the presence; only in dialogs about several presentities.
    enum Authorization: Equatable {
        case granted
        /// - Parameter isNotified: whether the watcher was notified that it is pending.
        case pending(isNotified: Bool)
    }

    /// Partner of the watcher; nil: the watcher's domain is hosted here.
    private(set) var partner: String?
    /// Canonical URI.
    let uri: SIPURI
    let key: String
    /// The URI as the watcher wrote it, used in its documents.
    let entity: SIPURI
    /// Requested categories, for watchers of categories.
    private(set) var categories: [CategoryName]
    private(set) var feed = Feed.none
    /// Whether its record changed since ``takeUnstored()``, apart from the delivered state.
    private var isUnstored = false
    /// Access by the rules of a hosted presentity; nil: everything. Of a presentity of another shard only whether it is pending is known.
    private(set) var access: WatchAccess?
    /// Whether the watcher waited for the decision that admitted it.
    private(set) var wasApproved = false
    /// Known state of the presentity, limited to what the watcher may see.
    private(set) var source = PresenceSource.unknown
    /// `source` in the watcher's format, and whether it has content that is not published for every user; nil: not rendered yet.
    private var view: (presence: RenderedPresence, isOwn: Bool)?
    private var deliveredState = Delivered.none
    private var authorization = Authorization.granted { didSet { if authorization != oldValue { isUnstored = true } } }
    /// Version of the last partial document; continues over refreshes (RFC 5263 4.4).
    private(set) var partialVersion: UInt32 = 0
    /// Whether it is in the changes of its dialog.
    private(set) var isWaiting = false
    /// Time from which the next change may be notified (RFC 3856 6.10); nil: no known state was notified yet.
    private(set) var spacedUntil: Instant?
    /// Whether the dialog is from an earlier process.
    private(set) var isRestored = false

    init(uri: SIPURI, key: String, categories: [CategoryName], entity: SIPURI? = nil) {
        self.uri = uri
        self.key = key
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
        deliveredState = remembered.isEmpty ? .none : .remembered(remembered)
        partialVersion = version
    }

    /// Whether its record changed since the last call, apart from the delivered state.
    func takeUnstored() -> Bool {
        defer { isUnstored = false }
        return isUnstored
    }

    // MARK: source

    /// The upstream subscription; nil: the presentity is hosted on this node.
    var upstream: UpstreamSubscription? { if case .upstream(let upstream) = feed { upstream } else { nil } }

    /// Key of the record shown of a hosted presentity; differs from ``key`` while the watcher is blocked.
    var hostedKey: String { if case .record(let key) = feed { key } else { key } }

    /// Presence received from a presentity of another shard; nil: nothing was received, or the presentity is of this shard.
    var received: RenderedPresence? { if case .view(_, let received) = feed { received } else { nil } }

    /// The watch of a presentity of another shard; nil: it is not one.
    var watch: WatchID? { if case .view(let watch, _) = feed { watch } else { nil } }

    /// Sets the subscription that feeds the resource; nil: none.
    func feed(from upstream: UpstreamSubscription?) {
        if upstream?.hopMarks != self.upstream?.hopMarks { isUnstored = true }
        feed = upstream.map { .upstream($0) } ?? .none
    }

    /// Sets the known state.
    func show(_ source: PresenceSource) {
        self.source = source
        view = nil
    }

    /// Sets the access that the rules of the presentity give the watcher.
    func permit(_ access: WatchAccess?) {
        if self.access?.isPending == true { wasApproved = access?.isPending != true && access?.isBlocked != true }
        self.access = access
        view = nil
    }

    /// Sets the record that is shown of a hosted presentity.
    func place(at hostedKey: String) {
        feed = .record(hostedKey)
        view = nil
    }

    /// Sets the watch of a presentity of another shard, and what it shows; nil: nothing was received yet.
    func watch(by watch: WatchID, showing received: RenderedPresence?) {
        feed = .view(watch, received)
        show(received == nil ? .unknown : .offline)
    }

    /// Sets the requested categories.
    func request(_ categories: [CategoryName]) {
        self.categories = categories
        view = nil
    }

    /// Whether the remote domain has not granted it, or withdrawn it.
    var isPending: Bool { authorization != .granted }
    /// Whether the watcher was notified that it is pending.
    var isPendingNotified: Bool { authorization == .pending(isNotified: true) }

    /// Sets whether the remote domain grants the presence.
    func authorize(isPending: Bool) {
        if isPending != self.isPending { authorization = isPending ? .pending(isNotified: false) : .granted }
    }

    /// Sets the partner for which the resource is counted.
    func count(for partner: String?) { self.partner = partner }

    /// Notes that the dialog's wait after the restart is over.
    func endResume() { isRestored = false }

    // MARK: views

    /// The state in the watcher's format; nil: not rendered yet.
    var rendered: RenderedPresence? { view?.presence }
    /// Whether ``rendered`` has content that is not published for every user.
    var isRenderedOwn: Bool { view?.isOwn ?? false }

    /// Drops the rendered state, because its source or time changed.
    func dropRendered() { view = nil }

    /// Keeps the rendered state.
    /// - Parameter isOwn: whether it has content that is not published for every user.
    func keep(_ rendered: RenderedPresence, isOwn: Bool = false) { view = (rendered, isOwn) }

    // MARK: delivery

    /// Keeps the delivered state.
    func deliver(_ rendered: RenderedPresence) { deliveredState = .presence(rendered) }

    /// Delays the next change; nil: it is not delayed.
    func space(until moment: Instant?) { spacedUntil = moment }

    /// Forgets the delivered state after a lost notification.
    func forgetDelivered() {
        deliveredState = .none
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
        if isPending { authorization = .pending(isNotified: true) }
        deliveredState = .none
    }

    /// Restores a pending state from before a restart.
    func restorePending(isNotified: Bool) { authorization = .pending(isNotified: isNotified) }

    /// Whether any state was delivered to the watcher.
    var isNotified: Bool { if case .none = deliveredState { false } else { true } }

    /// The delivered state; nil: none, or only a digest is kept.
    var delivered: RenderedPresence? { if case .presence(let presence) = deliveredState { presence } else { nil } }

    /// Whether only the digest of the delivered document is kept.
    var isDigestKept: Bool { if case .digest = deliveredState { true } else { false } }

    /// Keeps only the digest of the delivered document, which is not shared and can be made again.
    func deliver(digest: UInt64) {
        deliveredState = .digest(digest)
        view = nil
    }

    /// Whether the watcher has this state already.
    func isKnown(_ rendered: RenderedPresence) -> Bool {
        switch deliveredState {
        case .none: return rendered.changesNothing(after: nil, among: categories)
        case .presence(let delivered): return rendered.changesNothing(after: delivered, among: categories)
        case .digest(let digest):
            if case .document(let view) = rendered { return view.digest == digest }
            return rendered.changesNothing(after: nil, among: categories)
        case .remembered(let digests): return rendered.digests(of: categories) == digests
        }
    }

    /// Categories that differ from the delivered state.
    func changedCategories(in rendered: RenderedPresence) -> [CategoryName] {
        guard case .remembered(let remembered) = deliveredState else {
            return rendered.changedCategories(since: delivered, among: categories) ?? []
        }
        let digests = rendered.digests(of: categories)
        return categories.filter { digests[$0.rawValue] != remembered[$0.rawValue] }
    }

    /// Digest of the delivered document; nil: none was delivered.
    var deliveredDigest: UInt64? {
        switch deliveredState {
        case .presence(.document(let view)): view.digest
        case .digest(let digest): digest
        case .remembered(let digests): digests[PresenceDigest.whole]
        case .none, .presence: nil
        }
    }

    /// Digests of the delivered state, for the store.
    var deliveredDigests: [String: UInt64] {
        switch deliveredState {
        case .none: [:]
        case .presence(let presence): presence.digests(of: categories)
        case .digest(let digest): [PresenceDigest.whole: digest]
        case .remembered(let digests): digests
        }
    }
}
