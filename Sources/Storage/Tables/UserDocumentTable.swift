import GRDB
import PresenceGateway

/// One numbered document per user: contact lists and access control lists.
struct UserDocumentTable {
    static let contacts = UserDocumentTable(name: "contacts")
    static let accessList = UserDocumentTable(name: "access_list")

    private let name: String
    private let upsert: SQLStatement
    let delete: SQLStatement

    private init(name: String) {
        self.name = name
        upsert = Upsert.sql(name, key: ["user"], ["delta_number", "document"])
        delete = SQLStatement("DELETE FROM \(name) WHERE user = ?")
    }

    func put(_ stored: StoredUserDocument, _ writer: StoreWriter) throws {
        try writer.run(upsert) { values in
            values.add(stored.user)
            values.add(stored.deltaNumber)
            values.add(document: stored.document)
            values.add(PartitionSlice.partition(ofUser: stored.user))
        }
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
