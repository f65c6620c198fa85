import GRDB
import PresenceGateway
import SIPCore

enum ShownWatcherTable {
    static func put(_ stored: StoredShownWatcher, _ writer: StoreWriter) throws {
        try writer.run(Self.upsert) { values in
            values.add(PartitionSlice.partition(ofUser: stored.presentity))
            values.add(stored.presentity)
            values.add(stored.watcher)
            values.add(stored.shownAt)
            values.add(stored.signOff)
        }
    }

    static let delete = SQLStatement("DELETE FROM shown_watcher WHERE part = ? AND presentity = ? AND watcher = ?")
    private static let upsert = Upsert.sql("shown_watcher", key: ["part", "presentity", "watcher"], ["shown_at", "sign_off"])

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredShownWatcher] {
        try selection.rows(of: "shown_watcher", database).map { row in
            let columns = Columns(table: "shown_watcher", row: row)
            return StoredShownWatcher(
                presentity: try columns.text("presentity"), watcher: try columns.text("watcher"), shownAt: try columns.instant("shown_at"),
                signOff: columns.optionalInteger("sign_off"))
        }
    }
}

enum SignOffTable {
    static func put(_ stored: StoredSignOff, _ writer: StoreWriter) throws {
        try writer.run(Self.upsert) { values in
            values.add(stored.presentity)
            values.add(stored.number)
            values.add(stored.uri)
            values.add(stored.moment)
            values.add(document: stored.document)
            values.add(list: stored.computed)
            values.add(PartitionSlice.partition(ofUser: stored.presentity))
        }
    }

    static let delete = SQLStatement("DELETE FROM sign_off WHERE presentity = ? AND number = ?")
    private static let upsert = Upsert.sql("sign_off", key: ["presentity", "number"], ["uri", "moment", "document", "computed"])

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredSignOff] {
        try selection.rows(of: "sign_off", database).map { row in
            let columns = Columns(table: "sign_off", row: row)
            return StoredSignOff(
                presentity: try columns.text("presentity"), number: try columns.integer("number"), uri: try columns.text("uri"),
                moment: try columns.instant("moment"), document: try columns.document("document"), computed: try columns.list("computed"))
        }
    }
}
