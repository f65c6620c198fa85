import PresenceDocuments
import SIPCore

/// One presentity of a far leg, and the watched resources that are fed by it.
///
/// What is known of the presentity stands in its sinks; they all have the same, because they are of one watcher.
final class UpstreamResource {
    let uri: SIPURI
    /// The presentity's `aorKey`.
    let key: String
    /// What its sinks want together, where the far side is asked for categories.
    private(set) var categories: [CategoryName]
    /// What the far side said of it last.
    var standing = Standing.unheard
    /// What is known is of an earlier dialog: the first state of the new one replaces it.
    var isOld = false
    /// Until when the last state is shown although nobody vouches for it.
    var staleAt: Instant?
    /// Nearly always there is one.
    private var first: UpstreamSink?
    private var others: [UpstreamSink] = []

    enum Standing: Hashable {
        case unheard, active, pending
    }

    init(uri: SIPURI, key: String, categories: [CategoryName]) {
        self.uri = uri
        self.key = key
        self.categories = categories
    }

    /// The sinks that are alive, in the order in which they came.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] {
        var alive: [(WatcherDialog, WatchedResource)] = []
        for sink in CollectionOfOne(first) + others.map(Optional.some) {
            if let watcher = sink?.watcher, let resource = sink?.resource { alive.append((watcher, resource)) }
        }
        return alive
    }

    /// What is known of the presentity.
    var source: PresenceSource {
        if let resource = first?.resource { return resource.source }
        return others.lazy.compactMap { $0.resource?.source }.first ?? .unknown
    }

    var hasSink: Bool { first?.resource != nil || others.contains { $0.resource != nil } }

    /// Feeds one more; it sees at once what is known.
    func add(_ resource: WatchedResource, of watcher: WatcherDialog) {
        let known = source
        let sink = UpstreamSink(watcher: watcher, resource: resource)
        if first?.resource == nil { first = sink } else { others.append(sink) }
        if known.isKnown { resource.source = known }
        want(Self.categories(of: resource, of: watcher))
    }

    func remove(_ resource: WatchedResource) {
        if first?.resource === resource { first = nil }
        others.removeAll { $0.resource == nil || $0.resource === resource }
        if first?.resource == nil, !others.isEmpty { first = others.removeFirst() }
        var wanted: [CategoryName] = []
        for (watcher, resource) in sinks {
            for name in Self.categories(of: resource, of: watcher) where !wanted.contains(name) { wanted.append(name) }
        }
        if !wanted.isEmpty { categories = wanted }
    }

    /// Whoever watches in another form than categories gets what it sees made from the standard ones.
    static func categories(of resource: WatchedResource, of watcher: WatcherDialog) -> [CategoryName] {
        watcher.format == .categories ? resource.categories : UpstreamSubscription.standardCategories
    }

    private func want(_ names: [CategoryName]) {
        if categories.isEmpty { categories = names }
        for name in names where !categories.contains(name) { categories.append(name) }
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
