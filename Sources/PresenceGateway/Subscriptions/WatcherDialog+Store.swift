import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

extension WatcherDialog {
    /// The dialog as the store keeps it.
    var stored: StoredDialog {
        StoredDialog(
            kind: .watcher, dialog: dialog.snapshot, owner: owner,
            event: event.description, contentType: contentType, watcher: watcher.description, isBatch: isBatch,
            isBestEffort: notifier.configuration.bestEffort, expiry: notifier.expiry, local: flow.local, remote: flow.remote,
            wasNotifiedActive: wasNotifiedActive, isUnanswered: notifier.isAwaitingAnswer || notifier.isRedelivering,
            listVersion: list?.version ?? resources.first?.partialVersion ?? 0,
            resources: resources.map { resource in
                StoredDialog.Resource(
                    uri: list?.written(resource.uri) ?? resource.entity.description, categories: resource.categories.map(\.rawValue),
                    delivered: resource.deliveredDigests, hopMarks: resource.upstream?.hopMarks)
            },
            rejected: instanceStates.map {
                StoredDialog.Rejected(
                    uri: list?.written($0.uri) ?? ($0.entity ?? $0.uri).description, state: $0.state, reason: $0.reason,
                    statusCode: $0.statusCode, poolFqdn: $0.poolFqdn, isNotified: $0.isNotified)
            },
            details: details)
    }

    private var details: [String: String] {
        var details: [String: String] = [:]
        details[StoredDialog.endpointDetail] = (endpoint ?? origin)?.endpoint.description
        details[StoredDialog.listDetail] = list?.uri
        if hidesIdentity { details[StoredDialog.privacyDetail] = "id" }
        return details
    }
}
