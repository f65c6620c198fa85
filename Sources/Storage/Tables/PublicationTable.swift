import GRDB
import PresenceGateway
import SIPCore

enum PublicationTable {
    static func put(_ stored: StoredPublication, _ writer: StoreWriter) throws {
        try writer.run(Self.upsert) { values in
            values.add(PartitionSlice.partition(ofUser: stored.presentity))
            values.add(stored.presentity)
            values.add(stored.tag)
            values.add(stored.uri)
            values.add(document: stored.document)
            values.add(stored.number)
            values.add(stored.arrived)
            values.add(stored.expiry)
            values.add(pairs: stored.ids)
        }
    }

    static let delete = SQLStatement("DELETE FROM publication WHERE part = ? AND presentity = ? AND tag = ?")
    private static let upsert = Upsert.sql(
        "publication", key: ["part", "presentity", "tag"], ["uri", "document", "number", "arrived", "expiry", "ids"])

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredPublication] {
        try selection.rows(of: "publication", database).map { row in
            let columns = Columns(table: "publication", row: row)
            return StoredPublication(
                presentity: try columns.text("presentity"), uri: try columns.text("uri"), tag: try columns.text("tag"),
                document: try columns.document("document"), number: try columns.integer("number"),
                arrived: try columns.instant("arrived"), expiry: try columns.instant("expiry"), ids: try columns.pairs("ids"))
        }
    }
}
