import PresenceDocuments
import SIPCore

/// The watched presentities, for operators.
extension PresenceSubscriptions {
    /// Number of entries by table.
    var sizes: [String: Int] {
        ["dialogsOfPresentity": dialogsOfPresentity.count, "watchedResources": watchedResources].merging(views.sizes) { $1 }
    }

    var tables: [TableSize] {
        [TableSize(name: "watched_resources", entries: watchedResources, limit: configuration.limits.watchedResources)]
    }

    func count(in counts: inout GatewayCounts) { counts.watchedResources = watchedResources }

    func forEachPresentity(_ body: (String) -> Void) { dialogsOfPresentity.keys.forEach(body) }

    func state(ofPresentity key: String) -> PresentityReport.State? { dialogsOfPresentity[key] == nil ? nil : .far }

    func describe(_ key: String, in report: inout PresentityReport) { report.watchers = dialogsOfPresentity[key] ?? 0 }

    /// Explains the watcher's view of one resource; changes nothing.
    func explain(
        _ dialog: WatcherDialog, _ resource: WatchedResource, includingBodies: Bool, at now: Instant
    ) -> SubscriptionExplanation {
        let (view, fresh) = hosted.trace(resource, for: dialog, at: now)
        var explanation = SubscriptionExplanation(
            subscription: dialog.report(SubscriptionRow(presentity: resource.key, resource: resource), at: now), delivery: .nothing,
            view: view)
        explanation.watch = resource.watch?.tag
        if let spacedUntil = resource.spacedUntil, spacedUntil > now { explanation.spacedUntil = DateTime(spacedUntil) }
        if resource.isNotified { explanation.delivery = resource.isKnown(fresh) ? .current : .waiting }
        // Some documents are kept as a digest only; with an equal digest the fresh view is identical.
        let delivered = resource.delivered ?? (resource.isDigestKept && resource.isKnown(fresh) ? fresh : nil)
        if includingBodies, let delivered { explanation.body = delivered.text(of: resource.categories) }
        return explanation
    }
}

extension RenderedPresence {
    /// The document as sent to the watcher.
    fileprivate func text(of categories: [CategoryName]) -> String {
        switch self {
        case .document(let view): return String(decoding: view.bytes, as: UTF8.self)
        case .categories(let view):
            var unused = GatewayCounters()
            return String(decoding: view.document(of: categories, counters: &unused), as: UTF8.self)
        }
    }
}

extension WatchedResource {
    var knowledge: SubscriptionReport.Knowledge {
        switch source {
        case .unknown: .unknown
        case .offline: .offline
        case .categories, .pidf, .msrtc: upstream?.resource(key)?.staleAt == nil ? .known : .stale
        }
    }
}
