import GRDB
import PresenceGateway

/// One numbered document per user: contact lists and access control lists.
struct UserDocumentTable {
    static let contacts = UserDocumentTable(name: "contacts")
    static let accessList = UserDocumentTable(name: "access_list")

    private let name: String

    func put(_ stored: StoredUserDocument, _ database: Database) throws {
        try database.run(
            Upsert.sql(name, key: ["user"], ["delta_number", "document"]),
            [stored.user, stored.deltaNumber, documentValue(stored.document), StoreRecord.contacts(stored).partition])
    }

    func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredUserDocument] {
        try selection.rows(of: name, database).map { row in
            let columns = Columns(table: name, row: row)
            return StoredUserDocument(
                user: try columns.text("user"), deltaNumber: try columns.integer("delta_number"),
                document: try columns.document("document"))
        }
    }
}
