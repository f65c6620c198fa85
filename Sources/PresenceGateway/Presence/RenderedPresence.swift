import PresenceDocuments

/// One presentity in one watcher's format, ready to be written.
enum RenderedPresence {
    /// Category instances; what is written depends on what the watcher has already.
    case categories(CategoryView)
    /// A whole document.
    case document(DocumentView)

    /// The categories among `requested` that differ from what was delivered; nil for whole documents.
    func changedCategories(since delivered: RenderedPresence?, among requested: [CategoryName]) -> [CategoryName]? {
        guard case .categories(let view) = self else { return nil }
        guard case .categories(let previous)? = delivered else { return requested }
        return view.changes(since: previous, among: requested)
    }

    /// Whether a watcher that has `delivered` would learn nothing.
    func tellsNothing(after delivered: RenderedPresence?, among requested: [CategoryName]) -> Bool {
        switch (self, delivered) {
        case (.categories, _): changedCategories(since: delivered, among: requested)?.isEmpty ?? true
        case (.document(let view), .document(let previous)?): view === previous || view.bytes == previous.bytes
        default: false
        }
    }
}

/// The category instances of one presentity that some watchers see alike.
///
/// An object, so that what is worked out for one of them - the differences to the view before, the octets - is there for all.
final class CategoryView {
    let uri: String
    let merge: CategoryMerge
    private var encoded: [[CategoryName]: [UInt8]] = [:]
    private var digests: [CategoryName: UInt64] = [:]
    private var previous: CategoryView?
    private var changesSincePrevious: [[CategoryName]: [CategoryName]] = [:]

    /// Watchers ask for few sets of categories; one who asks for ever new ones is not to fill the memory.
    static let formLimit = 64
    var formCount: Int { max(encoded.count, changesSincePrevious.count) }

    init(uri: String, _ merge: CategoryMerge) {
        self.uri = uri
        self.merge = merge
    }

    /// The categories whose instances differ from those of an earlier view.
    func changes(since earlier: CategoryView, among requested: [CategoryName]) -> [CategoryName] {
        if earlier === self { return [] }
        if previous !== earlier {
            previous = earlier
            changesSincePrevious = [:]
            // A chain of views would keep every state that ever was.
            earlier.previous = nil
        }
        if let known = changesSincePrevious[requested] { return known }
        let changes = merge.changes(since: earlier.merge, among: requested)
        if changesSincePrevious.count >= Self.formLimit { changesSincePrevious = [:] }
        changesSincePrevious[requested] = changes
        return changes
    }

    /// Of a category's instances; the moment of publication alone makes no difference.
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

    /// A categories document with all instances of these categories.
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
