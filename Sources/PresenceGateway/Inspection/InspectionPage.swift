/// Some rows of a table in their stable order, and where the next ones begin.
public struct InspectionPage<Row: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    public var rows: [Row]
    /// Give it as `after` to get what follows; nil: there is no more.
    public var next: String?

    public init(rows: [Row], next: String? = nil) {
        self.rows = rows
        self.next = next
    }
}

/// Most rows of one page.
public let inspectionPageLimit = 1_000

/// The first rows of a table of any size, in the order of their keys: one pass, and no more kept than asked for.
struct FirstRows<Key: Comparable, Row> {
    let limit: Int
    let after: Key?
    private(set) var rows: [(key: Key, row: Row)] = []
    private(set) var hasMore = false

    /// - Parameter after: rows up to and with this key are left out.
    init(limit: Int, after: Key?) {
        self.limit = max(limit, 1)
        self.after = after
    }

    mutating func offer(_ key: Key, _ row: @autoclosure () -> Row) {
        if let after, key <= after { return }
        if rows.count == limit {
            hasMore = true
            guard let last = rows.last, key < last.key else { return }
            rows.removeLast()
        }
        var low = 0
        var high = rows.count
        while low < high {
            let middle = (low + high) / 2
            if rows[middle].key < key { low = middle + 1 } else { high = middle }
        }
        rows.insert((key, row()), at: low)
    }
}

/// The place of a subscription in the list: by watcher, presentity and dialog.
struct SubscriptionKey: Comparable {
    var watcher: String
    var presentity: String
    var tag: String

    static func < (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
        (left.watcher, left.presentity, left.tag) < (right.watcher, right.presentity, right.tag)
    }

    /// As an operator hands it back; no part has a space.
    var cursor: String { "\(watcher) \(presentity) \(tag)" }

    init(watcher: String, presentity: String, tag: String) {
        self.watcher = watcher
        self.presentity = presentity
        self.tag = tag
    }

    /// nil: this was never a cursor.
    init?(cursor: String) {
        let parts = cursor.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(watcher: String(parts[0]), presentity: String(parts[1]), tag: String(parts[2]))
    }
}

extension InspectionPage<SubscriptionReport> {
    /// One page of all shards' pages, each made with this limit.
    public static func merged(_ pages: [Self], limit: Int) -> Self {
        merge(pages, limit: limit, key: \.key) {
            $0.cursor
        } combine: { one, _ in
            one
        }
    }
}

extension InspectionPage<PresentityReport> {
    /// One page of all shards' pages, each made with this limit: batches are served where their watcher is, so that more than one shard
    /// may know a presentity.
    public static func merged(_ pages: [Self], limit: Int) -> Self {
        merge(pages, limit: limit, key: \.presentity) {
            $0
        } combine: { one, other in
            var sum = one
            sum.watchers += other.watchers
            sum.publications += other.publications
            sum.ownDialogs += other.ownDialogs
            sum.endpoints += other.endpoints
            // The home server's word counts.
            if sum.state == .far { sum.state = other.state }
            return sum
        }
    }
}

extension InspectionPage {
    fileprivate static func merge<Key: Comparable>(
        _ pages: [Self], limit: Int, key: (Row) -> Key, cursor: (Key) -> String, combine: (Row, Row) -> Row
    ) -> Self {
        // A shard that has more is complete up to its last row only.
        let horizon = pages.compactMap { page in page.next == nil ? nil : page.rows.last.map(key) }.min()
        var rows: [Row] = []
        for row in pages.flatMap(\.rows).sorted(by: { key($0) < key($1) }) {
            if let horizon, key(row) > horizon { break }
            if let last = rows.last, key(last) == key(row) {
                rows[rows.count - 1] = combine(last, row)
            } else {
                rows.append(row)
            }
        }
        let hasMore = horizon != nil || rows.count > limit
        rows = Array(rows.prefix(max(limit, 1)))
        return InspectionPage(rows: rows, next: hasMore ? rows.last.map { cursor(key($0)) } : nil)
    }
}

extension SubscriptionReport {
    var key: SubscriptionKey { SubscriptionKey(watcher: watcher, presentity: presentity, tag: localTag) }
}
