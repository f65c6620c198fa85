import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// Subscriptions of a user's own endpoints, outside and inside a dialog (MS-PRES 3.3.5, RFC 6665 4.2).
extension Gateway {
    func receiveHomeSubscribe(
        _ request: SIPRequest, _ package: HomePackage, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow,
        at now: Instant
    ) throws(Refusal) {
        if let tag = request.headers.toTag {
            try receiveHomeRefresh(request, tag, package, event, transaction, flow, at: now)
        } else {
            try receiveHomeInitial(request, package, event, transaction, flow, at: now)
        }
    }

    // MARK: outside a dialog

    private func receiveHomeInitial(
        _ request: SIPRequest, _ package: HomePackage, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow,
        at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        guard request.headers.contact != nil else { throw .badRequest("RFC 6665 4.2.1: a SUBSCRIBE needs a Contact") }
        guard let to = request.headers.to?.uri else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        let parties = try screening.parties(request, presentity: to)
        try checkOwner(parties)
        try checkAccept(request, package)
        let subject = try subject(of: request, package)
        try checkHomeLimits(parties)
        let tag = tokens.tag()
        guard let dialog = Dialog(accepting: request, localTag: tag) else {
            throw .badRequest("RFC 3261 12.1.1: no dialog can be made of this request")
        }
        let policy = homeNotifierConfiguration(
            bestEffort: flow.local.transport.isReliable && request.headers.offers("ms-benotify"))
        let requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        if case .tooBrief(let minimum) = policy.expiry.decide(requestedExpires) { throw .tooBrief(minimum) }
        let subscription = HomeDialog(
            localTag: tag, package: package, parties: parties, endpoint: EndpointID(of: request.headers), event: event,
            followsRegistration: request.headers.offers("com.microsoft.autoextend"), dialog: dialog,
            notifier: Notifier(policy, isReady: true), flow: flow, subject: subject)
        let former = requestedExpires == 0 ? [] : replaced(by: subscription)
        home.dialogs.insert(subscription)
        flows.homeServer.add(subscription)
        keep(.dialog(tag))
        ifNotKept { [unowned self] _ in remove(subscription) }
        let actions = subscription.notifier.receiveSubscribe(
            expires: requestedExpires, piggyback: Self.isPiggybackOffered(request), at: now)
        counters.subscriptionsAccepted += 1
        log(.debug, "home subscription accepted", ["call-id": dialog.id.callID, "user": parties.presentityKey, "event": package.rawValue])
        perform(actions, on: subscription, answering: (request, transaction), at: now)
        // One dialog per endpoint and package: the new one replaces the others (MS-PRES 3.3.5.1).
        for dialog in former {
            remember(dialog, undoing: .terminated(.rejected))
            perform(dialog.notifier.terminate(.rejected, at: now), on: dialog, isRevocable: true, at: now)
        }
    }

    /// Checks that From and To are the same user of a hosted enterprise domain (MS-PRES 3.3.5.3).
    private func checkOwner(_ parties: RequestScreening.Parties) throws(Refusal) {
        guard parties.presentityDomain.hosted, parties.presentityDomain.side == .enterprise else {
            throw Refusal(.notFound, "MS-PRES 3.3.5.3: To is no user of this server", errorID: 4005)
        }
        guard parties.watcherKey == parties.presentityKey else { throw .badRequest("MS-PRES 3.3.5.3: From and To differ") }
    }

    private func checkAccept(_ request: SIPRequest, _ package: HomePackage) throws(Refusal) {
        guard request.headers.contains(.accept), let type = MediaType(package.mediaType) else { return }
        guard request.headers.accept.contains(where: { $0.quality > 0 && $0.accepts(type) }) else { throw .notAcceptable }
    }

    private func subject(of request: SIPRequest, _ package: HomePackage) throws(Refusal) -> HomeDialog.Subject {
        switch package {
        case .roamingSelf: .roamingSelf(scope: try roamingScope(request), pendingChanges: PresentityChange())
        case .provisioning: .provisioning(groups: try provisioningGroups(request))
        case .contacts: try contactsSubject(request)
        case .accessControl: .accessControl
        case .pendingWatchers: .pendingWatchers
        }
    }

    private func checkHomeLimits(_ parties: RequestScreening.Parties) throws(Refusal) {
        let limits = configuration.limits
        guard
            home.dialogs.of(parties.presentityKey).count >= limits.subscriptionsPerWatcher
                || dialogs.count + home.dialogs.count >= limits.subscriptions
        else { return }
        counters.limitsReached += 1
        throw .unavailable("too many subscriptions", retryAfter: configuration.timing.retryAfter, errorID: 2012)
    }

    func homeNotifierConfiguration(bestEffort: Bool) -> Notifier.Configuration {
        let range = configuration.timing.enterprise
        return Notifier.Configuration(
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
            bestEffort: bestEffort, retryPause: .seconds(configuration.timing.retryAfter), patience: configuration.timing.notifyPatience)
    }

    private func replaced(by subscription: HomeDialog) -> [HomeDialog] {
        guard let endpoint = subscription.endpoint else { return [] }
        return home.dialogs.of(subscription.user).filter { $0.endpoint == endpoint && $0.package == subscription.package }
    }

    static func isPiggybackOffered(_ request: SIPRequest) -> Bool {
        request.headers.hasToken(.supported, "ms-piggyback-first-notify")
    }

    // MARK: inside a dialog

    private func receiveHomeRefresh(
        _ request: SIPRequest, _ tag: String, _ package: HomePackage, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow,
        at now: Instant
    ) throws(Refusal) {
        guard let subscription = home.dialogs[tag], DialogID(incoming: request) == subscription.dialog.id,
            subscription.event.matches(event), subscription.notifier.isRefreshable, isRemoteEnd(subscription.user, request, flow)
        else { throw .noSuchDialog }
        // A refresh without a body keeps the subject of the dialog (MS-PRES 4.4.4).
        let subject = request.body.isEmpty ? nil : try subject(of: request, package)
        remember(subscription)
        if case .reject(let status) = subscription.dialog.receive(request) {
            throw Refusal(status, "RFC 3261 12.2.2: CSeq is out of order")
        }
        let requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        let actions = subscription.notifier.receiveSubscribe(
            expires: requestedExpires, piggyback: Self.isPiggybackOffered(request), at: now)
        if case .refuse(let minimum)? = actions.first { throw .tooBrief(minimum) }
        keep(.dialog(tag))
        if let subject { subscription.subject = subject }
        home.dialogs.move(subscription, to: flow)
        subscription.attach()
        perform(actions, on: subscription, answering: (request, transaction), isRevocable: true, at: now)
    }

    // MARK: timers and removal

    func schedule(_ subscription: HomeDialog) {
        guard home.dialogs[subscription.localTag] === subscription else { return }
        timers.set(subscription.ticket, at: subscription.nextDeadline)
    }

    func advance(_ subscription: HomeDialog, at now: Instant) {
        // Its endpoint is not registered and did not return in time.
        if let returnsBy = subscription.returnsBy, now >= returnsBy { return remove(subscription) }
        guard !subscription.isWaiting(at: now) else { return schedule(subscription) }
        perform(subscription.notifier.advance(to: now), on: subscription, at: now)
    }

    func remove(_ subscription: HomeDialog) {
        guard home.dialogs.remove(subscription) else { return }
        keep(.dialog(subscription.localTag))
        counters.subscriptionsEnded += 1
        unanswered.forget(subscription.ticket)
        flows.homeServer.remove(subscription)
    }

    /// Removes the dialogs of an endpoint after its registration ended, without a last notification.
    func homeDialogsEnd(of user: String, endpoint: EndpointID) {
        for subscription in home.dialogs.of(user) where subscription.endpoint == endpoint { remove(subscription) }
    }

    /// Moves the dialogs of a registered endpoint to its current connection and prolongs them with the registration (MS-PRES 3.3.5.2).
    func homeDialogsFollow(_ binding: Binding, at now: Instant) {
        for subscription in home.dialogs.of(binding.user) where subscription.endpoint != nil && subscription.endpoint == binding.endpoint {
            keep(.dialog(subscription.localTag))
            home.dialogs.move(subscription, to: Flow(binding.source))
            if subscription.followsRegistration { subscription.notifier.prolong(until: binding.expiry) }
            if subscription.isDetached {
                subscription.attach()
                perform(subscription.notifier.stateChanged(at: now), on: subscription, at: now)
            }
            perform(subscription.notifier.watcherReturned(at: now), on: subscription, at: now)
            schedule(subscription)
        }
    }

    /// Detaches the dialogs of a closed connection until their endpoints return. An endpoint without a registration has
    /// ``GatewayTiming/connectionGrace`` for that.
    func homeConnectionEnded(_ connection: ConnectionID, at now: Instant) {
        for subscription in home.dialogs.over(connection) {
            let isRegistered = subscription.endpoint.map { home.registrar.binding(of: subscription.user, endpoint: $0) != nil } ?? false
            // An endpoint that uses NOTIFY without a registration is reachable at its Contact.
            guard isRegistered || subscription.notifier.configuration.bestEffort else { continue }
            subscription.isDetached = true
            // Dialogs of a registered endpoint end with its registration instead.
            if !isRegistered { subscription.returnsBy = now + configuration.timing.connectionGrace }
            schedule(subscription)
        }
    }
}
