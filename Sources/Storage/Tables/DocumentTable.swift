import GRDB
import PresenceGateway

/// XCAP documents of users.
enum DocumentTable {
    private static let upsert = Upsert.sql("document", key: ["user", "auid", "name"], ["tag", "media_type", "octets"])

    static func put(_ stored: StoredXCAPDocument, _ database: Database) throws {
        try database.run(
            upsert,
            [
                stored.user, stored.auid, stored.name, stored.tag, stored.mediaType, documentValue(stored.octets),
                StoreRecord.document(stored).partition,
            ])
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
