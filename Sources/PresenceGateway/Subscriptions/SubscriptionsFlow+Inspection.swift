import SIPCore

/// The subscriptions and the tables of the notifier, for operators.
extension SubscriptionsFlow {
    /// Number of entries by table.
    var sizes: [String: Int] {
        [
            "dialogs": dialogs.presenceCount, "homeDialogs": dialogs.count - dialogs.presenceCount,
            "dialogsOfWatcher": dialogs.watcherCount, "dialogsOfConnection": dialogs.connectionCount,
            "dialogsOfEndpoint": dialogs.endpointCount,
        ].merging(reloaded.sizes) { $1 }.merging(settlement.sizes) { $1 }
    }

    var tables: [TableSize] {
        [TableSize(name: "subscriptions", entries: dialogs.count, limit: configuration.limits.subscriptions)]
    }

    func count(in counts: inout GatewayCounts) {
        counts.watcherDialogs = dialogs.presenceCount
        counts.homeDialogs = dialogs.count - dialogs.presenceCount
    }

    /// Offers the live subscriptions, a row for each resource of a batch or list.
    func offer(to rows: inout SubscriptionRows, matching filter: SubscriptionFilter, at now: Instant) {
        for dialog in dialogs.values {
            if let state = filter.state, dialog.state(at: now) != state { continue }
            for row in dialog.subscription.rows(of: dialog) where filter.isIn(dialog, row.resource?.upstream) {
                guard filter.isAbout(watcher: dialog.watcherKey, presentity: row.presentity) else { continue }
                let key = SubscriptionKey(watcher: dialog.watcherKey, presentity: row.presentity, tag: dialog.localTag)
                rows.offer(key, { dialog.report(row, at: now) })
            }
        }
    }

    func describe(_ key: String, in report: inout PresentityReport) { report.ownDialogs = dialogs.about(key).count }

    /// Explains the dialogs of the watcher about the presentity.
    func explain(_ question: ExplainQuestion, in explanation: inout Explanation, at now: Instant) {
        let watcher = question.watcher.aorKey
        guard dialogs.count(of: watcher) > 0 else { return }
        let found = dialogs.values.filter { $0.watcherKey == watcher }.flatMap { dialog in
            dialog.subscription.explain(
                dialog, presentity: question.presentity.aorKey, includingBodies: question.includingBodies, at: now)
        }
        explanation.show(subscriptions: found.sorted { $0.subscription.key < $1.subscription.key })
    }
}
