import GRDB
import PresenceGateway
import SIPCore

/// Upstream subscriptions and the presentities they watch.
enum UpstreamSubscriptionTable {
    static func put(_ stored: StoredUpstreamSubscription, _ database: Database) throws {
        let dialog = stored.dialog
        let arguments: [(any DatabaseValueConvertible)?] = [
            stored.tag, stored.owner, stored.watcher, stored.domain, stored.target, stored.shape, stored.format, stored.expires,
            stored.expiry?.nanosecondsSince1970, stored.restsUntil?.nanosecondsSince1970, stored.failures, stored.hasNotified,
            stored.maxForwards, stored.hopMarks, dialog?.callID, dialog?.remoteTag, dialog?.localParty,
            dialog?.remoteParty, dialog?.remoteTarget, dialog.map { StoredList.text($0.routeSet) }, dialog?.localCSeq,
            dialog?.remoteCSeq, dialog?.isSecure, StoreRecord.upstreamSubscription(stored).partition,
        ]
        try database.run(Self.upsert, StatementArguments(arguments))
        try database.run("DELETE FROM leg_resource WHERE tag = ?", [stored.tag])
        for (place, resource) in stored.resources.enumerated() {
            try database.run(
                "INSERT INTO leg_resource (tag, place, uri, categories, sinks) VALUES (?, ?, ?, ?, ?)",
                [stored.tag, place, resource.uri, StoredList.text(resource.categories), StoredList.text(resource.sinks)])
        }
    }

    private static let upsert = Upsert.sql(
        "leg", key: ["tag"],
        [
            "owner", "watcher", "domain", "target", "shape", "format", "expires", "expiry", "rests_until", "failures", "has_notified",
            "max_forwards", "hop_marks", "call_id", "remote_tag", "local_party", "remote_party", "remote_target", "route_set",
            "local_cseq", "remote_cseq", "is_secure",
        ])

    static func load(_ database: Database, in slice: PartitionSlice) throws -> [StoredUpstreamSubscription] {
        try load(database, RowSelection(slice), RowSelection("tag", of: "leg", in: slice))
    }

    static func load(_ database: Database, _ selection: RowSelection = .all) throws -> [StoredUpstreamSubscription] {
        try load(database, selection, selection)
    }

    private static func load(
        _ database: Database, _ selection: RowSelection, _ ofResources: RowSelection
    ) throws -> [StoredUpstreamSubscription] {
        var resources: [String: [StoredUpstreamSubscription.Resource]] = [:]
        for row in try ofResources.rows(of: "leg_resource", order: "tag, place", database) {
            let columns = Columns(table: "leg_resource", row: row)
            resources[try columns.text("tag"), default: []].append(
                StoredUpstreamSubscription.Resource(
                    uri: try columns.text("uri"), categories: try columns.list("categories"), sinks: try columns.list("sinks")))
        }
        return try selection.rows(of: "leg", database).map { row in
            try subscription(Columns(table: "leg", row: row), resources)
        }
    }

    private static func subscription(
        _ columns: Columns, _ resources: [String: [StoredUpstreamSubscription.Resource]]
    ) throws -> StoredUpstreamSubscription {
        let tag = try columns.text("tag")
        var dialog: DialogSnapshot?
        if columns.optionalText("call_id") != nil {
            dialog = DialogSnapshot(
                callID: try columns.text("call_id"), localTag: tag, remoteTag: try columns.text("remote_tag"),
                localParty: try columns.text("local_party"), remoteParty: try columns.text("remote_party"),
                remoteTarget: try columns.text("remote_target"), routeSet: try columns.list("route_set"),
                localCSeq: try columns.integer("local_cseq"), remoteCSeq: columns.optionalInteger("remote_cseq"),
                isSecure: try columns.flag("is_secure"))
        }
        return StoredUpstreamSubscription(
            tag: tag, owner: try columns.text("owner"), watcher: try columns.text("watcher"), domain: try columns.text("domain"),
            dialog: dialog,
            hasNotified: try columns.flag("has_notified"), expiry: columns.optionalInstant("expiry"),
            restsUntil: columns.optionalInstant("rests_until"), failures: try columns.integer("failures"),
            expires: try columns.integer("expires"), target: try columns.text("target"), shape: try columns.text("shape"),
            format: try columns.text("format"),
            maxForwards: try columns.integer("max_forwards"), hopMarks: try columns.text("hop_marks"),
            resources: resources[tag] ?? [])
    }
}
