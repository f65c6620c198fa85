import GRDB
import PresenceGateway
import SIPCore

enum RegistrationTable {
    static func put(_ stored: StoredRegistration, _ writer: StoreWriter) throws {
        try writer.run(Self.upsert) { values in
            values.add(stored.user)
            values.add(stored.place)
            values.add(stored.endpoint)
            values.add(stored.contact)
            values.add(stored.callID)
            values.add(stored.cSeq)
            values.add(stored.expiry)
            values.add(stored.local)
            values.add(stored.remote)
            values.add(PartitionSlice.partition(ofUser: stored.user))
        }
    }

    static let delete = SQLStatement("DELETE FROM registration WHERE user = ? AND place = ?")
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
