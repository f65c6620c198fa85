import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// One watcher's subscription dialog: a sink of presence (docs/decisions/rendering.md).
///
/// Holds the watcher, its presentities, the format and the state delivered last; its ``SIPEvents/Notifier`` decides when to notify. A
/// single subscription has one resource, a batch (MS-PRES 3.4.5.1.1) several.
final class WatcherDialog {
    /// Local tag: unique, and the key of the gateway's table.
    let localTag: String
    /// Names the dialog to the kernel while it is in the gateway's tables.
    var ticket = Ticket.none
    var dialog: Dialog
    var notifier: Notifier
    /// Event of the SUBSCRIBE with its `id`; repeated in every NOTIFY.
    let event: Event
    let format: WatcherFormat
    /// Whether PIDF is sent as differences (RFC 5263).
    let isPartial: Bool
    let side: DomainSide
    let watcher: SIPURI
    let watcherKey: String
    /// Partner through which the watcher is notified; nil: its domain is hosted here.
    var partner: String?
    let network: DomainNetwork
    let isBatch: Bool
    /// List in the watcher's SUBSCRIBE (RFC 5367); nil: none.
    var list: ListSubscription?
    /// Key by which the first SUBSCRIBE was assigned to this shard.
    let owner: String
    /// Time of the gateway's timer for this dialog; nil: none.
    var timerAt: Instant?
    /// Time by which a watcher must return after the loss of its only connection, also by a restart; nil: it is not away.
    var returnsBy: Instant?
    var flow: Flow
    var resources: [WatchedResource]
    /// Changes that were not notified, each with the time from which it may be.
    var changes = ChangeQueue()
    /// SUBSCRIBE of a poll with a 200 that waits for upstream state (MS-PRES 3.4.5.1.2).
    var held: HeldRequest?
    /// Whether the last notification had the state `active`, not `pending`.
    var wasNotifiedActive = false
    /// Record of the last notification, for operators.
    var lastNotification = NotificationRecord()
    /// Redirection that the outstanding NOTIFY follows; nil: none.
    var redirect: NotifyRedirect?
    /// Reason of the last failed notification; valid while the notifier retries.
    var failureReason: String?
    /// Resources that were refused or redirected, reported in RLMI (MS-PRES 3.4.5.1.3.1).
    var rejected: [RejectedResource] = []
    /// Whether the watcher requested privacy (RFC 3325 9.3).
    var hidesIdentity = false
    /// Endpoint that subscribed, if it is named and its user is hosted; set before the dialog enters the tables.
    var origin: EndpointKey?
    /// Endpoint that has this dialog as its only batch (MS-PRES 3.4.5.1.3).
    var endpoint: EndpointKey?

    struct HeldRequest {
        var transaction: ServerTransactionID
        var request: SIPRequest
        var until: Instant
    }

    struct RejectedResource: Equatable {
        var uri: SIPURI
        /// The URI as the watcher wrote it; nil: `uri`.
        var entity: SIPURI?
        var state: String
        var reason: String?
        var statusCode: Int?
        var poolFqdn: String?
        var isNotified = false
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

    /// Whether the watcher has lost its only connection, so that a BENOTIFY would be lost without a report.
    var isAway: Bool { returnsBy != nil && notifier.configuration.bestEffort }

    /// Adds a rejected resource, or replaces its earlier entry; beyond `limit` the oldest entry is dropped.
    func reject(_ instanceState: RejectedResource, limit: Int) {
        rejected.removeAll { $0.uri.aorKey == instanceState.uri.aorKey }
        if rejected.count >= max(limit, 1) { rejected.removeFirst() }
        rejected.append(instanceState)
    }

    /// Whether notifications use the `eventlist` extension (RFC 4662 4.1); categories always do (MS-PRES 3.4.5.1.3).
    var isEventList: Bool { format == .categories || list != nil }

    /// Whether the dialog is about several presentities, so that a rejection concerns one of them, not the dialog.
    var namesResources: Bool { isBatch || list != nil }

    /// Presentities with changes that may be notified now.
    func dueChanges(at now: Instant) -> [WatchedResource] { changes.due(at: now, listSpacedUntil: list?.spacedUntil) }

    func hasDueChange(at now: Instant) -> Bool { changes.hasDue(at: now, listSpacedUntil: list?.spacedUntil) }

    /// Discards the delivered state after a lost notification, so that all presentities are notified again.
    func forgetDelivered() {
        for resource in resources {
            resource.delivered = nil
            resource.spacedUntil = nil
            changes.add(resource)
        }
    }

    /// Entries of a resource list without state (MS-PRES 3.4.5.1.3.1): rejected and pending resources.
    var instanceStates: [RejectedResource] {
        rejected
            + resources.filter(\.isPending).map {
                RejectedResource(uri: $0.uri, entity: $0.entity, state: "pending", isNotified: $0.isPendingNotified)
            }
    }

    /// Whether there are entries that the watcher has not received (MS-PRES 3.4.5.1.3.1); a pending one of a list is a change.
    var hasPendingInstanceStates: Bool {
        rejected.contains { !$0.isNotified } || list == nil && resources.contains { $0.isPending && !$0.isPendingNotified }
    }

    /// Whether every resource has a state or is pending.
    var isReady: Bool { resources.allSatisfy { $0.source.isKnown || $0.isPending } }

    /// Whether the only presentity of the dialog is pending; with several, each is pending separately.
    var isWithheld: Bool {
        !namesResources && resources.contains { $0.upstream?.resource($0.key)?.authorization == .pending }
    }

    var nextDeadline: Instant? {
        // While the notifier waits for a response, it sends the changes afterwards.
        let changesFrom = notifier.isIdle && !isAway ? changes.nextDeadline(listSpacedUntil: list?.spacedUntil) : nil
        return Instant.earliest(notifier.nextDeadline, held?.until, returnsBy, changesFrom)
    }

    /// The watcher in container resolution.
    private(set) lazy var identity = WatcherIdentity(watcher, network: network)
}
