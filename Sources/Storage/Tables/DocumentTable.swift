import GRDB
import PresenceGateway

/// XCAP documents of users.
enum DocumentTable {
    private static let upsert = Upsert.sql("document", key: ["user", "auid", "name"], ["tag", "media_type", "octets"])

    static let delete = SQLStatement("DELETE FROM document WHERE user = ? AND auid = ? AND name = ?")

    static func put(_ stored: StoredXCAPDocument, _ writer: StoreWriter) throws {
        try writer.run(upsert) { values in
            values.add(stored.user)
            values.add(stored.auid)
            values.add(stored.name)
            values.add(stored.tag)
            values.add(stored.mediaType)
            values.add(document: stored.octets)
            values.add(PartitionSlice.partition(ofUser: stored.user))
        }
    }

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredXCAPDocument] {
        try selection.rows(of: "document", database).map { row in
            let columns = Columns(table: "document", row: row)
            return StoredXCAPDocument(
                user: try columns.text("user"), auid: try columns.text("auid"), name: try columns.text("name"),
                tag: try columns.text("tag"), mediaType: try columns.text("media_type"), octets: try columns.document("octets"))
        }
    }
}
