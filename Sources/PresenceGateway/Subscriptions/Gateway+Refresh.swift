import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// SUBSCRIBE inside a dialog: refreshes, changes of what is watched, and the end (RFC 6665 4.2.1, MS-PRES 3.4.5.1.3).
extension Gateway {
    func receiveRefresh(
        _ request: SIPRequest, _ tag: String, _ event: Event, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let watcher = dialogs[tag], DialogID(incoming: request) == watcher.dialog.id, watcher.event.matches(event),
            watcher.notifier.isRefreshable, isRemoteEnd(watcher.watcherKey, request, flow)
        else { throw .noSuchDialog }
        if watcher.list != nil, !request.body.isEmpty {
            throw Refusal(
                .unsupportedMediaType, "RFC 5367 4: a list stays as it is for the life of its subscription",
                headers: [.init(.accept, "")])
        }
        remember(watcher)
        if case .reject(let status) = watcher.dialog.receive(request) {
            throw Refusal(status, "RFC 3261 12.2.2: CSeq is out of order")
        }
        reached(watcher, over: flow)
        let requestedExpires = request.headers.expires.map { Int(clamping: $0) }
        if case .tooBrief(let minimum) = watcher.notifier.configuration.expiry.decide(requestedExpires) { throw .tooBrief(minimum) }
        var named: [String]?
        if watcher.format == .categories, !request.body.isEmpty, let to = request.headers.to?.uri {
            let change = try categoryRequest(request, isBatch: watcher.isBatch, to: to)
            // Ignore resource changes in an unsubscribe.
            if requestedExpires != 0 {
                try apply(change, to: watcher, request, at: now)
                if watcher.isBatch {
                    let parties = try screening.parties(request, presentity: to)
                    noteSubscriber(request, parties, to: change.named, of: watcher, isPoll: false, at: now)
                }
            }
            named = change.named.map(\.key)
        } else if !request.body.isEmpty, request.headers.contentType?.essence != WatcherFormat.batchSubscribeType {
            throw .unsupportedMediaType(accept: WatcherFormat.batchSubscribeType)
        }
        let actions = watcher.notifier.receiveSubscribe(
            expires: requestedExpires, piggyback: isPiggyback(request, of: watcher, isPoll: requestedExpires == 0), at: now)
        log(.debug, "subscription refreshed", ["call-id": watcher.dialog.id.callID, "expires": String(requestedExpires ?? -1)])
        perform(actions, on: watcher, answering: (request, transaction), naming: named, isRevocable: true, at: now)
        // The 200 covers only the named resources; send the changes of others.
        if named != nil { notifyChanges(of: watcher, at: now) }
        whenKept(at: now) { [unowned self] now in startUpstreams(of: watcher, at: now) }
        schedule(watcher)
    }

    /// Moves the dialog to the flow of the watcher's request, and stores it.
    func reached(_ watcher: WatcherDialog, over flow: Flow) {
        remember(watcher)
        keep(.dialog(watcher.localTag))
        unbind(watcher)
        watcher.flow = flow
        watcher.returnsBy = nil
        bind(watcher)
    }

    /// Adds and removes resources and categories named in a SUBSCRIBE within the dialog (MS-PRES 3.4.5.1.3); a refusal changes nothing.
    private func apply(
        _ change: CategoryRequest, to watcher: WatcherDialog, _ request: SIPRequest, at now: Instant
    ) throws(Refusal) {
        let before = watcher.resources.map { CategoryRequest.Resource(uri: $0.uri, key: $0.key, categories: $0.categories, context: nil) }
        let after = try change.applied(to: before, limits: configuration.limits)
        if !watcher.isBatch, !after.allSatisfy({ wanted in before.contains { $0.key == wanted.key } }) {
            throw .badRequest("MS-PRES 3.4.5.3: the resource differs from the dialog's")
        }
        let known = Dictionary(watcher.resources.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        var parties = try screening.parties(request, presentity: request.headers.to?.uri)
        var loopMarkers: [String: String] = [:]
        for wanted in after where known[wanted.key] == nil {
            loopMarkers[wanted.key] = try HopMark(node: configuration.nodeName, presentity: wanted.key).passOn(request.headers)
        }

        let left = Set(after.map(\.key))
        let gone = watcher.resources.filter { !left.contains($0.key) }
        watcher.resources.removeAll { !left.contains($0.key) }
        for resource in gone { watcher.rejected.removeAll { $0.uri.aorKey == resource.key } }
        detachHere(gone, from: watcher)
        whenKept(at: now) { [unowned self] now in leaveUpstreams(gone, at: now) }
        for wanted in after {
            if let resource = known[wanted.key] {
                guard resource.categories != wanted.categories else { continue }
                resource.categories = wanted.categories
                resource.rendered = nil
                whenKept(at: now) { [unowned self] now in widenUpstream(of: resource, at: now) }
                continue
            }
            let resource = WatchedResource(wanted)
            parties.presentity = wanted.uri
            parties.presentityKey = wanted.key
            watcher.rejected.removeAll { $0.uri.aorKey == wanted.key }
            watcher.resources.append(resource)
            countWatched(resource, by: watcher)
            attach(resource, to: watcher, parties: parties, loopMarkers: loopMarkers[wanted.key] ?? "", at: now)
        }
    }

    // MARK: one batch of an endpoint

    /// Ends the previous batch dialog of an endpoint, which has one per server (MS-PRES 3.4.5.1.3).
    func replaceBatch(of endpoint: EndpointKey?, by watcher: WatcherDialog, at now: Instant) {
        guard let endpoint else { return }
        let old = batchOfEndpoint[endpoint].flatMap { dialogs[$0] }
        if let old { remember(old, undoing: .terminated(.timeout)) }
        batchOfEndpoint[endpoint] = watcher.localTag
        watcher.endpoint = endpoint
        guard let old else { return }
        log(.debug, "batch subscription replaced", ["call-id": old.dialog.id.callID])
        // The subscriber has another dialog; Expires 0 in the last NOTIFY ends the old one (MS-PRES 3.4.5.1.3).
        perform(old.notifier.terminate(.timeout, at: now), on: old, isRevocable: true, at: now)
    }
}
