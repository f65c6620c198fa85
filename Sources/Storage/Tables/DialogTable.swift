import GRDB
import PresenceGateway
import SIPCore

/// Notifier dialogs and the resources each one watches.
enum DialogTable {
    static func put(_ stored: StoredDialog, _ database: Database) throws {
        let dialog = stored.dialog
        let arguments: [(any DatabaseValueConvertible)?] = [
            dialog.localTag, stored.kind.rawValue, stored.owner, stored.watcher, stored.event, stored.contentType,
            stored.expiry.nanosecondsSince1970, dialog.callID, dialog.remoteTag, dialog.localParty, dialog.remoteParty,
            dialog.remoteTarget, StoredList.text(dialog.routeSet), dialog.localCSeq, dialog.remoteCSeq, dialog.isSecure, stored.isBatch,
            stored.isBestEffort, stored.local.storedText, stored.remote.storedText, stored.wasNotifiedActive, stored.isUnsettled,
            stored.listVersion, StoredList.text(stored.details), StoreRecord.dialog(stored).partition,
        ]
        try database.run(Self.upsert, StatementArguments(arguments))
        try database.run("DELETE FROM resource WHERE tag = ?", [dialog.localTag])
        for (place, resource) in stored.resources.enumerated() {
            try database.run(
                "INSERT INTO resource (tag, place, uri, state, categories, delivered, hop_marks, is_told) VALUES (?, ?, ?, ?, ?, ?, ?, 1)",
                [
                    dialog.localTag, place, resource.uri, "active", StoredList.text(resource.categories),
                    StoredList.text(resource.delivered.mapValues { String($0, radix: 16) }), resource.hopMarks,
                ])
        }
        for (place, resource) in stored.rejected.enumerated() {
            try database.run(
                """
                INSERT INTO resource (tag, place, uri, state, categories, delivered, reason, status_code, pool_fqdn, is_told)
                VALUES (?, ?, ?, ?, '', '', ?, ?, ?, ?)
                """,
                [
                    dialog.localTag, stored.resources.count + place, resource.uri, resource.state, resource.reason, resource.statusCode,
                    resource.poolFqdn, resource.isNotified,
                ])
        }
    }

    private static let upsert = Upsert.sql(
        "dialog", key: ["tag"],
        [
            "kind", "owner", "watcher", "event", "content_type", "expiry", "call_id", "remote_tag", "local_party", "remote_party",
            "remote_target", "route_set", "local_cseq", "remote_cseq", "is_secure", "is_batch", "is_best_effort", "local_address",
            "remote_address", "was_told_active", "is_unanswered", "list_version", "details",
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
                    StoredDialog.Resource(
                        uri: try columns.text("uri"), categories: try columns.list("categories"),
                        delivered: try columns.pairs("delivered").compactMapValues { UInt64($0, radix: 16) },
                        hopMarks: columns.optionalText("hop_marks")))
            } else {
                rejected[tag, default: []].append(
                    StoredDialog.Rejected(
                        uri: try columns.text("uri"), state: state, reason: columns.optionalText("reason"),
                        statusCode: columns.optionalInteger("status_code"), poolFqdn: columns.optionalText("pool_fqdn"),
                        isNotified: try columns.flag("is_told")))
            }
        }
        return try selection.rows(of: "dialog", database).map { row in
            var stored = try dialog(Columns(table: "dialog", row: row))
            stored.resources = resources[stored.dialog.localTag] ?? []
            stored.rejected = rejected[stored.dialog.localTag] ?? []
            return stored
        }
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
