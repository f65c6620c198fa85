import FederationRouting
import SIPCore
import SIPEvents

/// SUBSCRIBE outside a dialog, and the table of dialogs (RFC 6665 4.2, MS-PRES 3.3.5, 3.4.5, 3.7.5).
extension SubscriptionsFlow {
    func receiveSubscribe(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, _ opened: OpenedSubscription? = nil, at now: Instant
    ) throws(Refusal) {
        guard let event = request.headers.event, let package = packages[event.package] else { throw packages.badEvent }
        if let tag = request.headers.toTag {
            try receiveRefresh(request, tag, event, transaction, flow, at: now)
        } else {
            try receiveInitial(request, package, event, transaction, flow, opened, at: now)
        }
    }

    /// Serves a SUBSCRIBE that waited for views of other shards, or refuses it.
    /// - Parameter opened: what the package has read of the request before; nil: it is read again.
    func serve(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, _ opened: OpenedSubscription?, at now: Instant
    ) {
        do throws(Refusal) {
            // The store may have failed meanwhile.
            let isPoll = request.headers.toTag == nil && request.headers.expires == 0 && request.body.isEmpty
            try kernel.checkStore(changesNothing: isPoll, at: now)
            try receiveSubscribe(request, transaction, flow, opened, at: now)
        } catch {
            ports.refuse(request, transaction, error, at: now)
        }
    }

    private func receiveInitial(
        _ request: SIPRequest, _ package: any EventPackage, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow,
        _ before: OpenedSubscription?, at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        if restored.answerAgain(request, event, transaction, flow, at: now) { return }
        guard request.headers.contact != nil else { throw .badRequest("RFC 6665 4.2.1: a SUBSCRIBE needs a Contact") }
        guard let to = request.headers.to?.uri else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        let opened = if let before { before } else { try package.open(request, to: to, over: flow, by: screening, at: now) }
        let (parties, subscription) = (opened.parties, opened.subscription)
        try policy.checkLimits(parties)
        guard let dialog = Dialog(accepting: request, localTag: tokens.tag(labelled: place.label(for: opened.owner))) else {
            throw .badRequest("RFC 3261 12.1.1: no dialog can be made of this request")
        }
        try ports.checkPath(request, of: parties.watcher, flow)
        let terms = policy.configuration(of: package, parties.watcherDomain, bestEffort: policy.takesBenotify(request, opened, flow))
        var requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        if case .tooBrief(let minimum) = terms.expiry.decide(requestedExpires) { throw .tooBrief(minimum) }
        let isParked = ports.park(
            request, transaction, flow, needing: subscription.neededViews(request, parties, isPoll: requestedExpires == 0),
            for: .none(opened), at: now)
        if isParked { return }
        let wishes = try policy.wishes(of: request, event, subscription, parties.watcherDomain.side)
        try subscription.admit(request, parties, isPoll: requestedExpires == 0, at: now)
        let watcher = WatcherDialog(
            dialog: dialog, notifier: Notifier(terms, isReady: false), event: event.withoutRates, package, opened, flow: flow,
            endpoint: parties.watcherDomain.hosted || subscription.isOnlyOfEndpoint ? EndpointKey(request, of: parties.watcherKey) : nil,
            hidesIdentity: RequestScreening.hidesIdentity(request.headers),
            followsRegistration: request.headers.offers("com.microsoft.autoextend"))
        watcher.wish(wishes)
        insert(watcher)
        if !subscription.begin(watcher, request, parties, isPoll: requestedExpires == 0, at: now) { requestedExpires = 0 }
        let replaced = requestedExpires == 0 ? [] : dialogsReplaced(by: watcher)
        watcher.begin(terms)
        let isPiggyback = watcher.isPiggyback(request, isPoll: requestedExpires == 0)
        if requestedExpires == 0, isPiggyback, !subscription.isReady, let transaction {
            // The 200 must carry the state: it waits for the remote domain, at most ``GatewayTiming/pollWait`` (MS-PRES 3.4.5.1.2).
            watcher.hold(.init(transaction: transaction, request: request, until: now + configuration.timing.pollWait))
            begin(watcher, at: now)
            subscription.proceed(watcher, at: now)
            schedule(watcher)
            return
        }
        let actions = watcher.notifier.receiveSubscribe(expires: requestedExpires, piggyback: isPiggyback, at: now)
        if !watcher.notifier.isEnding { begin(watcher, at: now) }
        counters.subscriptionsAccepted += 1
        log(
            .debug, watcher.presence == nil ? "home subscription accepted" : "subscription accepted",
            [
                "call-id": dialog.id.callID, "watcher": parties.watcherKey, "presentity": parties.presentityKey,
                "event": package.token, "format": subscription.contentType, "expires": String(requestedExpires ?? -1),
            ])
        perform(actions, on: watcher, answering: (request, transaction), at: now)
        if !replaced.isEmpty {
            whenKept(at: now) { [unowned self] now in for old in replaced { end(old, replacedBy: watcher, at: now) } }
        }
        subscription.proceed(watcher, at: now)
        schedule(watcher)
    }

    // MARK: one dialog of an endpoint

    /// Earlier dialogs of the endpoint, if it has only one of the package (MS-PRES 3.3.5.1, 3.4.5.1.3).
    private func dialogsReplaced(by watcher: WatcherDialog) -> [WatcherDialog] {
        guard watcher.subscription.isOnlyOfEndpoint, let endpoint = watcher.endpoint else { return [] }
        return dialogs.of(endpoint).filter {
            $0 !== watcher && $0.package === watcher.package && $0.subscription.isOnlyOfEndpoint && !$0.notifier.isEnding
        }
    }

    /// Ends a dialog that another one of the endpoint replaces. The reason is not `rejected`, which would forbid the subscriber to
    /// subscribe again (RFC 6665 4.1.3).
    private func end(_ old: WatcherDialog, replacedBy watcher: WatcherDialog, at now: Instant) {
        guard dialogs.contains(old) else { return }
        if watcher.presence != nil { log(.debug, "batch subscription replaced", ["call-id": old.dialog.id.callID]) }
        perform(old.notifier.terminate(.timeout, at: now), on: old, at: now)
    }

    // MARK: time

    func schedule(_ watcher: WatcherDialog) {
        guard dialogs.contains(watcher), watcher.schedule() else { return }
        timers.set(watcher.ticket, at: watcher.timerAt)
    }

    /// Handles the timer of a dialog.
    func advance(_ watcher: WatcherDialog, at now: Instant) {
        if let held = watcher.held, now >= held.until { answerHeld(watcher, at: now) }
        if let returnsBy = watcher.delivery.returnsBy, now >= returnsBy {
            return perform(watcher.notifier.watcherGone(), on: watcher, at: now)
        }
        guard !watcher.isWaiting || now >= watcher.notifier.expiry else { return schedule(watcher) }
        notifyChanges(of: watcher, at: now)
        watcher.subscription.advance(watcher, at: now)
        repeatState(of: watcher, at: now)
        perform(watcher.notifier.advance(to: now), on: watcher, at: now)
    }

    /// Notifies the state without a change, if the watcher asked for that (RFC 6446 6, 7).
    private func repeatState(of watcher: WatcherDialog, at now: Instant) {
        guard watcher.notifier.isIdle, let wishes = watcher.wishes, let moment = wishes.nextRepeat, moment <= now else { return }
        wishes.beginRepeat()
        perform(watcher.notifier.repeatState(at: now), on: watcher, at: now)
    }

    /// Answers the held poll.
    func answerHeld(_ watcher: WatcherDialog, at now: Instant) {
        guard let held = watcher.takeHeld() else { return }
        counters.subscriptionsAccepted += 1
        let actions = watcher.notifier.receiveSubscribe(expires: 0, piggyback: true, at: now)
        perform(actions, on: watcher, answering: (held.request, held.transaction), at: now)
    }
}
