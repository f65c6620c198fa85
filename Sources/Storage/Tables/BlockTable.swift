import GRDB
import PresenceGateway
import SIPCore

enum ShownWatcherTable {
    static func put(_ stored: StoredShownWatcher, _ database: Database) throws {
        try database.run(
            Self.upsert,
            [
                stored.presentity, stored.watcher, stored.shownAt.nanosecondsSince1970, stored.signOff,
                StoreRecord.shownWatcher(stored).partition,
            ])
    }

    private static let upsert = Upsert.sql("shown_watcher", key: ["presentity", "watcher"], ["shown_at", "sign_off"])

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
    static func put(_ stored: StoredSignOff, _ database: Database) throws {
        try database.run(
            Self.upsert,
            [
                stored.presentity, stored.number, stored.uri, stored.moment.nanosecondsSince1970, documentValue(stored.document),
                StoredList.text(stored.computed),
                StoreRecord.signOff(stored).partition,
            ])
    }

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
