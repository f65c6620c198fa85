import GRDB
import PresenceGateway

enum BridgeTable {
    /// Writes only changed items: a change of one publication does not rewrite the documents of the others.
    static func put(_ stored: StoredBridge, _ writer: StoreWriter) throws {
        try writer.run(Self.upsert) { values in
            values.add(stored.user)
            values.add(stored.way.rawValue)
            values.add(stored.uri)
            values.add(document: stored.document)
            values.add(pairs: stored.details)
            values.add(PartitionSlice.partition(ofUser: stored.user))
        }
        var missing = Set(stored.items)
        var places: Set<Int> = []
        for row in try RowSelection(["user": stored.user]).rows(of: "bridge_item", writer.database) {
            let columns = Columns(table: "bridge_item", row: row)
            let place: Int = try columns.integer("place")
            if missing.remove(try item(columns)) != nil {
                places.insert(place)
            } else {
                try writer.run(Self.deleteItem) { values in
                    values.add(stored.user)
                    values.add(place)
                }
            }
        }
        var place = 0
        for item in stored.items where missing.contains(item) {
            while !places.insert(place).inserted { place += 1 }
            try writer.run(Self.insertItem) { values in
                values.add(stored.user)
                values.add(place)
                values.add(item.kind)
                values.add(item.name)
                values.add(document: item.document)
                values.add(pairs: item.details)
            }
        }
    }

    static let delete = SQLStatement("DELETE FROM bridge WHERE user = ?")
    private static let deleteItem = SQLStatement("DELETE FROM bridge_item WHERE user = ? AND place = ?")
    private static let insertItem = SQLStatement(
        "INSERT INTO bridge_item (user, place, kind, name, document, details) VALUES (?, ?, ?, ?, ?, ?)")
    private static let upsert = Upsert.sql("bridge", key: ["user"], ["way", "uri", "document", "details"])

    static func load(_ database: Database, in slice: PartitionSlice) throws -> [StoredBridge] {
        try load(database, RowSelection(slice), RowSelection("user", of: "bridge", in: slice))
    }

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredBridge] {
        try load(database, selection, selection)
    }

    private static func load(_ database: Database, _ selection: RowSelection, _ ofItems: RowSelection) throws -> [StoredBridge] {
        var items: [String: [StoredBridge.Item]] = [:]
        for row in try ofItems.rows(of: "bridge_item", database) {
            let columns = Columns(table: "bridge_item", row: row)
            items[try columns.text("user"), default: []].append(try item(columns))
        }
        return try selection.rows(of: "bridge", database).map { row in
            let columns = Columns(table: "bridge", row: row)
            guard let way = StoredBridge.Way(rawValue: try columns.text("way")) else { throw columns.damaged("way") }
            let user = try columns.text("user")
            return StoredBridge(
                user: user, way: way, uri: try columns.text("uri"), document: try columns.document("document"),
                details: try columns.pairs("details"), items: items[user] ?? [])
        }
    }

    private static func item(_ columns: Columns) throws -> StoredBridge.Item {
        StoredBridge.Item(
            kind: try columns.text("kind"), name: try columns.text("name"), document: try columns.document("document"),
            details: try columns.pairs("details"))
    }
}
