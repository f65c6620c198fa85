import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents

/// One watcher's subscription dialog: a sink of presence (docs/decisions/rendering.md).
///
/// It knows who watches whom in which format, and what was delivered last; when to notify is decided by its ``SIPEvents/Notifier``.
/// A single subscription has one resource, a batch (MS-PRES 3.4.5.1.1) several.
final class WatcherDialog {
    /// Our tag: unique, and the key of the gateway's table.
    let localTag: String
    var dialog: Dialog
    var notifier: Notifier
    /// Of the SUBSCRIBE, with its `id`; written into every NOTIFY.
    let event: Event
    let format: WatcherFormat
    /// PIDF is sent as differences (RFC 5263).
    let isPartial: Bool
    let side: DomainSide
    let watcher: SIPURI
    let watcherKey: String
    /// Through whose servers the watcher is told; nil: its domain is hosted here.
    var partner: String?
    let network: SourceNetwork
    let isBatch: Bool
    /// Set when the watcher brought a list along (RFC 5367).
    var list: ListSubscription?
    /// The key by which the first SUBSCRIBE found this shard.
    let owner: String
    /// When it is to be woken, as the gateway has it; nil: not at all.
    var wakesAt: Instant?
    /// After a restart: the watcher was reached over a connection that is gone, and may come back until then.
    var returnsBy: Instant?
    var flow: Flow
    var resources: [WatchedResource]
    /// What is still to be told, and from when on it may be.
    var changes = ChangeQueue()
    /// The SUBSCRIBE of a poll whose 200 waits for state from the far side (MS-PRES 3.4.5.1.2).
    var held: HeldRequest?
    /// The watcher was told `active` last, not `pending`.
    var wasToldActive = false
    /// Of its last notification, for whoever asks.
    var told = NotificationRecord()
    /// Redirection that the outstanding NOTIFY follows; nil: none.
    var redirect: NotifyRedirect?
    /// Reason of the last failed notification; valid while the notifier retries.
    var failureReason: String?
    /// Resources that are refused or belong elsewhere, told in RLMI (MS-PRES 3.4.5.1.3.1).
    var rejected: [RejectedResource] = []
    /// He asked for `Privacy` (RFC 3325 9.3).
    var hidesIdentity = false
    /// The endpoint that subscribed, where it says so and its user is one of ours; set before the dialog is in the tables.
    var origin: EndpointKey?
    /// Whose only batch it is (MS-PRES 3.4.5.1.3).
    var endpoint: EndpointKey?

    struct HeldRequest {
        var transaction: ServerTransactionID
        var request: SIPRequest
        var until: Instant
    }

    struct RejectedResource: Equatable {
        var uri: SIPURI
        /// As the watcher names it; nil: by `uri`.
        var entity: SIPURI?
        var state: String
        var reason: String?
        var statusCode: Int?
        var poolFqdn: String?
        var isTold = false
    }

    init(
        localTag: String, dialog: Dialog, notifier: Notifier, event: Event, format: WatcherFormat, isPartial: Bool = false,
        parties: RequestScreening.Parties,
        isBatch: Bool, flow: Flow, resources: [WatchedResource]
    ) {
        self.localTag = localTag
        self.dialog = dialog
        self.notifier = notifier
        self.event = event
        self.format = format
        self.isPartial = isPartial
        side = parties.watcherDomain.side
        watcher = parties.watcher
        watcherKey = parties.watcherKey
        network = parties.watcherDomain.network
        self.isBatch = isBatch
        owner = parties.presentityKey
        self.flow = flow
        self.resources = resources
    }

    var contentType: String { isPartial ? WatcherFormat.pidfDiffType : format.contentType }

    /// Nothing that is sent now would arrive, and nobody would know.
    var isAway: Bool { returnsBy != nil && notifier.configuration.bestEffort }

    /// Adds a verdict, or replaces the one that its resource has; the oldest is forgotten beyond `limit`.
    func reject(_ verdict: RejectedResource, limit: Int) {
        rejected.removeAll { $0.uri.aorKey == verdict.uri.aorKey }
        if rejected.count >= max(limit, 1) { rejected.removeFirst() }
        rejected.append(verdict)
    }

    /// Its notifications are of the `eventlist` kind (RFC 4662 4.1); categories always are (MS-PRES 3.4.5.1.3).
    var isEventList: Bool { format == .categories || list != nil }

    /// Several presentities in one dialog: verdicts concern one of them, not the dialog.
    var namesResources: Bool { isBatch || list != nil }

    /// The presentities whose changes may be told now.
    func dueChanges(at now: Instant) -> [WatchedResource] { changes.due(at: now, listSpacedUntil: list?.spacedUntil) }

    func hasDueChange(at now: Instant) -> Bool { changes.hasDue(at: now, listSpacedUntil: list?.spacedUntil) }

    /// Nobody knows what the watcher has: it is told everything anew.
    func forgetDelivered() {
        for resource in resources {
            resource.delivered = nil
            resource.spacedUntil = nil
            changes.add(resource)
        }
    }

    /// What a resource list says besides the states (MS-PRES 3.4.5.1.3.1): who is refused, and of whom the far side still decides.
    var verdicts: [RejectedResource] {
        rejected
            + resources.filter(\.isPending).map {
                RejectedResource(uri: $0.uri, entity: $0.entity, state: "pending", isTold: $0.isPendingTold)
            }
    }

    /// Whether verdicts came that the watcher has not heard (MS-PRES 3.4.5.1.3.1); what is pending in a list is one of its changes.
    var hasUntoldVerdicts: Bool {
        rejected.contains { !$0.isTold } || list == nil && resources.contains { $0.isPending && !$0.isPendingTold }
    }

    /// Whether something is known of every resource.
    var isReady: Bool { resources.allSatisfy { $0.source.isKnown || $0.isPending } }

    /// The far side has not granted the only presentity that the dialog is about; of several each stands for itself.
    var isWithheld: Bool {
        !namesResources && resources.contains { $0.upstream?.resource($0.key)?.standing == .pending }
    }

    var nextDeadline: Instant? {
        // What the notifier has in hand follows the answer that it waits for.
        let changesFrom = notifier.isIdle && !isAway ? changes.nextDeadline(listSpacedUntil: list?.spacedUntil) : nil
        return Instant.earliest(notifier.nextDeadline, held?.until, returnsBy, changesFrom)
    }

    /// The watcher as the resolution of containers sees it.
    private(set) lazy var identity = WatcherIdentity(watcher, network: network)
}

/// Where a dialog's requests come from, and so where ours go unless its route set says otherwise.
struct Flow: Hashable {
    var local: TransportAddress
    var remote: TransportAddress
    var connection: ConnectionID?
    /// What the sender of the request at hand has proved of itself.
    var peer: PeerIdentity?

    init(local: TransportAddress, remote: TransportAddress) {
        self.local = local
        self.remote = remote
    }

    init(_ source: MessageSource) {
        local = source.local
        remote = source.remote
        connection = source.connection
        peer = source.peer
    }
}

/// One presentity as one dialog sees it.
final class WatchedResource {
    /// The partner whose user watches it; nil: the watcher is a user of ours.
    var partner: String?
    /// Canonical.
    let uri: SIPURI
    let key: String
    /// The key of the record that shows it, of a hosted presentity; another one than ``key`` while the watcher is blocked.
    var hostedKey: String
    /// As the watcher names it, and as documents for him do.
    let entity: SIPURI
    /// For category watchers: what they asked for.
    var categories: [CategoryName]
    /// The far leg, unless the presentity is hosted here.
    var upstream: UpstreamSubscription?
    /// What is known of the presentity, as this watcher may see it.
    var source = PresenceSource.unknown
    /// `source` in the watcher's format; nil: to be rendered.
    var rendered: RenderedPresence?
    /// Whether ``rendered`` has something that is not published for every user.
    var isRenderedOwn = false
    /// What the watcher has.
    var delivered: RenderedPresence? {
        didSet {
            remembered = [:]
            deliveredDigest = nil
        }
    }
    /// What is left of a delivered document that nobody shares.
    private(set) var deliveredDigest: UInt64?
    /// The far side has not granted it yet, or not any more; of a dialog about several presentities only.
    var isPending = false {
        didSet { if isPending != oldValue { isPendingTold = false } }
    }
    /// The watcher was told so.
    private(set) var isPendingTold = false
    /// Of the last partial document; it counts on over refreshes (RFC 5263 4.4).
    var partialVersion: UInt32 = 0
    /// It stands in its dialog's ``WatcherDialog/changes``.
    var isWaiting = false
    /// The next change may be told from then on (RFC 3856 6.10); nil: nothing that is known was told yet.
    var spacedUntil: Instant?
    /// Digests of what it was told before a restart; nothing once it is told anew.
    var remembered: [String: UInt64] = [:]
    /// The dialog is of an earlier process.
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

    /// The watcher is told that it is pending: what he had is not vouched for any more.
    func tellPending() {
        isPendingTold = true
        delivered = nil
    }

    /// The watcher was told so before a restart.
    func restorePending(isTold: Bool) {
        isPending = true
        isPendingTold = isTold
    }

    /// Whether the watcher was told something of it.
    var isTold: Bool { delivered != nil || deliveredDigest != nil || !remembered.isEmpty }

    /// The watcher has a document of which no more is kept than this.
    func deliver(digest: UInt64) {
        delivered = nil
        deliveredDigest = digest
    }

    /// Whether the watcher has this already.
    func isKnown(_ rendered: RenderedPresence) -> Bool {
        if let deliveredDigest, case .document(let view) = rendered { return view.digest == deliveredDigest }
        return delivered == nil && !remembered.isEmpty
            ? rendered.digests(of: categories) == remembered : rendered.tellsNothing(after: delivered, among: categories)
    }

    /// The categories that differ from what the watcher has.
    func changedCategories(in rendered: RenderedPresence) -> [CategoryName] {
        guard delivered == nil, !remembered.isEmpty else {
            return rendered.changedCategories(since: delivered, among: categories) ?? []
        }
        let digests = rendered.digests(of: categories)
        return categories.filter { digests[$0.rawValue] != remembered[$0.rawValue] }
    }

    /// What to keep of what the watcher has.
    var deliveredDigests: [String: UInt64] {
        if let deliveredDigest { return [PresenceDigest.whole: deliveredDigest] }
        return delivered?.digests(of: categories) ?? remembered
    }
}
