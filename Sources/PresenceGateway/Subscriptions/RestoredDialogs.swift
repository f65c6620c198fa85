import FederationRouting
import Registration
import SIPCore
import SIPEvents

/// Dialogs in the store, and after a restart.
final class RestoredDialogs: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The notifier, which owns this part.
    private unowned let notifier: SubscriptionsFlow
    /// Dialogs for which a SUBSCRIBE may be repeated, because the earlier process did not answer it.
    private var resumedCalls = ResumedCalls()
    /// Local tags of the dialogs whose watchers may have another state than the stored one, until watchers are notified.
    private var unsettled: Set<String> = []

    init(_ notifier: SubscriptionsFlow) {
        kernel = notifier.kernel
        context = notifier.context
        self.notifier = notifier
    }

    /// Place of a dialog in the order of a restart; nil: another record.
    func rank(of record: StoreRecord) -> RestoreRank? {
        guard case .dialog(let stored) = record else { return nil }
        let hasStateAtOnce = notifier.packages.package(of: stored.kind)?.hasStateAtOnce ?? true
        return RestoreRank(phase: hasStateAtOnce ? .readyDialogs : .fedDialogs, name: stored.dialog.localTag)
    }

    /// Restores a dialog.
    /// - Returns: false if the record cannot be read, or if its package or domain is unknown.
    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool {
        guard case .dialog(let stored) = record, restore(stored, fedBy: restart.upstreams, at: now) else { return false }
        if stored.isUnsettled { unsettled.insert(stored.dialog.localTag) }
        restart.state.dialogs += 1
        return true
    }

    private func restore(_ stored: StoredDialog, fedBy upstreams: RestoredUpstreamSubscriptions, at now: Instant) -> Bool {
        guard let package = notifier.packages.package(of: stored.kind), let dialog = Dialog.resumed(from: stored.dialog),
            let event = Event(stored.event), let uri = SIPURI(stored.watcher), let domain = configuration.domain(of: uri),
            domain.refuse == nil, let opened = package.restore(stored, of: uri, in: domain)
        else { return false }
        let endpoint = stored.details[StoredDialog.endpointDetail].flatMap { EndpointID($0) }
        let watcher = WatcherDialog(
            dialog: dialog,
            notifier: Notifier(
                restoring: notifier.policy.configuration(of: package, domain, bestEffort: stored.isBestEffort), expiry: stored.expiry,
                wasNotified: stored.wasNotifiedActive && !isUncertain(stored, of: uri)),
            event: event, package, opened, flow: Flow(local: stored.local, remote: stored.remote),
            endpoint: endpoint.map { EndpointKey(watcher: opened.parties.watcherKey, endpoint: $0) },
            hidesIdentity: stored.details[StoredDialog.privacyDetail] != nil,
            followsRegistration: stored.details[StoredDialog.registrationDetail] != nil)
        watcher.resume(from: stored)
        watcher.wish(wishes(of: stored))
        notifier.insert(watcher)
        if stored.local.transport.isReliable, hop(toward: uri) == nil {
            _ = notifier.redelivery.leave(watcher, for: configuration.timing.restartGrace, at: now)
        }
        resumedCalls.add(watcher, at: now)
        watcher.subscription.resume(watcher, from: stored, fedBy: upstreams, at: now)
        if watcher.subscription.isReady { watcher.notifier.becameReady() }
        notifier.schedule(watcher)
        return true
    }

    /// What the watcher of a stored dialog asked for about notifications.
    func wishes(of stored: StoredDialog) -> NotificationWishes? {
        stored.details[StoredDialog.ratesDetail].flatMap { NotificationWishes(stored: $0, spacing: configuration.timing.notifySpacing) }
    }

    /// Whether the last notification before the restart may not have arrived, so that the watcher gets the full state.
    func isUncertain(_ stored: StoredDialog, of watcher: SIPURI) -> Bool {
        stored.isUnsettled || stored.isBestEffort && hop(toward: watcher) != nil
    }

    /// Notifies some watchers that have another state than the present one, once; expired subscriptions end.
    /// - Returns: whether none is left.
    func notifyBehind(_ restart: inout Restart, at now: Instant) -> Bool {
        let (tags, isLast) = restart.next(of: notifier.dialogs.inOrder.map(\.localTag))
        for tag in tags { notifier.dialogs[tag].map { notifyBehind($0, &restart.state, at: now) } }
        if isLast { unsettled = [] }
        return isLast
    }

    private func notifyBehind(_ watcher: WatcherDialog, _ state: inout RestoredState, at now: Instant) {
        if now >= watcher.notifier.expiry {
            state.expired += 1
            notifier.perform(watcher.isAway ? watcher.notifier.watcherGone() : watcher.notifier.advance(to: now), on: watcher, at: now)
            return
        }
        let isUnsettled = unsettled.contains(watcher.localTag)
        guard watcher.subscription.isBehind(watcher, isUnsettled: isUnsettled, at: now), !watcher.isAway else { return }
        state.notified += 1
        notifier.perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
    }

    /// Answers a repeated SUBSCRIBE in the restored dialog that it created, because the response of the earlier process was not sent or was
    /// lost; otherwise its watcher would have two dialogs.
    /// - Returns: false if the SUBSCRIBE is new.
    func answerAgain(
        _ request: SIPRequest, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) -> Bool {
        guard let tag = resumedCalls.tag(of: request, at: now), let watcher = notifier.dialogs[tag],
            let sequence = request.headers.cSeq?.number, watcher.dialog.remoteCSeq == sequence, watcher.event.matches(event),
            !watcher.notifier.isEnding, notifier.ports.isRemoteEnd(watcher.watcherKey, request, flow)
        else { return false }
        notifier.reached(watcher, over: flow)
        let requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        let actions = watcher.notifier.receiveSubscribe(
            expires: requestedExpires, piggyback: watcher.isPiggyback(request, isPoll: requestedExpires == 0), at: now)
        log(.debug, "subscription of an earlier process answered again", ["call-id": watcher.dialog.callID])
        notifier.perform(actions, on: watcher, answering: (request, transaction), isRevocable: true, at: now)
        notifier.schedule(watcher)
        return true
    }
}

extension WatcherDialog {
    /// The dialog as the store keeps it; nil: nothing is kept.
    var stored: StoredDialog? {
        guard held == nil, !notifier.isOver else { return nil }
        var stored = StoredDialog(
            kind: package.storedKind, dialog: dialog.snapshot, owner: owner, event: event.description,
            contentType: subscription.contentType, watcher: watcher.description, isBestEffort: notifier.configuration.bestEffort,
            expiry: notifier.expiry, local: flow.local, remote: flow.remote, wasNotifiedActive: wasNotifiedActive,
            isUnsettled: notifier.isAwaitingAnswer || notifier.isRedelivering || notifier.owesWholeState)
        stored.details[StoredDialog.endpointDetail] = endpoint?.endpoint.description
        if terms.followsRegistration { stored.details[StoredDialog.registrationDetail] = "yes" }
        if hidesIdentity { stored.details[StoredDialog.privacyDetail] = "id" }
        stored.details[StoredDialog.ratesDetail] = wishes?.stored
        subscription.store(in: &stored)
        if let reserve = record.reserve { stored.unsettle(reserve) }
        return stored
    }
}

extension StoredDialog {
    /// Leaves out what the watcher was last notified of, so that further notifications change nothing in the record.
    fileprivate mutating func unsettle(_ reserve: DialogRecord.Reserve) {
        isUnsettled = true
        wasNotifiedActive = false
        dialog.localCSeq = reserve.cSeq
        listVersion = reserve.version
        for index in resources.indices { resources[index].delivered = [:] }
    }
}
