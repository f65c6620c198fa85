import GRDB
import PresenceGateway

enum BridgeTable {
    static func put(_ stored: StoredBridge, _ database: Database) throws {
        try database.run("DELETE FROM bridge WHERE user = ?", [stored.user])
        try database.run(
            "INSERT INTO bridge (user, way, uri, document, details) VALUES (?, ?, ?, ?, ?)",
            [stored.user, stored.way.rawValue, stored.uri, documentValue(stored.document), StoredList.text(stored.details)])
        for (place, item) in stored.items.enumerated() {
            try database.run(
                "INSERT INTO bridge_item (user, place, kind, name, document, details) VALUES (?, ?, ?, ?, ?, ?)",
                [stored.user, place, item.kind, item.name, documentValue(item.document), StoredList.text(item.details)])
        }
    }

    static func load(_ database: Database) throws -> [StoredBridge] {
        var items: [String: [StoredBridge.Item]] = [:]
        for row in try Row.fetchAll(database, sql: "SELECT * FROM bridge_item ORDER BY user, place") {
            let columns = Columns(table: "bridge_item", row: row)
            items[try columns.text("user"), default: []].append(
                StoredBridge.Item(
                    kind: try columns.text("kind"), name: try columns.text("name"), document: try columns.document("document"),
                    details: try columns.pairs("details")))
        }
        return try Row.fetchAll(database, sql: "SELECT * FROM bridge").map { row in
            let columns = Columns(table: "bridge", row: row)
            guard let way = StoredBridge.Way(rawValue: try columns.text("way")) else { throw columns.damaged("way") }
            let user = try columns.text("user")
            return StoredBridge(
                user: user, way: way, uri: try columns.text("uri"), document: try columns.document("document"),
                details: try columns.pairs("details"), items: items[user] ?? [])
        }
    }
}
