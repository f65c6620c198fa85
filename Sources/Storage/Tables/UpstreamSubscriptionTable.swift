import GRDB
import PresenceGateway
import SIPCore

/// Upstream subscriptions and the presentities they watch.
enum UpstreamSubscriptionTable {
    static func put(_ stored: StoredUpstreamSubscription, _ writer: StoreWriter) throws {
        let dialog = stored.dialog
        try writer.run(Self.upsert) { values in
            values.add(stored.tag)
            values.add(stored.owner)
            values.add(stored.watcher)
            values.add(stored.domain)
            values.add(stored.target)
            values.add(stored.shape)
            values.add(stored.format)
            values.add(stored.expires)
            values.add(stored.expiry)
            values.add(stored.restsUntil)
            values.add(stored.failures)
            values.add(stored.hasNotified)
            values.add(stored.maxForwards)
            values.add(stored.hopMarks)
            values.add(dialog?.callID)
            values.add(dialog?.remoteTag)
            values.add(dialog?.localParty)
            values.add(dialog?.remoteParty)
            values.add(dialog?.remoteTarget)
            if let dialog { values.add(list: dialog.routeSet) } else { values.addNull() }
            values.add(dialog?.localCSeq)
            values.add(dialog?.remoteCSeq)
            values.add(dialog?.isSecure)
            values.add(PartitionSlice.partition(ofUser: stored.owner))
        }
        try writer.run(Self.deleteResources) { $0.add(stored.tag) }
        for (place, resource) in stored.resources.enumerated() {
            try writer.run(Self.insertResource) { values in
                values.add(stored.tag)
                values.add(place)
                values.add(resource.uri)
                values.add(list: resource.categories)
                values.add(list: resource.sinks)
            }
        }
    }

    static let delete = SQLStatement("DELETE FROM leg WHERE tag = ?")
    private static let deleteResources = SQLStatement("DELETE FROM leg_resource WHERE tag = ?")
    private static let insertResource = SQLStatement(
        "INSERT INTO leg_resource (tag, place, uri, categories, sinks) VALUES (?, ?, ?, ?, ?)")
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
