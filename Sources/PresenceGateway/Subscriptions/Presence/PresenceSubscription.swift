import EnhancedPresence
import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents

/// Presence in one dialog: the watched presentities, the format, and the state that the watcher has (docs/decisions/rendering.md).
///
/// A single subscription has one resource, a batch (MS-PRES 3.4.5.1.1) or list (RFC 5367) several.
final class PresenceSubscription {
    unowned let flow: PresenceSubscriptions
    let format: WatcherFormat
    /// Whether PIDF is sent as differences (RFC 5263).
    let isPartial: Bool
    let isBatch: Bool
    /// List in the watcher's SUBSCRIBE (RFC 5367); nil: none.
    private(set) var list: ListSubscription?
    private(set) var resources: [WatchedResource] { didSet { isUnstored = true } }
    /// Resources that were refused or redirected, reported in RLMI (MS-PRES 3.4.5.1.3.1).
    private(set) var rejected: [WatcherDialog.RejectedResource] = [] { didSet { isUnstored = true } }
    /// Filters of the watcher (RFC 4660); nil: none.
    private(set) var filters: WatcherFilters? { didSet { isUnstored = true } }
    /// Whether one of them changed since ``takeUnstored()``.
    private var isUnstored = false
    /// Removed presentities with upstream subscriptions that are left once the removal is committed.
    private var leaving: [WatchedResource] = []
    /// Changes that were not notified, each with the time from which it may be.
    var changes = ChangeQueue()
    /// The SUBSCRIBE that opens the dialog, until the dialog is in the tables.
    private var opening: Opening?

    /// Parts of the first SUBSCRIBE.
    struct Opening {
        var wanted: [CategoryRequest.Resource]
        var loopMarkers: String
    }

    init(_ flow: PresenceSubscriptions, format: WatcherFormat, isPartial: Bool, isBatch: Bool, list: ListSubscription?, opening: Opening) {
        self.flow = flow
        self.format = format
        self.isPartial = isPartial
        self.isBatch = isBatch
        self.list = list
        self.opening = opening
        resources = opening.wanted.map { WatchedResource($0) }
    }

    /// Restores a subscription.
    init(
        _ flow: PresenceSubscriptions, format: WatcherFormat, isPartial: Bool, isBatch: Bool, list: ListSubscription?,
        resources: [WatchedResource],
        rejected: [WatcherDialog.RejectedResource]
    ) {
        self.flow = flow
        self.format = format
        self.isPartial = isPartial
        self.isBatch = isBatch
        self.list = list
        self.resources = resources
        self.rejected = rejected
    }

    func takeUnstored() -> Bool {
        var isChanged = isUnstored
        isUnstored = false
        for resource in resources where resource.takeUnstored() { isChanged = true }
        return isChanged
    }

    /// Presentities that the first SUBSCRIBE names.
    var wanted: [CategoryRequest.Resource] { opening?.wanted ?? [] }

    /// Takes the parts of the first SUBSCRIBE.
    func takeOpening() -> Opening? {
        defer { opening = nil }
        return opening
    }

    var contentType: String { isPartial ? WatcherFormat.pidfDiffType : format.contentType }

    /// Whether the dialog is about several presentities, so that a rejection concerns one of them, not the dialog.
    var namesResources: Bool { isBatch || list != nil }

    /// Replaces the filters; what was rendered by the former ones is dropped.
    func use(_ filters: WatcherFilters?) {
        self.filters = filters
        resources.forEach { $0.dropRendered() }
    }

    // MARK: presentities

    /// Adds a presentity, which is no longer rejected.
    func add(_ resource: WatchedResource) {
        rejected.removeAll { $0.uri.aorKey == resource.key }
        resources.append(resource)
    }

    /// Removes the presentities that are not in `keys`.
    /// - Returns: the removed ones.
    func keepOnly(_ keys: Set<String>) -> [WatchedResource] {
        let gone = resources.filter { !keys.contains($0.key) }
        resources.removeAll { !keys.contains($0.key) }
        for resource in gone { rejected.removeAll { $0.uri.aorKey == resource.key } }
        return gone
    }

    /// Replaces a presentity by its rejection; beyond `limit` the oldest rejection is dropped.
    func reject(_ resource: WatchedResource, as instanceState: WatcherDialog.RejectedResource, limit: Int) {
        resources.removeAll { $0 === resource }
        rejected.removeAll { $0.uri.aorKey == instanceState.uri.aorKey }
        if rejected.count >= max(limit, 1) { rejected.removeFirst() }
        rejected.append(instanceState)
    }

    /// Removes all presentities at the end of the dialog.
    func removeAll() -> [WatchedResource] {
        defer { resources = [] }
        return resources
    }

    /// Keeps removed presentities until the commit of the SUBSCRIBE that removed them.
    func leave(_ gone: [WatchedResource]) { leaving += gone }

    /// Notes that the SUBSCRIBE which removed presentities is committed.
    func left(_ gone: [WatchedResource]) { leaving.removeAll { one in gone.contains { $0 === one } } }

    /// Takes the presentities that are removed by a SUBSCRIBE which is not committed.
    func takeLeaving() -> [WatchedResource] {
        defer { leaving = [] }
        return leaving
    }

    /// Replaces the presentities after a failed commit.
    /// - Returns: those that are not watched any more.
    func reload(_ resources: [WatchedResource], _ rejected: [WatcherDialog.RejectedResource]) -> [WatchedResource] {
        let gone = self.resources.filter { resource in !resources.contains { $0 === resource } }
        self.resources = resources
        self.rejected = rejected
        for resource in gone { changes.remove(resource) }
        return gone
    }

    // MARK: entity-tags

    /// Entity-tag of the document that was delivered last (RFC 5839 7.1); nil: there is none, or the dialog is not about one document.
    var entityTag: String? {
        guard format != .categories, list == nil, let digest = resources.first?.deliveredDigest else { return nil }
        return Self.tag(digest)
    }

    /// Whether the present state has an entity-tag; if so, it counts as delivered.
    func hasState(tagged tag: String, in watcher: WatcherDialog, at now: Instant) -> Bool {
        guard format != .categories, list == nil, !isAwaitingConfirmation, let resource = resources.first, resource.source.isKnown
        else { return false }
        let rendered = flow.rendered(resource, for: watcher, at: now)
        guard case .document(let view) = rendered, Self.tag(view.digest) == tag else { return false }
        flow.deliver(rendered, of: resource, in: self, to: watcher, at: now)
        return true
    }

    /// The digits of a digest to the base 32, which are the same for the same document in every process.
    private static func tag(_ digest: UInt64) -> String { String(digest, radix: 32) }

    // MARK: changes

    /// Presentities with changes that may be notified now.
    func dueChanges(at now: Instant) -> [WatchedResource] { changes.due(at: now, listSpacedUntil: list?.spacedUntil) }

    /// Entries of a resource list without state (MS-PRES 3.4.5.1.3.1): rejected and pending resources.
    var instanceStates: [WatcherDialog.RejectedResource] {
        rejected
            + resources.filter(\.isPending).map {
                .init(uri: $0.uri, entity: $0.entity, state: "pending", isNotified: $0.isPendingNotified)
            }
    }

    /// Whether there are entries that the watcher has not received (MS-PRES 3.4.5.1.3.1); a pending one of a list is a change.
    var hasPendingInstanceStates: Bool {
        rejected.contains { !$0.isNotified } || list == nil && resources.contains { $0.isPending && !$0.isPendingNotified }
    }

    /// Marks rejected resources as notified.
    /// - Returns: those, in order.
    @discardableResult
    func noteRejectedNotified(
        where isNamed: (WatcherDialog.RejectedResource) -> Bool
    ) -> [WatcherDialog.RejectedResource] {
        var notified: [WatcherDialog.RejectedResource] = []
        for index in rejected.indices where isNamed(rejected[index]) {
            notified.append(rejected[index])
            if !rejected[index].isNotified { rejected[index].noteNotified() }
        }
        return notified
    }

    /// Adds presentities to the list that the watcher keeps.
    func addToList(_ entries: [ListRequest.Entry]) { list?.add(entries) }

    /// Counts a notification of the list, and starts its spacing.
    func listNotified(spacedUntil: Instant) { list?.noteNotified(spacedUntil: spacedUntil) }

    /// Ends the wait of a restored list for all of its entries, which are changes now.
    func endResume() {
        for resource in resources where resource.isRestored {
            resource.endResume()
            if !resource.isPending { changes.add(resource) }
        }
    }

    func forgetNotified() {
        for resource in resources {
            resource.forgetDelivered()
            changes.add(resource)
        }
    }

    // MARK: readiness

    /// Whether every resource has a state or is pending.
    var isReady: Bool { resources.allSatisfy { $0.source.isKnown || $0.isPending } }

    /// Whether the only presentity of the dialog is granted; with several, each is pending separately.
    var isAuthorized: Bool {
        namesResources || !isAwaitingConfirmation && !resources.contains { $0.upstream?.resource($0.key)?.authorization == .pending }
    }

    /// Whether the only presentity of the dialog is hosted, and its rules leave the subscription to the presentity (RFC 5025 3.2.1).
    var isAwaitingConfirmation: Bool { !namesResources && resources.first?.access?.isPending == true }
}
