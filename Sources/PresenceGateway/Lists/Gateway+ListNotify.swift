import PresenceDocuments
import SIPCore
import SIPEvents

/// What the watcher of a list is told: one notification about all presentities that changed (RFC 4662 5).
extension Gateway {
    /// The list with all its presentities, or with those that changed and may be told now. nil: there is nothing to tell.
    func listBody(of watcher: WatcherDialog, isFull: Bool, at now: Instant) -> NotificationBody? {
        guard let list = watcher.list else { return nil }
        var notification = ResourceListNotification(RLMIDocument(uri: list.uri, version: list.version, fullState: isFull))
        let boundary = tokens.token()
        for resource in isFull ? watcher.resources : watcher.dueChanges(at: now) {
            add(resource, of: watcher, to: &notification, isFull: isFull, boundary: boundary, at: now)
        }
        for index in watcher.rejected.indices where isFull || !watcher.rejected[index].isTold {
            let verdict = watcher.rejected[index]
            watcher.rejected[index].isTold = true
            let instance = RLMIInstance(id: Self.instance, state: .init(verdict.state), reason: verdict.reason)
            notification.add(RLMIResource(uri: list.written(verdict.uri), instances: [instance]), cid: "")
        }
        guard isFull || !notification.meta.resources.isEmpty else { return nil }
        watcher.list?.version = list.version &+ 1
        watcher.list?.spacedUntil = now + configuration.timing.notifySpacing
        return notification.body(boundary: boundary)
    }

    /// No presentity is subscribed to more than once, so that one name does for its instance (RFC 4662 5.5).
    private static let instance = "1"

    private func add(
        _ resource: WatchedResource, of watcher: WatcherDialog, to notification: inout ResourceListNotification, isFull: Bool,
        boundary: String, at now: Instant
    ) {
        watcher.changes.remove(resource)
        guard isFull || watcher.resources.contains(where: { $0 === resource }), let list = watcher.list else { return }
        var entry = RLMIResource(uri: list.written(resource.uri))
        guard !resource.isPending else {
            entry.instances = [RLMIInstance(id: Self.instance, state: .pending)]
            resource.tellPending()
            notification.add(entry, cid: "")
            return
        }
        guard resource.source.isKnown else {
            // Listed, and nothing is known yet (RFC 4662 5.5); an unchanged entry of a partial list is none.
            if isFull { notification.add(entry, cid: "") }
            return
        }
        let rendered = rendered(resource, for: watcher, at: now)
        guard case .document(let view) = rendered, isFull || !resource.isKnown(rendered) else { return }
        var previous: DocumentView?
        if !isFull, case .document(let delivered)? = resource.delivered { previous = delivered }
        deliver(rendered, of: resource, to: watcher, at: now)
        var bytes = view.bytes
        if watcher.isPartial {
            resource.partialVersion &+= 1
            bytes = view.partial(after: previous, version: resource.partialVersion)
        }
        var part = MIMEPart(body: bytes)
        part.headers.append("Content-Transfer-Encoding", "binary")
        part.headers.append(.contentType, watcher.contentType)
        entry.instances = [RLMIInstance(id: Self.instance, state: .active)]
        notification.add(
            entry, cid: "\(notification.meta.resources.count + 1).\(boundary)@\(configuration.nodeName)", content: .document(part))
    }

    /// The far side grants a presentity of a list, or a batch, or makes it wait (RFC 4662 5.5, MS-PRES 3.4.5.1.3.1).
    func standingChanged(isPending: Bool, of resource: WatchedResource, in watcher: WatcherDialog, at now: Instant) {
        guard resource.isPending != isPending, dialogs[watcher.localTag] === watcher else { return }
        resource.isPending = isPending
        // In a batch the verdict says so, and is over with the next state.
        if watcher.list != nil || !isPending && resource.source.isKnown { watcher.changes.add(resource) }
        if watcher.held != nil {
            if watcher.isReady { answerHeld(watcher, at: now) }
            return
        }
        guard watcher.isReady || !watcher.notifier.isFetching && !watcher.notifier.isHeld else { return }
        tellChanges(of: watcher, at: now)
    }
}
