import PresenceDocuments
import FederationRouting
import SIPCore
import SIPEvents

/// Bodies of notifications of presence, and new state of watched presentities.
extension PresenceSubscriptions {
    // MARK: bodies

    /// Body of the next notification, which counts as delivered; nil: no new state.
    /// - Parameter named: resources to include; nil: all.
    func presenceBody(
        of presence: PresenceSubscription, _ watcher: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        if presence.list != nil { return listBody(of: presence, watcher, isFull: isFull, at: now) }
        // A fetch that waits for the presentity gets no later NOTIFY; it shows nothing.
        if presence.isAwaitingConfirmation { return nil }
        guard presence.format == .categories else {
            guard let resource = presence.resources.first else { return nil }
            guard resource.source.isKnown || !resource.isRestored else {
                // No state is known since the restart; it is sent when it arrives.
                presence.changes.remove(resource)
                return nil
            }
            let rendered = rendered(resource, for: watcher, at: now)
            guard case .document(let view) = rendered, isFull || !resource.isKnown(rendered) else {
                presence.changes.remove(resource)
                return nil
            }
            var previous: DocumentView?
            if !isFull, case .document(let delivered)? = resource.delivered { previous = delivered }
            deliver(rendered, of: resource, in: presence, to: watcher, at: now)
            guard presence.isPartial else { return NotificationBody(contentType: presence.contentType, bytes: view.bytes) }
            return NotificationBody(
                contentType: presence.contentType, bytes: view.partial(after: previous, version: resource.nextPartialVersion()))
        }
        return isFull ? wholeBody(of: presence, watcher, naming: named, at: now) : changedBody(of: presence, watcher, at: now)
    }

    /// Body with the list and one part for each active resource (MS-PRES 2.2.2.4.2).
    private func wholeBody(
        of presence: PresenceSubscription, _ watcher: WatcherDialog, naming named: [String]?, at now: Instant
    ) -> NotificationBody {
        var parts: [[UInt8]] = []
        for resource in presence.resources where named?.contains(resource.key) ?? true {
            // No state is known since the restart.
            if !resource.source.isKnown && resource.isRestored { continue }
            // The list reports it as pending; parts are for active resources (MS-PRES 2.2.2.4.2).
            if resource.isPending { continue }
            let rendered = rendered(resource, for: watcher, at: now)
            guard case .categories(let view) = rendered else { continue }
            deliver(rendered, of: resource, in: presence, to: watcher, at: now)
            parts.append(view.document(of: resource.categories, counters: &counters))
        }
        return list(parts, of: presence, watcher) { key, _ in named?.contains(key) ?? true }
    }

    /// Body with the changes of one publisher (MS-PRES 2.2.2.4.3), or a list of new instance states; further changes follow separately.
    private func changedBody(of presence: PresenceSubscription, _ watcher: WatcherDialog, at now: Instant) -> NotificationBody? {
        if presence.hasPendingInstanceStates { return list([], of: presence, watcher) { _, isNotified in !isNotified } }
        for resource in presence.dueChanges(at: now) {
            guard resource.source.isKnown, !resource.isPending, presence.resources.contains(where: { $0 === resource }) else {
                presence.changes.remove(resource)
                continue
            }
            let rendered = rendered(resource, for: watcher, at: now)
            let names = resource.changedCategories(in: rendered)
            guard case .categories(let view) = rendered, !names.isEmpty else {
                presence.changes.remove(resource)
                continue
            }
            deliver(rendered, of: resource, in: presence, to: watcher, at: now)
            return .single(view.document(of: names, counters: &counters))
        }
        return nil
    }

    /// Records what the watcher has, and delays the next change of the presentity by the spacing (RFC 3856 6.10).
    func deliver(
        _ rendered: RenderedPresence, of resource: WatchedResource, in presence: PresenceSubscription, to watcher: WatcherDialog,
        at now: Instant
    ) {
        if resource.upstream != nil, !presence.isPartial, case .document(let view) = rendered {
            // Keep the digest only: the document is not shared, can be made again, and takes most of the subscription's memory.
            resource.deliver(digest: view.digest)
        } else {
            resource.deliver(rendered)
        }
        presence.filters?.noteNotified(resource)
        if resource.upstream == nil, resource.isRenderedOwn {
            hosted.noteShown(presence.filters?.whole(of: resource) ?? rendered, of: resource, to: watcher, at: now)
        }
        // The first known state is not delayed because an empty one was sent.
        resource.space(until: resource.source.isKnown ? now + spacing(of: watcher) : nil)
        presence.changes.remove(resource)
    }

    /// Span between notifications of changes: the node's, or a longer one that the watcher asked for (RFC 6446 5).
    func spacing(of watcher: WatcherDialog) -> TimeSpan { watcher.wishes?.rates?.least ?? configuration.timing.notifySpacing }

    private func list(
        _ parts: [[UInt8]], of presence: PresenceSubscription, _ watcher: WatcherDialog,
        naming isNamed: (_ key: String, _ isNotified: Bool) -> Bool
    ) -> NotificationBody {
        let listed = presence.instanceStates.filter { isNamed($0.uri.aorKey, $0.isNotified) }
        presence.noteRejectedNotified { isNamed($0.uri.aorKey, $0.isNotified) }
        for resource in presence.resources where resource.isPending && isNamed(resource.key, resource.isPendingNotified) {
            resource.notePendingNotified()
        }
        return .list(watcher: watcher.watcher, rejected: listed, parts: parts, boundary: tokens.token())
    }

    // MARK: new state

    /// The resource in the watcher's format; rendered once per state.
    func rendered(_ resource: WatchedResource, for watcher: WatcherDialog, at now: Instant) -> RenderedPresence {
        if resource.upstream == nil { hosted.composePublished(at: resource.hostedKey) }
        if let rendered = resource.rendered { return rendered }
        let presence = watcher.presence
        func shown(_ made: RenderedPresence) -> RenderedPresence {
            presence?.filters.map { $0.shown(made, of: resource, in: presence?.list) } ?? made
        }
        if resource.upstream == nil, let made = hosted.view(of: resource, for: watcher, at: now) {
            let result = shown(made.presence)
            resource.keep(result, isOwn: made.isOwn)
            return result
        }
        let made = shown(
            translator.render(
                resource.source, as: watcher.format, entity: resource.entity, requested: resource.categories, counters: &counters, at: now))
        resource.keep(made)
        return made
    }

    /// Handles new state of a resource: notifies the watcher unless it has that state.
    func sourceChanged(_ resource: WatchedResource, of watcher: WatcherDialog, at now: Instant) {
        guard let presence = watcher.presence, notifier.dialogs.contains(watcher) else { return }
        resource.dropRendered()
        if watcher.isAway { return }
        if watcher.held != nil {
            if presence.isReady { notifier.answerHeld(watcher, at: now) }
            return
        }
        guard resource.source.isKnown, !watcher.notifier.isFetching || presence.isReady else { return }
        // A grant by the remote domain sends the state: ``authorizationChanged(isPending:of:in:at:)``.
        if resource.isPending { return }
        // The first notification of a list waits until all entries are known, at most for the grace period.
        if presence.list != nil, watcher.notifier.isHeld, !presence.isReady { return }
        if presence.list != nil, resource.isRestored {
            if presence.isReady {
                presence.endResume()
            } else if watcher.wasNotifiedActive {
                // Others are not known yet: a partial list names this one only (RFC 4662 5.2).
                resource.endResume()
            } else {
                // The next list is a full one, in which an entry without an instance would withdraw the state that the watcher has
                // (RFC 4662 5.5).
                return
            }
        }
        let isTriggered = isTriggered(by: resource, in: presence, of: watcher, at: now)
        if resource.isNotified, watcher.wasNotifiedActive, resource.isKnown(rendered(resource, for: watcher, at: now)) {
            watcher.notifier.becameReady()
            // The new state cancels the waiting change: neither is sent.
            if resource.isWaiting { notifier.noteSuppressed(watcher) }
            notifier.noteSuppressed(watcher)
            presence.changes.remove(resource)
            return notifier.schedule(watcher)
        }
        guard isTriggered || resource.isWaiting else {
            // A filter of the watcher leaves the change out.
            watcher.notifier.becameReady()
            notifier.noteSuppressed(watcher)
            return notifier.schedule(watcher)
        }
        if resource.isWaiting { notifier.noteSuppressed(watcher) }
        presence.changes.add(resource)
        if watcher.notifier.isNotifying { return }
        notifier.notifyChanges(of: watcher, at: now)
    }

    /// Whether new state of a resource is to be notified, by the triggers of the watcher's filters.
    private func isTriggered(
        by resource: WatchedResource, in presence: PresenceSubscription, of watcher: WatcherDialog, at now: Instant
    ) -> Bool {
        guard let filters = presence.filters else { return true }
        _ = rendered(resource, for: watcher, at: now)
        let isTriggered = filters.isTriggered(by: resource, in: presence.list)
        return isTriggered || !resource.isNotified || !watcher.wasNotifiedActive
    }
}
