import SIPCore

/// The subscriptions and the tables of the notifier, for operators.
extension SubscriptionsFlow {
    /// Number of entries by table.
    var sizes: [String: Int] {
        [
            "dialogs": dialogs.presenceCount, "homeDialogs": dialogs.count - dialogs.presenceCount,
            "dialogsOfWatcher": dialogs.watcherCount, "dialogsOfConnection": dialogs.connectionCount,
            "dialogsOfEndpoint": dialogs.endpointCount,
        ].merging(reloaded.sizes) { $1 }
    }

    /// The live subscriptions, ordered by watcher, presentity and dialog; a batch or list has one row per resource.
    /// - Parameters:
    ///   - filter: with canonical keys.
    ///   - cursor: `next` of the previous page; an invalid cursor starts from the beginning.
    func rows(
        matching filter: SubscriptionFilter, limit: Int, after cursor: String?, at now: Instant
    ) -> InspectionPage<SubscriptionReport> {
        var first = FirstRows<SubscriptionKey, (dialog: WatcherDialog, row: SubscriptionRow)>(
            limit: limit, after: cursor.flatMap { SubscriptionKey(cursor: $0) })
        for dialog in dialogs.values {
            if let state = filter.state, dialog.state(at: now) != state { continue }
            for row in dialog.subscription.rows(of: dialog) where filter.isIn(dialog, row.resource?.upstream) {
                guard filter.isAbout(watcher: dialog.watcherKey, presentity: row.presentity) else { continue }
                first.offer(
                    SubscriptionKey(watcher: dialog.watcherKey, presentity: row.presentity, tag: dialog.localTag), (dialog, row))
            }
        }
        return InspectionPage(
            rows: first.rows.map { $0.row.dialog.report($0.row.row, at: now) }, next: first.hasMore ? first.rows.last?.key.cursor : nil)
    }

    /// Explains what a watcher has of a presentity, both by canonical key.
    func explain(
        watcher: String, presentity: String, includingBodies: Bool, at now: Instant
    ) -> [SubscriptionExplanation] {
        guard dialogs.count(of: watcher) > 0 else { return [] }
        var found: [SubscriptionExplanation] = []
        for dialog in dialogs.values where dialog.watcherKey == watcher {
            found += dialog.subscription.explain(dialog, presentity: presentity, includingBodies: includingBodies, at: now)
        }
        return found.sorted { $0.subscription.key < $1.subscription.key }
    }
}
