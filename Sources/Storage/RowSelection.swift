import GRDB
import PresenceGateway

/// Rows of a table: all, or those with the given value in each of the named columns.
struct RowSelection {
    /// All rows.
    static var all: RowSelection { RowSelection([:]) }

    private let condition: String
    private let arguments: StatementArguments

    /// Selects the rows with these values; all rows if there are none.
    init(_ columns: KeyValuePairs<String, any DatabaseValueConvertible>) {
        condition = columns.isEmpty ? "" : " WHERE " + columns.map { "\($0.key) = ?" }.joined(separator: " AND ")
        arguments = StatementArguments(columns.map { Optional($0.value) })
    }

    /// Selects the rows of a slice by the column `part`.
    /// - Parameter condition: a further condition; nil: none.
    init(_ slice: PartitionSlice, and condition: String? = nil) {
        self.condition = " WHERE \(Self.slice)" + (condition.map { " AND \($0)" } ?? "")
        arguments = Self.arguments(slice)
    }

    /// Selects the rows that belong to rows of another table in a slice.
    /// - Parameters:
    ///   - key: column with the key of the other table.
    ///   - condition: a further condition for the rows of the other table; nil: none.
    init(_ key: String, of table: String, in slice: PartitionSlice, and condition: String? = nil) {
        self.condition =
            " WHERE \(key) IN (SELECT \(key) FROM \(table) WHERE \(Self.slice)" + (condition.map { " AND \($0)" } ?? "") + ")"
        arguments = Self.arguments(slice)
    }

    private static let slice = "part BETWEEN ? AND ? AND part % ? = ?"

    private static func arguments(_ slice: PartitionSlice) -> StatementArguments {
        [slice.numbers.lowerBound, slice.numbers.upperBound, slice.shards, slice.shard]
    }

    /// Reads the rows of a table, sorted by `order` if there is one.
    func rows(of table: String, order: String? = nil, _ database: Database) throws -> [Row] {
        let sql = "SELECT * FROM \(table)\(condition)" + (order.map { " ORDER BY \($0)" } ?? "")
        return try Row.fetchAll(database.cachedStatement(sql: sql), arguments: arguments)
    }
}

extension StoreKey {
    /// Table of the record, and its row there by primary key.
    var place: (table: String, row: RowSelection) {
        switch self {
        case .presentity(let user): ("presentity", RowSelection(["user": user]))
        case .publication(let presentity, let tag):
            ("publication", RowSelection(["part": PartitionSlice.partition(ofUser: presentity), "presentity": presentity, "tag": tag]))
        case .dialog(let tag): ("dialog", RowSelection(["tag": tag]))
        case .upstreamSubscription(let tag): ("leg", RowSelection(["tag": tag]))
        case .registration(let user, let place): ("registration", RowSelection(["user": user, "place": place]))
        case .contacts(let user): ("contacts", RowSelection(["user": user]))
        case .accessList(let user): ("access_list", RowSelection(["user": user]))
        case .bridge(let user): ("bridge", RowSelection(["user": user]))
        case .shownWatcher(let presentity, let watcher):
            (
                "shown_watcher",
                RowSelection(["part": PartitionSlice.partition(ofUser: presentity), "presentity": presentity, "watcher": watcher])
            )
        case .signOff(let presentity, let number): ("sign_off", RowSelection(["presentity": presentity, "number": number]))
        case .document(let user, let auid, let name): ("document", RowSelection(["user": user, "auid": auid, "name": name]))
        }
    }
}
