import PresenceDocuments
import SIPCore
import SIPEvents

/// Stored records of upstream subscriptions.
extension UpstreamFlow {
    /// Record of an upstream subscription; nil: a restart could not continue it.
    func stored(_ upstream: UpstreamSubscription) -> StoredUpstreamSubscription? {
        let subscriber = upstream.subscriber
        guard !subscriber.isFetch, !subscriber.isOver, upstream.shape != .list else { return nil }
        let dialog = subscriber.isListening ? upstream.dialog : nil
        guard dialog != nil || (subscriber.restsUntil != nil && upstream.hasSink) else { return nil }
        return StoredUpstreamSubscription(
            tag: upstream.localTag, owner: upstream.sinks.first?.watcher.owner ?? upstream.resources.first?.key ?? upstream.watcher.aorKey,
            watcher: upstream.watcher.description, domain: upstream.domain.name, dialog: dialog?.snapshot,
            hasNotified: upstream.attempt.hasNotified, expiry: dialog == nil ? nil : subscriber.lapsesAt,
            restsUntil: dialog == nil ? subscriber.restsUntil : nil, failures: subscriber.failures,
            expires: subscriber.configuration.expires, target: upstream.target.description, shape: upstream.shape.rawValue,
            format: upstream.format.rawValue, maxForwards: upstream.maxForwards, hopMarks: upstream.hopMarks,
            resources: upstream.resources.map { resource in
                StoredUpstreamSubscription.Resource(
                    uri: resource.uri.description, categories: (resource.asked ?? resource.categories).map(\.rawValue),
                    sinks: resource.sinks.map(\.watcher.localTag))
            })
    }

    /// Marks the stored record of an upstream subscription as changed.
    func keep(_ upstream: UpstreamSubscription) {
        if store != nil, !upstream.localTag.isEmpty { keep(.upstreamSubscription(upstream.localTag)) }
    }

    /// Records that a SUBSCRIBE depends on: the watcher, the subscription itself, and the dialogs that it feeds; nil: there is no store.
    func commitScope(of upstream: UpstreamSubscription) -> CommitScope? {
        guard store != nil else { return nil }
        let dialogs = kernel.dependency(on: upstream.resources.lazy.flatMap { $0.sinks.lazy.map(\.watcher.localTag) })
        return CommitScope(upstream.watcher.aorKey, "", ofDialog: upstream.localTag, others: dialogs)
    }
}
