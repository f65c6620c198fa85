import PresenceDocuments
import SIPCore
import SIPEvents

/// Notifications of lists: one for all presentities that changed (RFC 4662 5).
extension PresenceSubscriptions {
    /// Builds the body with all presentities of the list, or with those that have due changes; nil: nothing to notify.
    func listBody(of presence: PresenceSubscription, _ watcher: WatcherDialog, isFull: Bool, at now: Instant) -> NotificationBody? {
        guard let list = presence.list else { return nil }
        var notification = ResourceListNotification(RLMIDocument(uri: list.uri, version: list.version, fullState: isFull))
        let boundary = tokens.token()
        for resource in isFull ? presence.resources : presence.dueChanges(at: now) {
            add(resource, of: presence, watcher, to: &notification, isFull: isFull, boundary: boundary, at: now)
        }
        for instanceState in presence.noteRejectedNotified(where: { isFull || !$0.isNotified }) {
            let instance = RLMIInstance(id: Self.instance, state: .init(instanceState.state), reason: instanceState.reason)
            notification.add(RLMIResource(uri: list.written(instanceState.uri), instances: [instance]), cid: "")
        }
        guard isFull || !notification.meta.resources.isEmpty else { return nil }
        presence.listNotified(spacedUntil: now + spacing(of: watcher))
        return notification.body(boundary: boundary)
    }

    /// Instance identifier; one value is enough, since each presentity has only one subscription (RFC 4662 5.5).
    private static let instance = "1"

    private func add(
        _ resource: WatchedResource, of presence: PresenceSubscription, _ watcher: WatcherDialog,
        to notification: inout ResourceListNotification, isFull: Bool, boundary: String, at now: Instant
    ) {
        presence.changes.remove(resource)
        guard isFull || presence.resources.contains(where: { $0 === resource }), let list = presence.list else { return }
        var entry = RLMIResource(uri: list.written(resource.uri))
        guard !resource.isPending else {
            entry.instances = [RLMIInstance(id: Self.instance, state: .pending)]
            resource.notePendingNotified()
            notification.add(entry, cid: "")
            return
        }
        guard resource.source.isKnown else {
            // A full list has an entry without instances (RFC 4662 5.5); a partial list leaves the unchanged resource out.
            if isFull { notification.add(entry, cid: "") }
            return
        }
        let rendered = rendered(resource, for: watcher, at: now)
        guard case .document(let view) = rendered, isFull || !resource.isKnown(rendered) else { return }
        var previous: DocumentView?
        if !isFull, case .document(let delivered)? = resource.delivered { previous = delivered }
        deliver(rendered, of: resource, in: presence, to: watcher, at: now)
        guard !view.bytes.isEmpty else {
            // A filter leaves nothing of it.
            entry.instances = [RLMIInstance(id: Self.instance, state: .active)]
            return notification.add(entry, cid: "")
        }
        var bytes = view.bytes
        if presence.isPartial { bytes = view.partial(after: previous, version: resource.nextPartialVersion()) }
        var part = MIMEPart(body: bytes)
        part.headers.append("Content-Transfer-Encoding", "binary")
        part.headers.append(.contentType, presence.contentType)
        entry.instances = [RLMIInstance(id: Self.instance, state: .active)]
        notification.add(
            entry, cid: "\(notification.meta.resources.count + 1).\(boundary)@\(configuration.nodeName)", content: .document(part))
    }

    /// Applies a grant or a pending state from the remote domain to one resource of a list or batch (RFC 4662 5.5, MS-PRES 3.4.5.1.3.1).
    func authorizationChanged(isPending: Bool, of resource: WatchedResource, in watcher: WatcherDialog, at now: Instant) {
        guard resource.isPending != isPending, let presence = watcher.presence, notifier.dialogs.contains(watcher) else { return }
        resource.authorize(isPending: isPending)
        // In a batch, the RLMI instance carries the pending state, and the next presence state ends it.
        if presence.list != nil || !isPending && resource.source.isKnown { presence.changes.add(resource) }
        if watcher.held != nil {
            if presence.isReady { notifier.answerHeld(watcher, at: now) }
            return
        }
        guard presence.isReady || !watcher.notifier.isFetching && !watcher.notifier.isHeld else { return }
        notifier.notifyChanges(of: watcher, at: now)
    }
}
