import ByteCoding
import PresenceDocuments

/// Digest of a watcher's state (FNV-1a, 64 bits), so that a restarted gateway detects whether the state differs.
struct PresenceDigest {
    private var hash = FNV1a()

    init() {}

    init(of text: String) { add(text.utf8) }

    var value: UInt64 { hash.value }

    /// The digest as 16 hexadecimal digits.
    var hex: String {
        String(unsafeUninitializedCapacity: 16) { digits in
            for index in 0..<16 {
                let digit = UInt8(truncatingIfNeeded: value &>> (60 &- 4 &* UInt64(index))) & 15
                digits.initializeElement(at: index, to: digit < 10 ? 0x30 + digit : 0x57 + digit)
            }
            return 16
        }
    }

    mutating func add(_ bytes: some Sequence<UInt8>) { hash.add(bytes) }

    /// The key of a whole document.
    static let whole = "*"
}

extension RenderedPresence {
    /// Digests by category, or one of a whole document under ``PresenceDigest/whole``.
    func digests(of categories: [CategoryName]) -> [String: UInt64] {
        switch self {
        case .document(let view):
            return [PresenceDigest.whole: view.digest]
        case .categories(let view):
            return Dictionary(categories.map { ($0.rawValue, view.digest(of: $0)) }) { first, _ in first }
        }
    }
}
