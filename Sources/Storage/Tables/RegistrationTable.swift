import GRDB
import PresenceGateway
import SIPCore

enum RegistrationTable {
    static func put(_ stored: StoredRegistration, _ database: Database) throws {
        let arguments: [(any DatabaseValueConvertible)?] = [
            stored.user, stored.place, stored.endpoint, stored.contact, stored.callID, stored.cSeq, stored.expiry.nanosecondsSince1970,
            stored.local.storedText, stored.remote.storedText, StoreRecord.registration(stored).partition,
        ]
        try database.run(Self.upsert, StatementArguments(arguments))
    }

    private static let upsert = Upsert.sql(
        "registration", key: ["user", "place"],
        ["endpoint", "contact", "call_id", "cseq", "expiry", "local_address", "remote_address"])

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredRegistration] {
        try selection.rows(of: "registration", database).map { row in
            let columns = Columns(table: "registration", row: row)
            return StoredRegistration(
                user: try columns.text("user"), place: try columns.text("place"), endpoint: columns.optionalText("endpoint"),
                contact: try columns.text("contact"), callID: try columns.text("call_id"), cSeq: try columns.integer("cseq"),
                expiry: try columns.instant("expiry"), local: try columns.address("local_address"),
                remote: try columns.address("remote_address"))
        }
    }
}
