import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Responses and notifications to watchers, and their bodies.
extension Gateway {
    /// - Parameter isRevocable: Whether a failed commit undoes the end of the dialog (``remember(_:undoing:)``).
    func perform(
        _ actions: [Notifier.Action], on watcher: WatcherDialog, answering subscribe: (SIPRequest, ServerTransactionID?)? = nil,
        naming named: [String]? = nil, isRevocable: Bool = false, at now: Instant
    ) {
        for action in actions {
            switch action {
            case .accept(let expires, let status, let content):
                guard let (request, transaction) = subscribe else { continue }
                accept(request, transaction, watcher, expires: expires, status, content, naming: named, at: now)
            case .refuse(let minimum):
                guard let (request, transaction) = subscribe else { continue }
                refuse(request, transaction, .tooBrief(minimum), at: now)
            case .notify(let status, let content):
                notify(watcher, status, content, at: now)
            case .end(let reason):
                guard isRevocable, store != nil else {
                    ended(watcher, reason, at: now)
                    continue
                }
                keep(.dialog(watcher.localTag))
                whenKept(at: now) { [unowned self] now in ended(watcher, reason, at: now) }
            }
        }
        if dialogs[watcher.localTag] === watcher { schedule(watcher) }
    }

    private func ended(_ watcher: WatcherDialog, _ reason: Notifier.EndReason, at now: Instant) {
        log(.debug, "subscription ended", ["call-id": watcher.dialog.id.callID, "reason": String(describing: reason)])
        note(reason, of: watcher, at: now)
        remove(watcher, at: now)
    }

    // MARK: 200

    private func accept(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ watcher: WatcherDialog, expires: Int, _ status: SubscriptionStatus,
        _ content: Notifier.Content, naming named: [String]?, at now: Instant
    ) {
        let isPiggyback = isPiggyback(request, of: watcher, isPoll: expires == 0) && isPiggybacked(status, by: watcher.notifier)
        var response = acceptance(
            of: request, tag: watcher.localTag, over: watcher.flow, expires: expires, status, by: watcher.notifier,
            isList: watcher.isEventList, piggybacking: isPiggyback ? (watcher.event, watcher.dialog.nextNumber()) : nil)
        if isPiggyback { keep(.dialog(watcher.localTag)) }
        if content != .none {
            if case .active = status { watcher.wasNotifiedActive = true }
            noteStaged(watcher)
            watcher.lastNotification.sent(status, content, inAnswer: true, at: now)
        }
        if content != .none, let body = body(of: watcher, naming: named, isFull: true, at: now) {
            response.headers.set(.contentType, body.contentType)
            response.body = body.bytes
        }
        respond(response, transaction, at: now)
    }

    /// Whether a 200 may replace a NOTIFY: not while one awaits its response, unless the 200 ends the subscription.
    func isPiggybacked(_ status: SubscriptionStatus, by notifier: Notifier) -> Bool { status.isTerminated || !notifier.isAwaitingAnswer }

    /// The 200 to a SUBSCRIBE without its body (RFC 6665 4.2.1, MS-SIP 3.4.5.1).
    /// - Parameters:
    ///   - isList: whether its notifications require `eventlist` (RFC 4662 4.1).
    ///   - notify: set if the 200 replaces a NOTIFY: Event and CSeq number of that NOTIFY.
    func acceptance(
        of request: SIPRequest, tag: String, over flow: Flow, expires: Int, _ status: SubscriptionStatus, by notifier: Notifier,
        isList: Bool, piggybacking notify: (event: Event, cSeq: UInt32)?
    ) -> SIPResponse {
        var response = SIPResponse(to: request, status: .ok, toTag: tag)
        response.headers.set(.contact, contact(over: flow))
        response.headers.append(.expires, String(expires))
        if isList { response.headers.append(.require, "eventlist") }
        if notifier.configuration.bestEffort { response.headers.append(.supported, "ms-benotify") }
        guard let notify else { return response }
        response.headers.append(.supported, "ms-piggyback-first-notify")
        response.headers.append(.event, notify.event.description)
        response.headers.append("subscription-state", status.isTerminated ? "terminated;expires=0" : status.headerValue)
        response.headers.msPiggybackCSeq = notify.cSeq
        return response
    }

    // MARK: NOTIFY

    private func notify(_ watcher: WatcherDialog, _ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant) {
        var body: NotificationBody?
        if content != .none {
            body = self.body(of: watcher, naming: nil, isFull: content == .full, at: now)
            if body == nil, content == .changes, watcher.wasNotifiedActive {
                // The watcher has this state already.
                noteSuppressed(watcher)
                watcher.dueChanges(at: now).forEach { watcher.changes.remove($0) }
                watcher.notifier.notificationSkipped()
                return
            }
        }
        if case .active = status { watcher.wasNotifiedActive = true } else { watcher.wasNotifiedActive = false }
        // The full state that follows a notification without a body includes these changes.
        if content == .none { watcher.changes.removeAll() }
        noteStaged(watcher)
        watcher.lastNotification.sent(status, content, inAnswer: false, at: now)
        let isBestEffort = watcher.notifier.configuration.bestEffort
        var request = watcher.dialog.makeRequest(isBestEffort ? .benotify : .notify)
        let requestRoute = watcher.redirect?.requestRoute ?? self.requestRoute(of: watcher)
        if !watcher.namesResources, let only = watcher.resources.first {
            assertIdentity(for: only.uri, on: &request, toward: configuration.domain(of: watcher.watcher))
        }
        resolveGRUU(&request, of: watcher.watcherKey)
        if let redirect = watcher.redirect { request.requestURI = redirect.requestURI }
        request.headers.set(.contact, contact(by: requestRoute))
        request.headers.append(.event, watcher.event.description)
        request.headers.append(.subscriptionState, status.headerValue)
        // Enterprise clients read Expires (MS-PRES 3.4.5.1.3).
        if status.isTerminated, watcher.side == .enterprise { request.headers.append(.expires, "0") }
        if watcher.isEventList { request.headers.append(.require, "eventlist") }
        if let body {
            request.headers.append(.contentType, body.contentType)
            request.body = body.bytes
        }
        keep(.dialog(watcher.localTag))
        if isBestEffort {
            sendWithoutAnswer(request, by: requestRoute, for: flows.subscriptions.origin(of: watcher), at: now)
        } else {
            send(request, by: requestRoute, for: flows.subscriptions.origin(of: watcher), at: now)
        }
        if content == .changes { notifyChanges(of: watcher, at: now) }
    }

    // MARK: bodies

    /// Body of the next notification, which counts as delivered; nil: no new state.
    /// - Parameter named: resources to include; nil: all.
    private func body(
        of watcher: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody? {
        if watcher.list != nil { return listBody(of: watcher, isFull: isFull, at: now) }
        guard watcher.format == .categories else {
            guard let resource = watcher.resources.first else { return nil }
            guard resource.source.isKnown || !resource.isRestored else {
                // No state is known since the restart; it is sent when it arrives.
                watcher.changes.remove(resource)
                return nil
            }
            let rendered = rendered(resource, for: watcher, at: now)
            guard case .document(let view) = rendered, isFull || !resource.isKnown(rendered) else {
                watcher.changes.remove(resource)
                return nil
            }
            var previous: DocumentView?
            if !isFull, case .document(let delivered)? = resource.delivered { previous = delivered }
            deliver(rendered, of: resource, to: watcher, at: now)
            guard watcher.isPartial else { return NotificationBody(contentType: watcher.contentType, bytes: view.bytes) }
            resource.partialVersion &+= 1
            return NotificationBody(
                contentType: watcher.contentType, bytes: view.partial(after: previous, version: resource.partialVersion))
        }
        return isFull ? wholeBody(of: watcher, naming: named, at: now) : changedBody(of: watcher, at: now)
    }

    /// Body with the list and one part for each active resource (MS-PRES 2.2.2.4.2).
    private func wholeBody(of watcher: WatcherDialog, naming named: [String]?, at now: Instant) -> NotificationBody {
        var parts: [[UInt8]] = []
        for resource in watcher.resources where named?.contains(resource.key) ?? true {
            // No state is known since the restart.
            if !resource.source.isKnown && resource.isRestored { continue }
            // The list reports it as pending; parts are for active resources (MS-PRES 2.2.2.4.2).
            if resource.isPending { continue }
            let rendered = rendered(resource, for: watcher, at: now)
            guard case .categories(let view) = rendered else { continue }
            deliver(rendered, of: resource, to: watcher, at: now)
            parts.append(view.document(of: resource.categories, counters: &counters))
        }
        return list(parts, of: watcher) { key, _ in named?.contains(key) ?? true }
    }

    /// Body with the changes of one publisher (MS-PRES 2.2.2.4.3), or a list of new instance states; further changes follow separately.
    private func changedBody(of watcher: WatcherDialog, at now: Instant) -> NotificationBody? {
        if watcher.hasPendingInstanceStates { return list([], of: watcher) { _, isNotified in !isNotified } }
        for resource in watcher.dueChanges(at: now) {
            guard resource.source.isKnown, !resource.isPending, watcher.resources.contains(where: { $0 === resource }) else {
                watcher.changes.remove(resource)
                continue
            }
            let rendered = rendered(resource, for: watcher, at: now)
            let names = resource.changedCategories(in: rendered)
            guard case .categories(let view) = rendered, !names.isEmpty else {
                watcher.changes.remove(resource)
                continue
            }
            deliver(rendered, of: resource, to: watcher, at: now)
            return .single(view.document(of: names, counters: &counters))
        }
        return nil
    }

    /// Records what the watcher has, and delays the next change of the presentity by the spacing (RFC 3856 6.10).
    func deliver(_ rendered: RenderedPresence, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        if resource.upstream != nil, !watcher.isPartial, case .document(let view) = rendered {
            // Keep the digest only: the document is not shared, can be made again, and takes most of the subscription's memory.
            resource.deliver(digest: view.digest)
            resource.rendered = nil
        } else {
            resource.delivered = rendered
        }
        if resource.upstream == nil, resource.isRenderedOwn { noteShown(rendered, of: resource, to: watcher, at: now) }
        // The first known state is not delayed because an empty one was sent.
        resource.spacedUntil = resource.source.isKnown ? now + configuration.timing.notifySpacing : nil
        watcher.changes.remove(resource)
    }

    private func list(
        _ parts: [[UInt8]], of watcher: WatcherDialog, naming isNamed: (_ key: String, _ isNotified: Bool) -> Bool
    ) -> NotificationBody {
        let listed = watcher.instanceStates.filter { isNamed($0.uri.aorKey, $0.isNotified) }
        for index in watcher.rejected.indices where isNamed(watcher.rejected[index].uri.aorKey, watcher.rejected[index].isNotified) {
            watcher.rejected[index].isNotified = true
        }
        for resource in watcher.resources where resource.isPending && isNamed(resource.key, resource.isPendingNotified) {
            resource.notePendingNotified()
        }
        return .list(watcher: watcher.watcher, rejected: listed, parts: parts, boundary: tokens.token())
    }

    /// Sends the changes that are due; each notification of a batch covers one publisher (MS-PRES 2.2.2.4.3).
    func notifyChanges(of watcher: WatcherDialog, at now: Instant) {
        guard dialogs[watcher.localTag] === watcher, !watcher.isAway, !watcher.notifier.isNotifying else { return }
        guard watcher.hasDueChange(at: now) || watcher.hasPendingInstanceStates else { return schedule(watcher) }
        perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
    }

    /// The resource in the watcher's format; rendered once per state.
    func rendered(_ resource: WatchedResource, for watcher: WatcherDialog, at now: Instant) -> RenderedPresence {
        if !published.isEmpty, resource.upstream == nil, let presentity = presentities[resource.hostedKey] { composePublished(presentity) }
        if let rendered = resource.rendered { return rendered }
        let made: RenderedPresence
        if let presentity = presentities[resource.hostedKey], resource.upstream == nil {
            (made, resource.isRenderedOwn) = presentity.rendered(resource, for: watcher, by: translator, counters: &counters, at: now)
        } else {
            made = translator.render(
                resource.source, as: watcher.format, entity: resource.entity, requested: resource.categories, counters: &counters, at: now)
        }
        resource.rendered = made
        return made
    }

    /// Counts a change without a notification of its own: the watcher has that state, or newer state replaced it while it waited.
    private func noteSuppressed(_ watcher: WatcherDialog) {
        counters.notificationsSuppressed += 1
        watcher.lastNotification.suppressedChange()
    }

    /// Handles new state of a resource: notifies the watcher unless it has that state.
    func sourceChanged(_ resource: WatchedResource, of watcher: WatcherDialog, at now: Instant) {
        guard dialogs[watcher.localTag] === watcher else { return }
        resource.rendered = nil
        if watcher.isAway { return }
        if watcher.held != nil {
            if watcher.isReady { answerHeld(watcher, at: now) }
            return
        }
        guard resource.source.isKnown, !watcher.notifier.isFetching || watcher.isReady else { return }
        // A grant by the remote domain sends the state: ``authorizationChanged(isPending:of:in:at:)``.
        if resource.isPending { return }
        // The first notification of a list waits until all entries are known, at most for the grace period.
        if watcher.list != nil, watcher.notifier.isHeld, !watcher.isReady { return }
        // A restored list waits too: an entry without an instance would withdraw the state that the watcher has (RFC 4662 5.5).
        if watcher.list != nil, resource.isRestored {
            guard watcher.isReady else { return }
            for other in watcher.resources where other.isRestored {
                other.isRestored = false
                if !other.isPending { watcher.changes.add(other) }
            }
        }
        if resource.isNotified, watcher.wasNotifiedActive, resource.isKnown(rendered(resource, for: watcher, at: now)) {
            watcher.notifier.becameReady()
            // The new state cancels the waiting change: neither is sent.
            if resource.isWaiting { noteSuppressed(watcher) }
            noteSuppressed(watcher)
            watcher.changes.remove(resource)
            return schedule(watcher)
        }
        if resource.isWaiting { noteSuppressed(watcher) }
        watcher.changes.add(resource)
        if watcher.notifier.isNotifying { return }
        notifyChanges(of: watcher, at: now)
    }
}
