import GRDB
import PresenceGateway

enum PresentityTable {
    static func put(_ stored: StoredPresentity, _ database: Database) throws {
        try database.run(
            "INSERT OR REPLACE INTO presentity (user, uri, document, computed, simple_is_newer) VALUES (?, ?, ?, ?, ?)",
            [
                stored.user, stored.uri, documentValue(stored.document),
                StoredList.text(stored.computed.map { "\($0.container)/\($0.instance)/\($0.category)" }), stored.isSimpleNewer,
            ])
    }

    static func load(_ database: Database) throws -> [StoredPresentity] {
        try Row.fetchAll(database, sql: "SELECT * FROM presentity").map { row in
            let columns = Columns(table: "presentity", row: row)
            return StoredPresentity(
                user: try columns.text("user"), uri: try columns.text("uri"), document: try columns.document("document"),
                computed: try columns.list("computed").map { try instance($0, columns) },
                isSimpleNewer: try columns.flag("simple_is_newer"))
        }
    }

    private static func instance(_ text: String, _ columns: Columns) throws -> StoredPresentity.ComputedInstance {
        let parts = text.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, let container = Int(parts[0]), let instance = UInt32(parts[1]) else { throw columns.damaged("computed") }
        return StoredPresentity.ComputedInstance(category: String(parts[2]), container: container, instance: instance)
    }
}
