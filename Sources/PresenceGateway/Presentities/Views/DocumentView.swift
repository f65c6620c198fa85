import PresenceDocuments
import PresenceFilters
import XMLCore

/// A whole document shared by watchers. A class, like ``CategoryView``, so that they share its cached difference and digest.
final class DocumentView {
    let bytes: [UInt8]
    private lazy var root = try? XMLTree.parse(bytes).root
    private lazy var full = root.map { PartialPIDF(full: $0) }
    private var previous: DocumentView?
    private var difference: PartialPIDF?
    private var isLikeNeverPublished: Bool?
    /// The document as filters reduce it.
    private var reductions: [ContentFilter: DocumentView] = [:]
    /// Limit of ``reductions``, since watchers could have ever new filters.
    private static let reductionLimit = 16
    /// Number by which other shards know the view; nil: it was sent to none.
    private(set) var sharedNumber: UInt64?

    private(set) lazy var digest: UInt64 = {
        var digest = PresenceDigest()
        digest.add(bytes)
        return digest.value
    }()

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// Sets the number by which other shards know the view.
    func share(as number: UInt64) { sharedNumber = number }

    /// The document as a filter reduces it, which watchers with the same filter share; empty if nothing is left.
    func reduced(by filter: ContentFilter) -> DocumentView {
        if filter.isEverything { return self }
        if let known = reductions[filter] { return known }
        if reductions.count >= Self.reductionLimit { reductions = [:] }
        // Reading does not fail: the gateway wrote the document itself.
        let content = try? filter.content(of: bytes)
        let view = DocumentView((content ?? nil) ?? [])
        reductions[filter] = view
        return view
    }

    /// Whether the document is that of a presentity that never published.
    /// - Parameter compare: compares; called for the first watcher only, so use it where all watchers see the same.
    func looksNeverPublished(_ compare: () -> Bool) -> Bool {
        if let known = isLikeNeverPublished { return known }
        let result = compare()
        isLikeNeverPublished = result
        return result
    }

    /// Encodes the difference to an earlier document, or the full document if there is none or it is no longer (RFC 5263 4.4).
    func partial(after earlier: DocumentView?, version: UInt32) -> [UInt8] {
        // Parsing does not fail: the gateway wrote the document itself.
        (difference(to: earlier) ?? full)?.encoded(version: version) ?? bytes
    }

    private func difference(to earlier: DocumentView?) -> PartialPIDF? {
        guard let earlier, earlier !== self else { return nil }
        if previous !== earlier {
            previous = earlier
            difference = nil
            if let old = earlier.root, let new = root { difference = PartialPIDF(from: old, to: new) }
            // Without this, the chain would keep all earlier documents in memory.
            earlier.previous = nil
        }
        return difference
    }
}
