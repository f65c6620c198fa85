import PresenceDocuments

/// A number that stands for what a watcher was told, so that a restart knows whether it differs from what is so now (FNV-1a, 64 bits).
struct PresenceDigest {
    private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    init() {}

    init(of text: String) { add(text.utf8) }

    /// 16 hexadecimal digits.
    var hex: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }

    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }

    /// The key of a whole document.
    static let whole = "*"
}

extension RenderedPresence {
    /// By category; of a whole document under ``PresenceDigest/whole``.
    func digests(of categories: [CategoryName]) -> [String: UInt64] {
        switch self {
        case .document(let view):
            return [PresenceDigest.whole: view.digest]
        case .categories(let view):
            return Dictionary(categories.map { ($0.rawValue, view.digest(of: $0)) }) { first, _ in first }
        }
    }
}
