import PresenceDocuments
import SIPCore

/// One presentity of an upstream subscription, and the watched resources that it feeds.
///
/// The known state is stored in the sinks; all sinks have the same state, because they belong to one watcher.
final class UpstreamResource {
    let uri: SIPURI
    /// `aorKey` of the presentity.
    let key: String
    /// Union of the categories that the sinks want now, for subscriptions to categories.
    private(set) var categories: [CategoryName] = []
    /// In a batch: categories subscribed in the current dialog; nil: the remote domain does not know the presentity.
    private(set) var asked: [CategoryName]?
    /// In a batch: categories in the unanswered SUBSCRIBE; empty: it unsubscribes the presentity.
    private(set) var offered: [CategoryName]?
    /// State reported last by the remote domain.
    var authorization = Authorization.unheard
    /// Whether the known state is from an earlier dialog; the first state of the new dialog replaces it.
    var isOld = false
    /// Whether the dialog is from an earlier process and no state has arrived yet: only the full state can be shown.
    var isResumed = false
    /// Time until which the unconfirmed last state is shown.
    var staleAt: Instant?
    /// The last document if it was unreadable; nil: it was read.
    var unreadable: UnreadableDocument?
    /// Next time at which an element of the known state begins or ends; nil: none.
    var nextTimedMoment: Instant?
    /// Expiry of category instances by their own `expires`.
    var expiry = CategoryExpiry()
    /// Copy of the document for partial notifications; nil: none has arrived.
    var partial: PartialPresence?
    /// Redirect history; nil: the presentity was not redirected.
    var redirectHistory: RedirectHistory?
    /// The first sink; most presentities have only one.
    private var first: UpstreamSink?
    private var others: [UpstreamSink] = []

    enum Authorization: Hashable {
        case unheard, active, pending
    }

    init(uri: SIPURI, key: String) {
        self.uri = uri
        self.key = key
    }

    // MARK: sinks

    /// Live sinks, in the order of their addition.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] {
        var alive: [(WatcherDialog, WatchedResource)] = []
        if let watcher = first?.watcher, let resource = first?.resource { alive.append((watcher, resource)) }
        for sink in others {
            if let watcher = sink.watcher, let resource = sink.resource { alive.append((watcher, resource)) }
        }
        return alive
    }

    /// Known state of the presentity.
    var source: PresenceSource {
        if let resource = first?.resource, resource.source.isKnown { return resource.source }
        return others.lazy.compactMap { $0.resource?.source }.first { $0.isKnown } ?? .unknown
    }

    var hasSink: Bool { first?.resource != nil || others.contains { $0.resource != nil } }

    /// Adds a sink, which gets the known state at once if that covers its categories. The caller applies ``standing`` to it.
    func add(_ resource: WatchedResource, of watcher: WatcherDialog) {
        let known = source
        let sink = UpstreamSink(watcher: watcher, resource: resource)
        if first?.resource == nil { first = sink } else { others.append(sink) }
        let wanted = Self.wanted(resource, of: watcher)
        if known.isKnown, asked.map({ asked in wanted.allSatisfy(asked.contains) }) ?? true { resource.source = known }
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
        if first?.resource === resource { first = nil }
        others.removeAll { $0.resource == nil || $0.resource === resource }
        if first?.resource == nil, !others.isEmpty { first = others.removeFirst() }
        want()
    }

    /// Whether a categories document covers all subscribed categories.
    func isWhole(_ elements: [CategoryElement]) -> Bool {
        let named = Set(elements.map(\.name))
        return categories.allSatisfy { named.contains($0) }
    }

    // MARK: batches

    /// Restores the categories that an earlier process subscribed, for a presentity that is no longer watched.
    func resume(asked: [CategoryName]) { self.asked = asked }

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
    func offer(_ change: Change) { offered = change == .subscribe ? categories : [] }

    /// Subscribed categories that are no longer wanted; a SUBSCRIBE that names the presentity unsubscribes them.
    var surplus: [CategoryName] { (asked ?? []).filter { !categories.contains($0) } }

    /// Applies the final response to the SUBSCRIBE.
    func settle(isAccepted: Bool) {
        // The SUBSCRIBE also unsubscribed all surplus categories.
        if isAccepted, let offered { asked = offered.isEmpty ? nil : offered }
        offered = nil
    }

    /// Prepares a new subscription, here or elsewhere. A pending presentity stays pending until the remote domain grants it.
    func reset() {
        want()
        asked = nil
        offered = nil
        if authorization != .pending { authorization = .unheard }
        partial = nil
        isOld = true
    }
}

/// Destination of the state of an upstream subscription: one resource of one watcher dialog.
struct UpstreamSink {
    private(set) weak var watcher: WatcherDialog?
    private(set) weak var resource: WatchedResource?

    init(watcher: WatcherDialog, resource: WatchedResource) {
        self.watcher = watcher
        self.resource = resource
    }
}
