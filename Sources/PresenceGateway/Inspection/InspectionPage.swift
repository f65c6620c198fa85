/// A page of a table in stable order, with the cursor of the next page.
package struct InspectionPage<Row: Codable & Hashable & Sendable>: Codable, Hashable, Sendable {
    /// The rows.
    package var rows: [Row]
    /// Cursor for `after` of the next page; nil: this is the last page.
    package var next: String?

    /// Creates a page.
    package init(rows: [Row], next: String? = nil) {
        self.rows = rows
        self.next = next
    }
}

/// Maximum number of rows of one page.
package let inspectionPageLimit = 1_000

/// Selects the first rows by key in one pass, keeping at most `limit` rows.
struct FirstRows<Key: Comparable, Row> {
    let limit: Int
    let after: Key?
    private(set) var rows: [(key: Key, row: Row)] = []
    private(set) var hasMore = false

    /// - Parameter after: last key of the previous page; rows up to and including it are skipped.
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

/// Sort key of a subscription: watcher, presentity and dialog.
struct SubscriptionKey: Comparable {
    var watcher: String
    var presentity: String
    var tag: String

    static func < (left: SubscriptionKey, right: SubscriptionKey) -> Bool {
        (left.watcher, left.presentity, left.tag) < (right.watcher, right.presentity, right.tag)
    }

    /// The key as text; no part contains a space.
    var cursor: String { "\(watcher) \(presentity) \(tag)" }

    init(watcher: String, presentity: String, tag: String) {
        self.watcher = watcher
        self.presentity = presentity
        self.tag = tag
    }

    /// Reads a cursor; nil if it is invalid.
    init?(cursor: String) {
        let parts = cursor.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, !parts[0].isEmpty, !parts[2].isEmpty else { return nil }
        self.init(watcher: String(parts[0]), presentity: String(parts[1]), tag: String(parts[2]))
    }
}

extension InspectionPage<SubscriptionReport> {
    /// Merges the pages of all shards, each requested with this limit.
    package static func merged(_ pages: [Self], limit: Int) -> Self {
        merge(pages, limit: limit, key: \.key) {
            $0.cursor
        } combine: { one, _ in
            one
        }
    }
}

extension InspectionPage<PresentityReport> {
    /// Merges the pages of all shards, each requested with this limit. Rows of one presentity are summed, because batches are served on
    /// the shard of their watcher.
    package static func merged(_ pages: [Self], limit: Int) -> Self {
        merge(pages, limit: limit, key: \.presentity) {
            $0
        } combine: { one, other in
            var sum = one
            sum.watchers += other.watchers
            sum.publications += other.publications
            sum.ownDialogs += other.ownDialogs
            sum.endpoints += other.endpoints
            // Any state of a shard with a record takes precedence over `far`.
            if sum.state == .far { sum.state = other.state }
            return sum
        }
    }
}

extension InspectionPage {
    fileprivate static func merge<Key: Comparable>(
        _ pages: [Self], limit: Int, key: (Row) -> Key, cursor: (Key) -> String, combine: (Row, Row) -> Row
    ) -> Self {
        // A shard with more rows is complete only up to its last row.
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
