import GRDB
import PresenceGateway
import SIPCore

enum PublicationTable {
    static func put(_ stored: StoredPublication, _ database: Database) throws {
        try database.run(
            Self.upsert,
            [
                stored.presentity, stored.tag, stored.uri, documentValue(stored.document), Int64(clamping: stored.number),
                stored.arrived.nanosecondsSince1970, stored.expiry.nanosecondsSince1970, StoredList.text(stored.ids),
                StoreRecord.publication(stored).partition,
            ])
    }

    private static let upsert = Upsert.sql(
        "publication", key: ["presentity", "tag"], ["uri", "document", "number", "arrived", "expiry", "ids"])

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
