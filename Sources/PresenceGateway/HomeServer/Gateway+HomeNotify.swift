import EnhancedPresence
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// Answers and notifications to a user's own endpoints (MS-PRES 3.3.5.2, MS-SIP 3.4.5.1, 3.5).
extension Gateway {
    func perform(
        _ actions: [Notifier.Action], on subscription: HomeDialog, answering subscribe: (SIPRequest, ServerTransactionID?)? = nil,
        isRevocable: Bool = false, at now: Instant
    ) {
        for action in actions {
            switch action {
            case .accept(let expires, let status, let content):
                guard let (request, transaction) = subscribe else { continue }
                accept(request, transaction, subscription, expires: expires, status, content, at: now)
            case .refuse(let minimum):
                guard let (request, transaction) = subscribe else { continue }
                refuse(request, transaction, .tooBrief(minimum), at: now)
            case .notify(let status, let content):
                notify(subscription, status, content, at: now)
            case .end(let reason):
                guard isRevocable, store != nil else {
                    ended(subscription, reason)
                    continue
                }
                keep(.dialog(subscription.localTag))
                whenKept(at: now) { [unowned self] _ in ended(subscription, reason) }
            }
        }
        schedule(subscription)
    }

    private func ended(_ subscription: HomeDialog, _ reason: Notifier.EndReason) {
        log(.debug, "home subscription ended", ["call-id": subscription.dialog.id.callID, "reason": String(describing: reason)])
        remove(subscription)
    }

    private func accept(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ subscription: HomeDialog, expires: Int,
        _ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant
    ) {
        let isPiggyback = Self.isPiggybackOffered(request) && isPiggybacked(status, by: subscription.notifier)
        var response = acceptance(
            of: request, tag: subscription.localTag, over: subscription.flow, expires: expires, status, by: subscription.notifier,
            isList: subscription.package.requiresEventList,
            piggybacking: isPiggyback ? (subscription.event, subscription.dialog.nextNumber()) : nil)
        if isPiggyback { keep(.dialog(subscription.localTag)) }
        if content != .none, let body = homeBody(of: subscription, isFull: true, at: now) {
            response.headers.set(.contentType, subscription.package.mediaType)
            response.body = body
        }
        respond(response, transaction, at: now)
    }

    private func notify(_ subscription: HomeDialog, _ status: SubscriptionStatus, _ content: Notifier.Content, at now: Instant) {
        var body: [UInt8]?
        if content != .none {
            body = homeBody(of: subscription, isFull: content == .full, at: now)
            if body == nil {
                counters.notificationsSuppressed += 1
                subscription.notifier.notificationSkipped()
                return
            }
        }
        let isBestEffort = subscription.notifier.configuration.bestEffort
        var request = subscription.dialog.makeRequest(isBestEffort ? .benotify : .notify)
        let requestRoute = requestRoute(of: subscription.dialog, flow: subscription.flow, hop: nil, to: subscription.userURI)
        resolveGRUU(&request, of: subscription.user)
        request.headers.set(.contact, contact(by: requestRoute))
        request.headers.append(.event, subscription.event.description)
        request.headers.append(
            "subscription-state", subscription.terminationDiagnostic == nil ? status.headerValue : "terminated;expires=0")
        if subscription.package.requiresEventList { request.headers.append(.require, "eventlist") }
        if status.isTerminated { request.headers.append(.expires, "0") }
        if let terminationDiagnostic = subscription.terminationDiagnostic {
            let diagnostics = MSDiagnostics(
                UInt32(clamping: terminationDiagnostic.id), reason: terminationDiagnostic.reason, source: configuration.nodeName)
            request.headers.append("ms-diagnostics-public", diagnostics.description)
        }
        if let body {
            request.headers.append(.contentType, subscription.package.mediaType)
            request.body = body
        }
        keep(.dialog(subscription.localTag))
        if isBestEffort {
            sendWithoutAnswer(request, by: requestRoute, for: flows.homeServer.origin(of: subscription), at: now)
        } else {
            send(request, by: requestRoute, for: flows.homeServer.origin(of: subscription), at: now)
        }
    }

    /// Replaces a GRUU in the Request-URI by the Contact that its endpoint registered (MS-SIPRE 2.2.3).
    func resolveGRUU(_ request: inout SIPRequest, of user: String) {
        guard let endpoint = EndpointID(gruu: request.uri), let binding = home.registrar.binding(of: user, endpoint: endpoint) else {
            return
        }
        request.uri = binding.contact.uri
    }

    /// Builds the body and marks its changes as notified; nil: nothing in the subscription's scope changed.
    private func homeBody(of subscription: HomeDialog, isFull: Bool, at now: Instant) -> [UInt8]? {
        switch subscription.subject {
        case .roamingSelf(let scope, let pendingChanges):
            subscription.subject = .roamingSelf(scope: scope, pendingChanges: PresentityChange())
            return roamingData(of: subscription, scope: scope, after: isFull ? nil : pendingChanges, at: now)
        case .provisioning(let groups):
            return ProvisionGroupListDocument(groups: groups).encoded()
        case .contacts(let showsMode, let pendingChanges):
            subscription.subject = .contacts(showsMode: showsMode, pendingChanges: .nothing)
            return contactsBody(of: subscription.user, showsMode: showsMode, pendingChanges: pendingChanges, isFull: isFull)
        case .accessControl:
            return home.lists.accessControl(of: subscription.user).document.encoded()
        case .pendingWatchers:
            return Array("<watchers/>".utf8)
        }
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for subscription: HomeDialog, at now: Instant) {
        guard home.dialogs[subscription.localTag] === subscription else { return }
        keep(.dialog(subscription.localTag))
        if !response.status.isSuccess { counters.notificationsFailed += 1 }
        let retryAfter = response.headers.retryAfter.map { Int($0.seconds) }
        subscription.failureReason = response.status.isSuccess ? nil : "answered \(response.status.rawValue)"
        let chance = redeliveryChance(of: subscription.dialog, attempt: subscription.notifier.undelivered)
        let actions = subscription.notifier.receiveAnswer(
            status: response.status.rawValue, retryAfter: retryAfter, chance: chance, at: now)
        perform(actions, on: subscription, at: now)
    }
}
