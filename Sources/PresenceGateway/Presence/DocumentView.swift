import PresenceDocuments
import XMLCore

/// A whole document that some watchers see alike.
///
/// An object, as ``CategoryView`` is: what is worked out for one of them - its difference to the document before, its digest - is there for
/// all.
final class DocumentView {
    let bytes: [UInt8]
    private lazy var root = try? XMLTree.parse(bytes).root
    private lazy var full = root.map { PartialPIDF(full: $0) }
    private var previous: DocumentView?
    private var difference: PartialPIDF?

    private(set) lazy var digest: UInt64 = {
        var digest = PresenceDigest()
        digest.add(bytes)
        return digest.value
    }()

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    /// The PIDF document as its difference to an earlier one, or whole where there is none or that is no shorter (RFC 5263 4.4).
    func partial(after earlier: DocumentView?, version: UInt32) -> [UInt8] {
        // What this gateway wrote itself can be read.
        (difference(to: earlier) ?? full)?.encoded(version: version) ?? bytes
    }

    private func difference(to earlier: DocumentView?) -> PartialPIDF? {
        guard let earlier, earlier !== self else { return nil }
        if previous !== earlier {
            previous = earlier
            difference = nil
            if let old = earlier.root, let new = root { difference = PartialPIDF(from: old, to: new) }
            // A chain of documents would keep every state that ever was.
            earlier.previous = nil
        }
        return difference
    }
}
