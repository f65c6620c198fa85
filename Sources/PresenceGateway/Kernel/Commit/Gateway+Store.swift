import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import SimplePresence

/// Records for the store, made from the tables.
extension Gateway {
    /// Present record of a key; nil: nothing to store.
    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .presentity(let user): presentities[user].flatMap(Self.record(of:)).map(StoreRecord.presentity)
        case .shownWatcher(let presentity, let watcher): storedShownWatcher(presentity, watcher).map(StoreRecord.shownWatcher)
        case .signOff(let presentity, let number): storedSignOff(presentity, number).map(StoreRecord.signOff)
        case .publication(let user, let tag): presentities[user]?.stored(tag).map(StoreRecord.publication)
        case .dialog(let tag):
            if let subscription = home.dialogs[tag] {
                subscription.notifier.isOver ? nil : .dialog(subscription.stored)
            } else {
                dialogs[tag].flatMap { $0.held == nil && !$0.notifier.isOver ? .dialog($0.stored) : nil }
            }
        case .upstreamSubscription(let tag):
            upstreamsByTag[tag].flatMap { $0.localTag == tag ? stored($0) : nil }.map(StoreRecord.upstreamSubscription)
        case .registration(let user, let place): storedRegistration(user, place).map(StoreRecord.registration)
        case .contacts(let user): home.lists.stored(contactsOf: user).map(StoreRecord.contacts)
        case .accessList(let user): home.lists.stored(accessControlOf: user).map(StoreRecord.accessList)
        case .bridge(let user): storedBridge(user).map(StoreRecord.bridge)
        }
    }

    private static func record(of presentity: HostedPresentity) -> StoredPresentity? {
        guard presentity.hasEnhancedState else { return nil }
        return StoredPresentity(
            user: presentity.key, uri: presentity.uri.description, document: presentity.enhanced.storedDocument.encoded(),
            computed: presentity.enhanced.computedInstances.map(\.id.stored), isSimpleNewer: presentity.isSimpleNewer)
    }
}

extension HostedPresentity {
    /// A live publication as the store keeps it.
    fileprivate func stored(_ tag: String) -> StoredPublication? {
        guard let (body, standing) = documents.stored(tag) else { return nil }
        return StoredPublication(
            presentity: key, uri: uri.description, tag: tag, document: body, number: standing.number,
            arrived: Instant(standing.arrived),
            expiry: Instant(standing.until), ids: standing.ids)
    }
}

extension WatcherDialog {
    /// The dialog as the store keeps it.
    fileprivate var stored: StoredDialog {
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
