import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// Responses and notifications in all dialogs in which the gateway is notifier.
extension SubscriptionsFlow {
    /// - Parameter isRevocable: whether the dialog ends only with the commit of the request.
    func perform(
        _ actions: [Notifier.Action], on watcher: WatcherDialog, answering subscribe: (SIPRequest, ServerTransactionID?)? = nil,
        naming named: [String]? = nil, isRevocable: Bool = false, at now: Instant
    ) {
        for action in actions {
            switch action {
            case .accept(let expires, let status, let content):
                guard let (request, transaction) = subscribe else { continue }
                accept(request, transaction, watcher, expires: expires, status, content, naming: named, at: now)
            case .acceptQuietly(let expires):
                guard let (request, transaction) = subscribe else { continue }
                acceptQuietly(request, transaction, watcher, expires: expires, at: now)
            case .refuse(let minimum):
                guard let (request, transaction) = subscribe else { continue }
                ports.refuse(request, transaction, .tooBrief(minimum), at: now)
            case .notify(let status, let content):
                notify(watcher, status, content, at: now)
            case .end(let reason):
                guard isRevocable, store != nil else {
                    ended(watcher, reason, at: now)
                    continue
                }
                keep(watcher)
                whenKept(at: now) { [unowned self] now in ended(watcher, reason, at: now) }
            }
        }
        schedule(watcher)
    }

    private func ended(_ watcher: WatcherDialog, _ reason: Notifier.EndReason, at now: Instant) {
        log(
            .debug, watcher.presence == nil ? "home subscription ended" : "subscription ended",
            ["call-id": watcher.dialog.id.callID, "reason": String(describing: reason)])
        note(reason, of: watcher, at: now)
        remove(watcher, at: now)
    }

    // MARK: 200

    private func accept(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ watcher: WatcherDialog, expires: Int, _ status: SubscriptionStatus,
        _ content: Notifier.Content, naming named: [String]?, at now: Instant
    ) {
        let isPiggyback = watcher.isPiggyback(request, isPoll: expires == 0) && watcher.notifier.allowsPiggyback(of: status)
        var response = watcher.acceptance(
            of: request, contact: contact(over: watcher.flow), expires: expires, status,
            piggybacking: isPiggyback ? watcher.nextNumber() : nil)
        if isPiggyback {
            noteNumber(of: watcher)
            keep(watcher)
        }
        if content != .none {
            watcher.notified(status, content, inAnswer: true, at: now)
            if watcher.record.storage == .none {
                watcher.notifiedInAnswer(status, content, at: now)
            } else {
                whenKept(at: now) { watcher.notifiedInAnswer(status, content, at: $0) }
            }
        }
        if content != .none, let body = watcher.subscription.body(of: watcher, naming: named, isFull: true, at: now) {
            response.headers.set(.contentType, body.contentType)
            response.body = body.bytes
        }
        respond(response, transaction, in: commitScope(of: watcher), at: now)
    }

    /// Answers 204: the watcher wants no notification (RFC 5839 6.4).
    private func acceptQuietly(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ watcher: WatcherDialog, expires: Int, at now: Instant
    ) {
        _ = watcher.wishes?.takeCondition()
        var response = SIPResponse(to: request, status: .noNotification, toTag: watcher.localTag)
        response.headers.set(.contact, contact(over: watcher.flow))
        response.headers.append(.expires, String(expires))
        respond(response, transaction, in: commitScope(of: watcher), at: now)
    }

    // MARK: NOTIFY

    private func notify(_ watcher: WatcherDialog, _ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant) {
        var body: NotificationBody?
        if content != .none {
            body = watcher.subscription.body(of: watcher, naming: nil, isFull: content == .full, at: now)
            if body == nil, content == .changes, watcher.wasNotifiedActive {
                // The watcher has this state already.
                noteSuppressed(watcher)
                watcher.subscription.skipChanges(at: now)
                watcher.notifier.notificationSkipped()
                return
            }
        } else {
            // The full state that follows a notification without a body includes these changes.
            watcher.subscription.dropChanges()
        }
        let tag = content == .none ? nil : watcher.entityTag
        if watcher.leavesOutBody(of: content, tagged: tag) { body = nil }
        watcher.notified(status, content, inAnswer: false, at: now)
        let isBestEffort = watcher.notifier.configuration.bestEffort
        var request = watcher.makeRequest(isBestEffort ? .benotify : .notify)
        let route = route(of: watcher, toward: request.requestURI)
        if route.assertsIdentity, let identity = watcher.subscription.assertedIdentity {
            assertIdentity(for: identity, on: &request, toward: configuration.domain(of: watcher.watcher), isPrivate: false)
        }
        if route.mayBeGRUU { resolveGRUU(&request, of: watcher.watcherKey) }
        let requestRoute: RequestRoute
        if let redirect = watcher.delivery.redirect {
            request.requestURI = redirect.requestURI
            requestRoute = redirect.requestRoute ?? route.requestRoute
            request.headers.set(.contact, contact(by: requestRoute))
        } else {
            requestRoute = route.requestRoute
            request.headers.append(.contact, route.contact)
        }
        request.headers.append(.event, watcher.event.description)
        if let diagnostic = watcher.history.terminationDiagnostic {
            request.headers.append(.subscriptionState, "terminated;expires=0")
            let diagnostics = MSDiagnostics(
                UInt32(clamping: diagnostic.id), reason: diagnostic.reason, source: configuration.nodeName)
            request.headers.append("ms-diagnostics-public", diagnostics.description)
        } else {
            request.headers.append(.subscriptionState, status.headerValue + (watcher.wishes?.rates?.parameters ?? ""))
        }
        if let tag {
            request.headers.append(.sipETag, tag)
        }
        // Enterprise clients read Expires (MS-PRES 3.3.5.1, 3.4.5.1.3).
        if status.isTerminated, watcher.terms.side == .enterprise { request.headers.append(.expires, "0") }
        if watcher.subscription.requiresEventList { request.headers.append(.require, "eventlist") }
        // Without octets if a filter leaves nothing (RFC 4660 5.3.1).
        if let body, !body.bytes.isEmpty {
            request.headers.append(.contentType, body.contentType)
            request.body = body.bytes
        }
        noteNotified(watcher, at: now)
        let scope = commitScope(of: watcher)
        if isBestEffort {
            sendWithoutAnswer(request, by: requestRoute, for: origin(of: watcher), in: scope, at: now)
        } else {
            send(request, by: requestRoute, for: origin(of: watcher), in: scope, at: now)
        }
        if content == .changes { notifyChanges(of: watcher, at: now) }
    }

    // MARK: changes

    /// Sends the changes that are due; each notification of a batch covers one publisher (MS-PRES 2.2.2.4.3).
    func notifyChanges(of watcher: WatcherDialog, at now: Instant) {
        guard dialogs.contains(watcher), !watcher.isAway, !watcher.notifier.isNotifying else { return }
        guard watcher.subscription.hasDueChange(at: now) else { return schedule(watcher) }
        perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
    }

    /// Handles new state of a package without a queue of changes: notifies, unless the watcher is away.
    func stateChanged(of watcher: WatcherDialog, at now: Instant) {
        guard dialogs.contains(watcher), !watcher.isAway else { return }
        perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
    }

    /// Replaces a GRUU in the Request-URI by the Contact that its endpoint registered (MS-SIPRE 2.2.3).
    func resolveGRUU(_ request: inout SIPRequest, of user: String) {
        // A GRUU has the parameter gr or gruu.
        guard let endpoint = EndpointID(gruu: request.uri),
            let binding = ports.binding(of: user, endpoint: endpoint)
        else { return }
        request.uri = binding.contact.uri
    }

    /// Counts a change without a notification of its own: the watcher has that state, or newer state replaced it while it waited.
    func noteSuppressed(_ watcher: WatcherDialog) {
        counters.notificationsSuppressed += 1
        watcher.suppressed()
    }
}
