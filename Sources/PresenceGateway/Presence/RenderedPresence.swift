import PresenceDocuments

/// One presentity in one watcher's format, ready to be written.
enum RenderedPresence: Equatable {
    /// Category instances; what is written depends on what the watcher has already.
    case categories(CategoryMerge)
    /// A whole document.
    case document([UInt8])

    /// The categories among `requested` that differ from what was delivered; nil for whole documents.
    func changedCategories(since delivered: RenderedPresence?, among requested: [CategoryName]) -> [CategoryName]? {
        guard case .categories(let merge) = self else { return nil }
        guard case .categories(let previous)? = delivered else { return requested }
        return merge.changes(since: previous, among: requested)
    }

    /// Whether a watcher that has `delivered` would learn nothing.
    func tellsNothing(after delivered: RenderedPresence?, among requested: [CategoryName]) -> Bool {
        switch self {
        case .categories: changedCategories(since: delivered, among: requested)?.isEmpty ?? true
        case .document: self == delivered
        }
    }
}
