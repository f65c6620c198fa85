import PresenceDocuments
import SIPCore

/// One presentity of a far leg, and the watched resources that are fed by it.
///
/// What is known of the presentity stands in its sinks; they all have the same, because they are of one watcher.
final class UpstreamResource {
    let uri: SIPURI
    /// The presentity's `aorKey`.
    let key: String
    /// What its sinks want together, where the far side is asked for categories; never more than they do now.
    private(set) var categories: [CategoryName] = []
    /// Of a batch: what the far side was asked for in the current dialog; nil: it does not know of the presentity.
    private(set) var asked: [CategoryName]?
    /// Of a batch: what the unanswered SUBSCRIBE asks for; empty: to forget it.
    private(set) var offered: [CategoryName]?
    /// What the far side said of it last.
    var standing = Standing.unheard
    /// What is known is of an earlier dialog: the first state of the new one replaces it.
    var isOld = false
    /// The dialog is of an earlier process, and nothing was heard in it yet: only the whole state can be shown.
    var isResumed = false
    /// Until when the last state is shown although nobody vouches for it.
    var staleAt: Instant?
    /// Next time at which an element of the known state begins or ends by itself; nil: none does.
    var nextTimedMoment: Instant?
    /// Ends of category instances by their own `expires`.
    var expiry = CategoryExpiry()
    /// Where the far side sends differences; nil: it has sent none.
    var partial: PartialPresence?
    /// Where it was sent on from; nil: nowhere, as most are.
    var trail: RedirectTrail?
    /// Nearly always there is one.
    private var first: UpstreamSink?
    private var others: [UpstreamSink] = []

    enum Standing: Hashable {
        case unheard, active, pending
    }

    init(uri: SIPURI, key: String) {
        self.uri = uri
        self.key = key
    }

    // MARK: sinks

    /// The sinks that are alive, in the order in which they came.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] {
        var alive: [(WatcherDialog, WatchedResource)] = []
        if let watcher = first?.watcher, let resource = first?.resource { alive.append((watcher, resource)) }
        for sink in others {
            if let watcher = sink.watcher, let resource = sink.resource { alive.append((watcher, resource)) }
        }
        return alive
    }

    /// What is known of the presentity.
    var source: PresenceSource {
        if let resource = first?.resource, resource.source.isKnown { return resource.source }
        return others.lazy.compactMap { $0.resource?.source }.first { $0.isKnown } ?? .unknown
    }

    var hasSink: Bool { first?.resource != nil || others.contains { $0.resource != nil } }

    /// Feeds one more; it sees at once what is known, if that is all that it wants. Whether it may is for the caller to
    /// say, by ``standing``.
    func add(_ resource: WatchedResource, of watcher: WatcherDialog) {
        let known = source
        let sink = UpstreamSink(watcher: watcher, resource: resource)
        if first?.resource == nil { first = sink } else { others.append(sink) }
        let wanted = Self.wanted(resource, of: watcher)
        if known.isKnown, asked.map({ asked in wanted.allSatisfy(asked.contains) }) ?? true { resource.source = known }
        want()
    }

    /// Sums up what its sinks want now. False: nothing that was not wanted already.
    @discardableResult
    func want() -> Bool {
        let before = categories
        categories = sinks.reduce(into: []) { all, sink in
            for name in Self.wanted(sink.resource, of: sink.watcher) where !all.contains(name) { all.append(name) }
        }
        return !categories.allSatisfy(before.contains)
    }

    /// Whoever watches in another form than categories gets what it sees made from the standard ones.
    private static func wanted(_ resource: WatchedResource, of watcher: WatcherDialog) -> [CategoryName] {
        watcher.format == .categories ? resource.categories : UpstreamSubscription.standardCategories
    }

    func remove(_ resource: WatchedResource) {
        if first?.resource === resource { first = nil }
        others.removeAll { $0.resource == nil || $0.resource === resource }
        if first?.resource == nil, !others.isEmpty { first = others.removeFirst() }
        want()
    }

    /// Whether a categories document says all that is asked for.
    func isWhole(_ elements: [CategoryElement]) -> Bool {
        let named = Set(elements.map(\.name))
        return categories.allSatisfy { named.contains($0) }
    }

    // MARK: one of a batch

    /// What an earlier process asked for, and nobody wants any more.
    func resume(asked: [CategoryName]) { self.asked = asked }

    /// What the next SUBSCRIBE has to change about it, when the one on its way is accepted; nil: nothing.
    var change: Change? {
        var known = asked ?? []
        if let offered { known = offered }
        guard hasSink else { return known.isEmpty ? nil : .unsubscribe }
        return !known.isEmpty && categories.allSatisfy(known.contains) ? nil : .subscribe
    }

    enum Change: Hashable {
        case subscribe, unsubscribe
    }

    /// A SUBSCRIBE that names it is on its way.
    func offer(_ change: Change) { offered = change == .subscribe ? categories : [] }

    /// What the far side was asked for and nobody wants any more; a SUBSCRIBE that names the presentity takes it back.
    var surplus: [CategoryName] { (asked ?? []).filter { !categories.contains($0) } }

    /// The SUBSCRIBE was answered.
    func settle(isAccepted: Bool) {
        // Whatever else had been asked for was taken back with it.
        if isAccepted, let offered { asked = offered.isEmpty ? nil : offered }
        offered = nil
    }

    /// It is asked for anew, here or elsewhere. What was withdrawn stays so until the far side grants it again.
    func reset() {
        want()
        asked = nil
        offered = nil
        if standing != .pending { standing = .unheard }
        partial = nil
        isOld = true
    }
}

/// Where a far leg's state goes: one resource of one watcher's dialog.
struct UpstreamSink {
    private(set) weak var watcher: WatcherDialog?
    private(set) weak var resource: WatchedResource?

    init(watcher: WatcherDialog, resource: WatchedResource) {
        self.watcher = watcher
        self.resource = resource
    }
}
