import GRDB
import PresenceGateway
import SIPCore

/// Notifier dialogs and the resources each one watches: a single one in the row of the dialog, so that most dialogs are one row.
enum DialogTable {
    static func put(_ stored: StoredDialog, _ writer: StoreWriter) throws {
        let tag = stored.dialog.localTag
        try writer.run(Self.upsert) { add(stored, to: $0) }
        // Rows of a dialog that has none are not read.
        guard rows(of: stored) > 0 else { return }
        try writer.run(Self.deleteResources) { $0.add(tag) }
        for (place, resource) in stored.resources.enumerated() {
            try writer.run(Self.insertResource) { values in
                values.add(tag)
                values.add(place)
                values.add(resource.uri)
                values.add(list: resource.categories)
                values.add(digests: resource.delivered)
                values.add(resource.hopMarks)
            }
        }
        for (place, resource) in stored.rejected.enumerated() {
            try writer.run(Self.insertRejected) { values in
                values.add(tag)
                values.add(stored.resources.count + place)
                values.add(resource.uri)
                values.add(resource.state)
                values.add(resource.reason)
                values.add(resource.statusCode)
                values.add(resource.poolFqdn)
                values.add(resource.isNotified)
            }
        }
    }

    /// Number of rows in the table `resource`.
    private static func rows(of stored: StoredDialog) -> Int {
        stored.rejected.isEmpty && stored.resources.count < 2 ? 0 : stored.resources.count + stored.rejected.count
    }

    private static func add(_ stored: StoredDialog, to values: StatementValues) {
        let dialog = stored.dialog
        values.add(dialog.localTag)
        values.add(stored.kind.rawValue)
        values.add(stored.owner)
        values.add(stored.watcher)
        values.add(stored.event)
        values.add(stored.contentType)
        values.add(stored.expiry)
        values.add(dialog.callID)
        values.add(dialog.remoteTag)
        values.add(dialog.localParty)
        values.add(dialog.remoteParty)
        values.add(dialog.remoteTarget)
        values.add(list: dialog.routeSet)
        values.add(dialog.localCSeq)
        values.add(dialog.remoteCSeq)
        values.add(dialog.isSecure)
        values.add(stored.isBatch)
        values.add(stored.isBestEffort)
        values.add(stored.local)
        values.add(stored.remote)
        values.add(stored.wasNotifiedActive)
        values.add(stored.isUnsettled)
        values.add(stored.listVersion)
        values.add(pairs: stored.details)
        let rows = rows(of: stored)
        let resource = rows == 0 ? stored.resources.first : nil
        values.add(rows)
        values.add(resource?.uri)
        if let resource {
            values.add(list: resource.categories)
            values.add(digests: resource.delivered)
        } else {
            values.addNull()
            values.addNull()
        }
        values.add(resource?.hopMarks)
        values.add(PartitionSlice.partition(ofUser: stored.owner))
    }

    static let delete = SQLStatement("DELETE FROM dialog WHERE tag = ?")
    private static let deleteResources = SQLStatement("DELETE FROM resource WHERE tag = ?")
    private static let insertResource = SQLStatement(
        "INSERT INTO resource (tag, place, uri, state, categories, delivered, hop_marks, is_told) VALUES (?, ?, ?, 'active', ?, ?, ?, 1)")
    private static let insertRejected = SQLStatement(
        """
        INSERT INTO resource (tag, place, uri, state, categories, delivered, reason, status_code, pool_fqdn, is_told)
        VALUES (?, ?, ?, ?, '', '', ?, ?, ?, ?)
        """)
    private static let upsert = Upsert.sql(
        "dialog", key: ["tag"],
        [
            "kind", "owner", "watcher", "event", "content_type", "expiry", "call_id", "remote_tag", "local_party", "remote_party",
            "remote_target", "route_set", "local_cseq", "remote_cseq", "is_secure", "is_batch", "is_best_effort", "local_address",
            "remote_address", "was_told_active", "is_unanswered", "list_version", "details", "resource_rows", "resource_uri", "categories",
            "delivered", "hop_marks",
        ])

    /// The dialogs of presence, or those of all other packages.
    static func load(_ database: Database, ofPresence: Bool, in slice: PartitionSlice) throws -> [StoredDialog] {
        let kind = "kind \(ofPresence ? "=" : "<>") '\(StoredDialog.Kind.watcher.rawValue)'"
        return try load(database, RowSelection(slice, and: kind), RowSelection("tag", of: "dialog", in: slice, and: kind))
    }

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredDialog] {
        try load(database, selection, selection)
    }

    private static func load(_ database: Database, _ selection: RowSelection, _ ofResources: RowSelection) throws -> [StoredDialog] {
        var resources: [String: [StoredDialog.Resource]] = [:]
        var rejected: [String: [StoredDialog.Rejected]] = [:]
        for row in try ofResources.rows(of: "resource", order: "tag, place", database) {
            let columns = Columns(table: "resource", row: row)
            let tag = try columns.text("tag")
            let state = try columns.text("state")
            if state == "active" {
                resources[tag, default: []].append(
                    try resource(columns, uri: try columns.text("uri")))
            } else {
                rejected[tag, default: []].append(
                    StoredDialog.Rejected(
                        uri: try columns.text("uri"), state: state, reason: columns.optionalText("reason"),
                        statusCode: columns.optionalInteger("status_code"), poolFqdn: columns.optionalText("pool_fqdn"),
                        isNotified: try columns.flag("is_told")))
            }
        }
        return try selection.rows(of: "dialog", database).map { row in
            let columns = Columns(table: "dialog", row: row)
            var stored = try dialog(columns)
            if try columns.integer("resource_rows") as Int > 0 {
                stored.resources = resources[stored.dialog.localTag] ?? []
                stored.rejected = rejected[stored.dialog.localTag] ?? []
            } else if let uri = columns.optionalText("resource_uri") {
                stored.resources = [try resource(columns, uri: uri)]
            }
            return stored
        }
    }

    private static func resource(_ columns: Columns, uri: String) throws -> StoredDialog.Resource {
        StoredDialog.Resource(
            uri: uri, categories: try columns.list("categories"),
            delivered: try columns.pairs("delivered").compactMapValues { UInt64($0, radix: 16) },
            hopMarks: columns.optionalText("hop_marks"))
    }

    private static func dialog(_ columns: Columns) throws -> StoredDialog {
        StoredDialog(
            kind: StoredDialog.Kind(rawValue: try columns.text("kind")),
            dialog: DialogSnapshot(
                callID: try columns.text("call_id"), localTag: try columns.text("tag"), remoteTag: try columns.text("remote_tag"),
                localParty: try columns.text("local_party"), remoteParty: try columns.text("remote_party"),
                remoteTarget: try columns.text("remote_target"), routeSet: try columns.list("route_set"),
                localCSeq: try columns.integer("local_cseq"), remoteCSeq: columns.optionalInteger("remote_cseq"),
                isSecure: try columns.flag("is_secure")),
            owner: try columns.text("owner"), event: try columns.text("event"), contentType: try columns.text("content_type"),
            watcher: try columns.text("watcher"), isBatch: try columns.flag("is_batch"),
            isBestEffort: try columns.flag("is_best_effort"), expiry: try columns.instant("expiry"),
            local: try columns.address("local_address"), remote: try columns.address("remote_address"),
            wasNotifiedActive: try columns.flag("was_told_active"), isUnsettled: try columns.flag("is_unanswered"),
            listVersion: try columns.integer("list_version"), details: try columns.pairs("details"))
    }
}
