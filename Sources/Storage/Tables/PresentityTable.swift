import GRDB
import PresenceGateway

enum PresentityTable {
    static func put(_ stored: StoredPresentity, _ database: Database) throws {
        try database.run(
            Self.upsert,
            [
                stored.user, stored.uri, documentValue(stored.document),
                StoredList.text(stored.computed), stored.isSimpleNewer,
                StoreRecord.presentity(stored).partition,
            ])
    }

    private static let upsert = Upsert.sql("presentity", key: ["user"], ["uri", "document", "computed", "simple_is_newer"])

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredPresentity] {
        try selection.rows(of: "presentity", database).map { row in
            let columns = Columns(table: "presentity", row: row)
            return StoredPresentity(
                user: try columns.text("user"), uri: try columns.text("uri"), document: try columns.document("document"),
                computed: try columns.list("computed"), isSimpleNewer: try columns.flag("simple_is_newer"))
        }
    }
}
