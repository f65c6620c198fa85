import PresenceDocuments
import SIPCore
import XMLCore

/// One presentity of an upstream subscription, and the watched resources that it feeds.
///
/// The known state is stored in the sinks; all sinks have the same state, because they belong to one watcher.
///
///     authorization  unheard --active, pending--> active <--> pending; a new dialog: unheard, but pending stays pending
///     freshness      ofEarlierProcess --2xx--> ofEarlierDialog --state--> current --new dialog--> ofEarlierDialog
///     staleAt        unconfirmed state --lost, moved, unreadable--> shown until --due--> offline; a state: confirmed
///     unreadable     --could not read, again--> requests at once, at most ``FullStateDemand/limit`` --read--> none
final class UpstreamResource {
    let uri: SIPURI
    /// `aorKey` of the presentity.
    let key: String
    /// Union of the categories that the sinks want now, for subscriptions to categories.
    private(set) var categories: [CategoryName] = []
    /// The presentity in the SUBSCRIBEs of a batch.
    private(set) var membership = Membership()
    /// State reported last by the remote domain.
    private(set) var authorization = Authorization.unheard
    private(set) var freshness = Freshness.current
    /// Time until which the unconfirmed last state is shown.
    private(set) var staleAt: Instant?
    /// The last document if it was unreadable; nil: it was read.
    private(set) var unreadable: UnreadableDocument?
    /// Next time at which an element of the known state begins or ends; nil: none.
    private(set) var nextTimedMoment: Instant?
    /// Expiry of category instances by their own `expires`.
    private var expiry = CategoryExpiry()
    /// Copy of the document for partial notifications; nil: none has arrived.
    private var partial: PartialPresence?
    /// Redirect history; nil: the presentity was not redirected.
    private(set) var redirectHistory: RedirectHistory?
    private var sinkList = UpstreamSinks()

    /// Authorization of the watcher at the remote domain.
    enum Authorization: Hashable {
        case unheard, active, pending
    }

    /// Origin of the known state.
    enum Freshness: Hashable {
        case current
        /// The first state of the new dialog replaces it.
        case ofEarlierDialog
        /// The dialog is from an earlier process and no state has arrived yet: only the full state can be shown.
        case ofEarlierProcess
    }

    /// Categories of one presentity in the SUBSCRIBEs of a batch.
    struct Membership: Equatable {
        /// Categories subscribed in the current dialog; nil: the remote domain does not know the presentity.
        var asked: [CategoryName]?
        /// Categories in the unanswered SUBSCRIBE; empty: it unsubscribes the presentity.
        var offered: [CategoryName]?
    }

    init(uri: SIPURI, key: String) {
        self.uri = uri
        self.key = key
    }

    /// Restores a presentity that an earlier process subscribed.
    /// - Parameter staleAt: time until which the last notified state is shown without confirmation.
    init(restoring uri: SIPURI, staleAt: Instant) {
        self.uri = uri
        key = uri.aorKey
        freshness = .ofEarlierProcess
        self.staleAt = staleAt
    }

    // MARK: sinks

    /// Live sinks, in the order of their addition.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] { sinkList.alive }

    /// Known state of the presentity.
    var source: PresenceSource { sinkList.source }

    var hasSink: Bool { sinkList.hasLive }

    /// Adds a sink, which gets the known state at once if that covers its categories. The caller applies ``standing`` to it.
    func add(_ resource: WatchedResource, of watcher: WatcherDialog) {
        let known = source
        sinkList.add(UpstreamSink(watcher: watcher, resource: resource))
        let wanted = Self.wanted(resource, of: watcher)
        if known.isKnown, asked.map({ asked in wanted.allSatisfy(asked.contains) }) ?? true { resource.show(known) }
        want()
    }

    /// Recomputes ``categories``. Returns false if no category was added.
    @discardableResult
    func want() -> Bool {
        let before = categories
        categories = sinks.reduce(into: []) { all, sink in
            for name in Self.wanted(sink.resource, of: sink.watcher) where !all.contains(name) { all.append(name) }
        }
        return !categories.allSatisfy(before.contains)
    }

    /// Categories for a watcher; other formats than categories are rendered from the standard categories.
    private static func wanted(_ resource: WatchedResource, of watcher: WatcherDialog) -> [CategoryName] {
        watcher.format == .categories ? resource.categories : UpstreamSubscription.standardCategories
    }

    func remove(_ resource: WatchedResource) {
        sinkList.remove(resource)
        want()
    }

    /// Whether a categories document covers all subscribed categories.
    func isWhole(_ elements: [CategoryElement]) -> Bool {
        let named = Set(elements.map(\.name))
        return categories.allSatisfy { named.contains($0) }
    }

    // MARK: batches

    var asked: [CategoryName]? { membership.asked }
    var offered: [CategoryName]? { membership.offered }

    /// Restores the categories that an earlier process subscribed, for a presentity that is no longer watched.
    func resume(asked: [CategoryName]) { membership.asked = asked }

    /// The change that the next SUBSCRIBE has to make, assuming that the present one is accepted; nil: none.
    var change: Change? {
        var known = asked ?? []
        if let offered { known = offered }
        guard hasSink else { return known.isEmpty ? nil : .unsubscribe }
        return !known.isEmpty && categories.allSatisfy(known.contains) ? nil : .subscribe
    }

    enum Change: Hashable {
        case subscribe, unsubscribe
    }

    /// Notes a SUBSCRIBE that names the presentity.
    func offer(_ change: Change) { membership.offered = change == .subscribe ? categories : [] }

    /// Subscribed categories that are no longer wanted; a SUBSCRIBE that names the presentity unsubscribes them.
    var surplus: [CategoryName] { (asked ?? []).filter { !categories.contains($0) } }

    /// Applies the final response to the SUBSCRIBE.
    func settle(isAccepted: Bool) {
        // The SUBSCRIBE also unsubscribed all surplus categories.
        if isAccepted, let offered { membership.asked = offered.isEmpty ? nil : offered }
        membership.offered = nil
    }

    // MARK: dialogs

    /// Notes that a SUBSCRIBE in the dialog was accepted: the whole state follows (RFC 6665 4.2.2).
    func refreshed() {
        if freshness == .ofEarlierProcess { freshness = .ofEarlierDialog }
    }

    /// Prepares a new subscription, here or elsewhere. A pending presentity stays pending until the remote domain grants it.
    func reset() {
        want()
        membership = Membership()
        if authorization != .pending { authorization = .unheard }
        partial = nil
        if freshness == .current { freshness = .ofEarlierDialog }
    }

    /// Takes over the history of a presentity that moves here; a pending presentity stays pending for added watchers.
    func adopt(_ other: UpstreamResource) {
        redirectHistory = redirectHistory ?? other.redirectHistory
        if authorization == .unheard { authorization = other.authorization }
    }

    /// Takes over the doubts of the presentity of a subscription that this one replaces.
    func succeed(_ old: UpstreamResource) {
        if old.authorization == .pending { authorization = .pending }
        guard old.unreadable != nil else { return }
        (unreadable, staleAt) = (old.unreadable, old.staleAt)
    }

    /// Notes the redirections after a decision about one.
    func note(redirects history: RedirectHistory?) { redirectHistory = history }

    // MARK: state

    /// Notes whether the remote domain authorizes the watcher.
    func authorize(_ authorization: Authorization) { self.authorization = authorization }

    /// Merges notified categories into the known ones; those of an earlier dialog are dropped.
    func merged(_ elements: [CategoryElement], at now: Instant) -> CategoryMerge {
        var merge = CategoryMerge()
        if freshness == .ofEarlierDialog {
            expiry = CategoryExpiry()
        } else if case .categories(let known) = source {
            merge = known
        }
        merge.apply(expiry.take(elements, at: now))
        return merge
    }

    /// Applies a partial document (RFC 5263 4.4).
    /// - Parameter instance: identifier of the virtual subscription in a list.
    /// - Returns: the result, and whether the document is the one after the last.
    func receive(
        partial document: [UInt8], instance: String?, limits: XMLPatch.Limits, reader: inout DocumentReader
    ) throws(PartialPIDFError) -> (outcome: PartialPIDFCopy.Outcome, isNext: Bool) {
        var partial = self.partial ?? PartialPresence(instance: instance)
        if partial.instance != instance { partial = PartialPresence(instance: instance) }
        defer { self.partial = partial }
        let before = partial.copy.version
        let outcome = try partial.copy.receive(document, limits: limits, reader: &reader)
        return (outcome, before.map { $0 &+ 1 == partial.copy.version } ?? false)
    }

    /// Notes that the remote domain sent a full document, or none: differences of the one before do not apply any more.
    func dropPartial() { partial = nil }

    /// Notes a state of the current dialog.
    func confirm() {
        freshness = .current
        staleAt = nil
    }

    /// Notes that the remote domain has no state for the watcher.
    func confirmNothing() {
        partial = nil
        staleAt = nil
    }

    /// Shows the unconfirmed state until `moment`, unless it is limited already.
    func expireState(at moment: Instant) { staleAt = staleAt ?? moment }

    /// Ends the time for which the unconfirmed state is shown.
    /// - Returns: whether it is over.
    func endStaleState(at now: Instant) -> Bool {
        guard let staleAt, now >= staleAt else { return false }
        self.staleAt = nil
        return true
    }

    /// Notes an unreadable document.
    /// - Parameter isAsking: whether a request for the full state is planned or unanswered already.
    /// - Returns: whether to request the full state at once; the third such request in a row is the last.
    func couldNotRead(_ problem: String, isAsking: Bool, at now: Instant) -> Bool {
        var document = unreadable ?? UnreadableDocument(since: now, problem: problem)
        defer { unreadable = document }
        return document.failed(problem, isAsking: isAsking)
    }

    /// Notes that the last document was read, or that there is none any more.
    /// - Returns: whether it was unreadable before.
    func becameReadable() -> Bool {
        defer { unreadable = nil }
        return unreadable != nil
    }

    // MARK: timed elements

    /// Updates ``nextTimedMoment`` from the elements of the source and the expiry of category instances.
    func noteTimedMoment(of source: PresenceSource, at now: Instant) {
        nextTimedMoment = .earliest(source.nextTimedMoment(after: now), expiry.next?.roundedUpToSecond)
    }

    /// Removes the category instances that expired by themselves.
    func endedInstances(at now: Instant) -> Set<CategoryExpiry.Key> { expiry.ended(at: now) }
}

/// The watched resources that a presentity feeds, in the order of their addition.
private struct UpstreamSinks {
    /// The first sink; most presentities have only one.
    private var first: UpstreamSink?
    private var others: [UpstreamSink] = []

    var alive: [(watcher: WatcherDialog, resource: WatchedResource)] {
        var alive: [(WatcherDialog, WatchedResource)] = []
        if let watcher = first?.watcher, let resource = first?.resource { alive.append((watcher, resource)) }
        for sink in others {
            if let watcher = sink.watcher, let resource = sink.resource { alive.append((watcher, resource)) }
        }
        return alive
    }

    /// The known state of the first sink that has one.
    var source: PresenceSource {
        if let resource = first?.resource, resource.source.isKnown { return resource.source }
        return others.lazy.compactMap { $0.resource?.source }.first { $0.isKnown } ?? .unknown
    }

    var hasLive: Bool { first?.resource != nil || others.contains { $0.resource != nil } }

    mutating func add(_ sink: UpstreamSink) {
        if first?.resource == nil { first = sink } else { others.append(sink) }
    }

    mutating func remove(_ resource: WatchedResource) {
        if first?.resource === resource { first = nil }
        others.removeAll { $0.resource == nil || $0.resource === resource }
        if first?.resource == nil, !others.isEmpty { first = others.removeFirst() }
    }
}

/// Destination of the state of an upstream subscription: one resource of one watcher dialog.
private struct UpstreamSink {
    private(set) weak var watcher: WatcherDialog?
    private(set) weak var resource: WatchedResource?

    init(watcher: WatcherDialog, resource: WatchedResource) {
        self.watcher = watcher
        self.resource = resource
    }
}
