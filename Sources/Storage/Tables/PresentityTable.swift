import GRDB
import PresenceGateway

enum PresentityTable {
    static func put(_ stored: StoredPresentity, _ writer: StoreWriter) throws {
        try writer.run(Self.upsert) { values in
            values.add(stored.user)
            values.add(stored.uri)
            values.add(document: stored.document)
            values.add(list: stored.computed)
            values.add(stored.isSimpleNewer)
            values.add(PartitionSlice.partition(ofUser: stored.user))
        }
    }

    static let delete = SQLStatement("DELETE FROM presentity WHERE user = ?")
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
