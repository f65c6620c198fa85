import FederationRouting
import SIPCore
import SIPEvents

/// SUBSCRIBE inside a dialog: refreshes, changes of what is watched, and the end (RFC 6665 4.2.1, MS-PRES 3.3.5.1, 3.4.5.1.3).
extension SubscriptionsFlow {
    func receiveRefresh(
        _ request: SIPRequest, _ tag: String, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let watcher = dialogs[tag], DialogID(incoming: request) == watcher.dialog.id, watcher.event.matches(event),
            watcher.notifier.isRefreshable, ports.isRemoteEnd(watcher.watcherKey, request, flow)
        else { throw .noSuchDialog }
        let isParked = ports.park(
            request, transaction, flow, needing: watcher.subscription.neededViews(changedBy: request, of: watcher), for: .tag(tag), at: now)
        if isParked { return }
        if case .reject(let status) = watcher.receive(request) {
            throw Refusal(status, "RFC 3261 12.2.2: CSeq is out of order")
        }
        reached(watcher, over: flow)
        let requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        if case .tooBrief(let minimum) = watcher.notifier.configuration.expiry.decide(requestedExpires) { throw .tooBrief(minimum) }
        let wishes = try policy.wishes(of: request, event, watcher.subscription, watcher.terms.side)
        let named = try watcher.subscription.change(
            by: request, isUnsubscribe: requestedExpires == 0, of: watcher, at: now)
        watcher.wish(wishes)
        let actions = watcher.notifier.receiveSubscribe(
            expires: requestedExpires, piggyback: watcher.isPiggyback(request, isPoll: requestedExpires == 0),
            skipping: watcher.skipping(at: now), at: now)
        log(.debug, "subscription refreshed", ["call-id": watcher.dialog.id.callID, "expires": String(requestedExpires ?? -1)])
        perform(actions, on: watcher, answering: (request, transaction), naming: named, isRevocable: true, at: now)
        // The 200 covers only the named resources; send the changes of others.
        if named != nil { notifyChanges(of: watcher, at: now) }
        whenKept(at: now) { now in watcher.subscription.proceed(watcher, at: now) }
        schedule(watcher)
    }
}
