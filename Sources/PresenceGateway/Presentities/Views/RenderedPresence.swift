import PresenceDocuments

/// The state of one presentity in a watcher's format.
enum RenderedPresence {
    /// Category instances; the watcher's last state decides which are sent.
    case categories(CategoryView)
    /// A whole document.
    case document(DocumentView)

    /// The categories among `requested` that differ from the delivered state; nil for whole documents.
    func changedCategories(since delivered: RenderedPresence?, among requested: [CategoryName]) -> [CategoryName]? {
        guard case .categories(let view) = self else { return nil }
        guard case .categories(let previous)? = delivered else { return requested }
        return view.changes(since: previous, among: requested)
    }

    /// Whether the state equals the delivered one in the requested categories.
    func changesNothing(after delivered: RenderedPresence?, among requested: [CategoryName]) -> Bool {
        switch (self, delivered) {
        case (.categories, _): changedCategories(since: delivered, among: requested)?.isEmpty ?? true
        case (.document(let view), .document(let previous)?): view === previous || view.bytes == previous.bytes
        default: false
        }
    }
}

/// The category instances of one presentity, shared by watchers. A class, so that they share cached differences and encoded bytes.
final class CategoryView {
    let uri: String
    let merge: CategoryMerge
    private var encoded: [[CategoryName]: [UInt8]] = [:]
    private var digests: [CategoryName: UInt64] = [:]
    private var previous: CategoryView?
    private var changesSincePrevious: [[CategoryName]: [CategoryName]] = [:]
    /// Number by which other shards know the view; nil: it was sent to none.
    private(set) var sharedNumber: UInt64?

    /// Limit of cached category sets, since watchers could request ever new ones.
    static let formLimit = 64
    var formCount: Int { max(encoded.count, changesSincePrevious.count) }

    init(uri: String, _ merge: CategoryMerge) {
        self.uri = uri
        self.merge = merge
    }

    /// Sets the number by which other shards know the view.
    func share(as number: UInt64) { sharedNumber = number }

    /// The categories among `requested` that differ from an earlier view.
    func changes(since earlier: CategoryView, among requested: [CategoryName]) -> [CategoryName] {
        if earlier === self { return [] }
        if previous !== earlier {
            previous = earlier
            changesSincePrevious = [:]
            // Without this, the chain would keep all earlier views in memory.
            earlier.previous = nil
        }
        if let known = changesSincePrevious[requested] { return known }
        let changes = merge.changes(since: earlier.merge, among: requested)
        if changesSincePrevious.count >= Self.formLimit { changesSincePrevious = [:] }
        changesSincePrevious[requested] = changes
        return changes
    }

    /// Digest of a category's instances without their publish times.
    func digest(of name: CategoryName) -> UInt64 {
        if let known = digests[name] { return known }
        let instances = (merge.instances[name] ?? []).map { element in
            var element = element
            element.publishTime = nil
            return element
        }
        var digest = PresenceDigest()
        digest.add(CategoriesDocument(uri: uri, categories: instances).encoded())
        digests[name] = digest.value
        return digest.value
    }

    /// Encodes a categories document with all instances of the named categories.
    func document(of names: [CategoryName], counters: inout GatewayCounters) -> [UInt8] {
        if let known = encoded[names] {
            counters.bodiesShared += 1
            return known
        }
        counters.bodiesEncoded += 1
        if encoded.count >= Self.formLimit { encoded = [:] }
        let bytes = CategoriesDocument(uri: uri, categories: merge.elements(of: names)).encoded()
        encoded[names] = bytes
        return bytes
    }
}
