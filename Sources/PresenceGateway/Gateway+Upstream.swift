import PresenceDocuments
import SIPCore
import SIPEvents

/// The far legs: what is asked of the presentity's home, and what comes back (RFC 6665 4.1, MS-PRES 3.4.5, 3.7.5).
extension Gateway {
    func perform(_ actions: [Subscriber.Action], on upstream: UpstreamSubscription, at now: Instant) {
        for action in actions {
            switch action {
            case .subscribe(.initial, let expires):
                subscribe(upstream, expires: expires, at: now)
            case .subscribe(.refresh, let expires), .subscribe(.unsubscribe, let expires):
                subscribeAgain(upstream, expires: expires, at: now)
            case .status(let status):
                follow(status, upstream, at: now)
            case .lost(let failure, let pause):
                lost(upstream, failure, retryIn: pause, at: now)
            case .end(let failure):
                ended(upstream, failure, at: now)
            }
        }
        schedule(upstream)
    }

    func advance(_ upstream: UpstreamSubscription, at now: Instant) {
        if let staleAt = upstream.staleAt, now >= staleAt {
            upstream.staleAt = nil
            if let resource = upstream.resource, let watcher = upstream.owner {
                // The last state has been shown long enough without anybody vouching for it.
                log(.notice, "far leg lost, presentity counts as offline", ["call-id": upstream.callID])
                resource.source = .offline
                sourceChanged(resource, of: watcher, at: now)
            }
        }
        if let startsAt = upstream.startsAt, now >= startsAt {
            upstream.startsAt = nil
            perform(upstream.subscriber.start(at: now), on: upstream, at: now)
        }
        perform(upstream.subscriber.advance(to: now), on: upstream, at: now)
    }

    // MARK: asking

    private func subscribe(_ upstream: UpstreamSubscription, expires: Int, at now: Instant) {
        upstreamsByTag[upstream.localTag] = nil
        upstream.localTag = tokens.tag()
        upstream.callID = tokens.callID()
        upstream.dialog = nil
        upstream.hasNotified = false
        upstreams[upstream.id] = upstream
        upstreamsByTag[upstream.localTag] = upstream
        let transport = upstream.route.transport
        var request = SIPRequest(.subscribe, uri: upstream.target)
        request.headers.maxForwards = upstream.maxForwards
        request.headers.from = NameAddr(upstream.watcher, parameters: SIPParameters([.init("tag", upstream.localTag)]))
        request.headers.to = NameAddr(upstream.isBatch ? upstream.watcher : upstream.presentity)
        request.headers.callID = upstream.callID
        request.headers.cSeq = CSeq(1, .subscribe)
        request.headers.set(.contact, contact(transport))
        request.headers.append(HopMark.header, upstream.hopMarks)
        upstream.describe(&request, expires: expires, reliable: transport.isReliable)
        upstream.request = request
        log(.debug, "subscribing upstream", ["call-id": upstream.callID, "presentity": upstream.presentityKey])
        send(
            request, to: .address(upstream.route, from: listener(for: transport, flow: nil)), over: transport,
            for: .subscribe(upstream, attempt: upstream.subscriber.attempt), at: now)
    }

    private func subscribeAgain(_ upstream: UpstreamSubscription, expires: Int, at now: Instant) {
        guard upstream.dialog != nil, var request = upstream.dialog?.makeRequest(.subscribe, maxForwards: upstream.maxForwards),
            let dialog = upstream.dialog
        else {
            // Accepted without a usable Contact and never notified: there is no dialog to speak in.
            perform(upstream.subscriber.receiveAnswer(status: 481, at: now), on: upstream, at: now)
            return
        }
        let (destination, transport) = destination(of: dialog, flow: nil, route: upstream.route)
        request.headers.set(.contact, contact(transport))
        upstream.describe(&request, expires: expires, reliable: transport.isReliable)
        send(request, to: destination, over: transport, for: .subscribe(upstream, attempt: upstream.subscriber.attempt), at: now)
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for upstream: UpstreamSubscription, at now: Instant) {
        let headers = response.headers
        let retryAfter = headers.retryAfter.map { Int($0.seconds) }
        guard response.status.isSuccess else {
            log(
                .info, "far side refused SUBSCRIBE",
                [
                    "call-id": upstream.callID, "leg": upstream.domain.side.rawValue, "status": String(response.status.rawValue),
                    "retry-after": retryAfter.map(String.init) ?? "",
                ])
            perform(
                upstream.subscriber.receiveAnswer(
                    status: response.status.rawValue, minimumExpires: headers.minExpires.map { Int($0) }, retryAfter: retryAfter, at: now),
                on: upstream, at: now)
            return
        }
        if upstream.dialog != nil {
            upstream.dialog?.receive(response)
        } else if let request = upstream.request {
            upstream.dialog = Dialog(request: request, response: response)
        }
        var piggybacked: SubscriptionStatus?
        if headers.contains(.msPiggybackCSeq) || !response.body.isEmpty {
            counters.notificationsReceived += 1
            piggybacked =
                headers.subscriptionState.map { SubscriptionStatus($0) } ?? .active(expires: headers.expires.map { Int($0) })
            do throws(Refusal) {
                let content = try UpstreamContent(
                    response.body, contentType: headers.contentType, presentity: upstream.presentityKey, parser: parser)
                if take(content, upstream, at: now) { return }
            } catch {
                log(.notice, "piggybacked state cannot be read", ["call-id": upstream.callID, "rule": error.explanation])
            }
        }
        perform(
            upstream.subscriber.receiveAnswer(
                status: response.status.rawValue, expires: headers.expires.map { Int($0) }, piggybacked: piggybacked, at: now),
            on: upstream, at: now)
    }

    // MARK: NOTIFY and BENOTIFY

    func receiveNotify(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let event = request.headers.event, event.package == EventPackage.presence.token else { throw .badEvent }
        guard let tag = request.headers.toTag, let upstream = upstreamsByTag[tag], request.headers.callID == upstream.callID,
            upstream.subscriber.isListening
        else { throw .noSuchDialog }
        guard let state = request.headers.subscriptionState else {
            throw .badRequest("RFC 6665 4.1.3: a NOTIFY needs a Subscription-State")
        }
        if let dialog = upstream.dialog {
            // A second dialog of a forked SUBSCRIBE is not wanted for presence (RFC 3856 6.8).
            guard DialogID(incoming: request) == dialog.id else { throw .noSuchDialog }
            if case .reject(let status) = upstream.dialog?.receive(request) ?? .accept {
                throw Refusal(status, "RFC 3261 12.2.2: CSeq is out of order")
            }
            if !upstream.hasNotified { upstream.dialog?.adoptRouteSet(of: request) }
        } else {
            guard let subscribe = upstream.request, let dialog = Dialog(subscribe: subscribe, notify: request) else {
                throw .noSuchDialog
            }
            upstream.dialog = dialog
        }
        upstream.hasNotified = true
        counters.notificationsReceived += 1
        let content = try UpstreamContent(
            request.body, contentType: request.headers.contentType, presentity: upstream.presentityKey, parser: parser)
        respond(SIPResponse(to: request, status: .ok), transaction, at: now)
        let status = SubscriptionStatus(state)
        if take(content, upstream, at: now) { return }
        if case .active = status, request.body.isEmpty, let resource = upstream.resource, let watcher = upstream.owner,
            !resource.source.isKnown
        {
            // Granted, and nothing is published (RFC 3856 6.7 allows no body).
            resource.source = .offline
            sourceChanged(resource, of: watcher, at: now)
        }
        perform(upstream.subscriber.receiveNotify(status, at: now), on: upstream, at: now)
    }

    // MARK: what it means

    /// Takes new state over. True: the leg took another way, and what else the message said is void.
    private func take(_ content: UpstreamContent, _ upstream: UpstreamSubscription, at now: Instant) -> Bool {
        if let verdict = content.verdict, content.categories == nil {
            switch verdict.state {
            case "resubscribe":
                log(.info, "far side names another pool", ["call-id": upstream.callID, "pool": verdict.poolFqdn ?? ""])
                if upstream.follow(poolFqdn: verdict.poolFqdn) {
                    perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
                } else {
                    ended(upstream, .terminated(.noresource), at: now)
                }
                return true
            case "terminated":
                ended(upstream, .terminated(TerminationReason(rlmi: verdict.reason)), at: now)
                return true
            default:
                break
            }
        }
        guard let resource = upstream.resource, let watcher = upstream.owner else { return false }
        let source: PresenceSource
        if let categories = content.categories {
            if upstream.isMergeOld { upstream.merge = CategoryMerge() }
            upstream.isMergeOld = false
            upstream.merge.apply(categories)
            source = .categories(upstream.merge)
        } else if let pidf = content.pidf {
            source = .pidf(pidf)
        } else if let msrtc = content.msrtc {
            source = .msrtc(msrtc)
        } else {
            return false
        }
        upstream.staleAt = nil
        if resource.source == source {
            counters.notificationsSuppressed += 1
            return false
        }
        resource.source = source
        sourceChanged(resource, of: watcher, at: now)
        return false
    }

    private func follow(_ status: SubscriptionStatus, _ upstream: UpstreamSubscription, at now: Instant) {
        guard let watcher = upstream.owner, watcher.resources.count == 1 else { return }
        if case .pending = status {
            perform(watcher.notifier.authorize(false, at: now), on: watcher, at: now)
        } else {
            perform(watcher.notifier.authorize(true, at: now), on: watcher, at: now)
        }
    }

    /// The leg is made anew by itself; the watcher is kept and sees the last state for a while.
    private func lost(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure, retryIn pause: TimeSpan, at now: Instant) {
        counters.upstreamLost += 1
        log(
            .notice, "far leg lost",
            [
                "call-id": upstream.callID, "leg": upstream.domain.side.rawValue, "cause": String(describing: failure),
                "retry-in": String(pause.seconds),
            ])
        upstream.dialog = nil
        upstream.isMergeOld = true
        if case .refused(let status) = failure, upstream.fallBack(after: status) {
            perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return
        }
        if upstream.staleAt == nil, let resource = upstream.resource, resource.source.isKnown, resource.source != .offline {
            upstream.staleAt = now + configuration.timing.staleAfter
        }
    }

    /// The leg is over: as wished (nil), or for good.
    private func ended(_ upstream: UpstreamSubscription, _ failure: Subscriber.Failure?, at now: Instant) {
        if case .refused(let status)? = failure, upstream.owner != nil, upstream.fallBack(after: status) {
            log(.info, "far side wants another format", ["call-id": upstream.callID, "format": upstream.format.rawValue])
            perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
            return
        }
        upstreams[upstream.id] = nil
        upstreamsByTag[upstream.localTag] = nil
        wakes.set(.upstream(upstream.id), at: nil)
        guard let resource = upstream.resource, let watcher = upstream.owner else { return }
        resource.upstream = nil
        guard let failure else {
            if !resource.source.isKnown {
                resource.source = .offline
                sourceChanged(resource, of: watcher, at: now)
            }
            return
        }
        log(.info, "far side ended the subscription", ["call-id": upstream.callID, "cause": String(describing: failure)])
        pass(failure, of: resource, to: watcher, at: now)
    }

    /// Tells the watcher what the far side's refusal means for it.
    private func pass(_ failure: Subscriber.Failure, of resource: WatchedResource, to watcher: WatcherDialog, at now: Instant) {
        let reason = TerminationReason(failure)
        if let held = watcher.held, watcher.resources.count == 1 {
            watcher.held = nil
            refuse(held.request, held.transaction, Refusal(passing: failure, retryAfter: configuration.timing.retryAfter), at: now)
            remove(watcher, at: now)
            return
        }
        guard watcher.isBatch else {
            let retryAfter = reason.retry == .later ? configuration.timing.retryAfter : nil
            perform(watcher.notifier.terminate(reason, retryAfter: retryAfter, at: now), on: watcher, at: now)
            return
        }
        watcher.resources.removeAll { $0 === resource }
        release(resource)
        watcher.reject(
            .init(uri: resource.uri, state: "terminated", reason: reason.rawValue), limit: configuration.limits.resourcesPerBatch)
        if watcher.held != nil {
            if watcher.isReady { answerHeld(watcher, at: now) }
        } else if watcher.resources.isEmpty {
            perform(watcher.notifier.terminate(reason, at: now), on: watcher, at: now)
        } else {
            perform(watcher.notifier.stateChanged(at: now), on: watcher, at: now)
        }
    }
}

extension SubscriptionStatus {
    init(_ header: SubscriptionState) {
        let expires = header.expires.map { Int($0) }
        switch header.state {
        case .active: self = .active(expires: expires)
        case .pending: self = .pending(expires: expires)
        case .terminated:
            self = .terminated(
                reason: header.reason.map { TerminationReason(rawValue: $0.rawValue) }, retryAfter: header.retryAfter.map { Int($0) })
        default: self = .other(header.state.rawValue, expires: expires)
        }
    }
}

extension TerminationReason {
    /// What a watcher is told when its far leg failed for good.
    init(_ failure: Subscriber.Failure) {
        switch failure {
        case .refused(let status): self = TerminationReason(refusal: status) ?? .probation
        case .terminated(let reason): self = reason ?? .noresource
        case .silent, .lapsed: self = .probation
        }
    }

    /// The reason of an RLMI instance (RFC 4662 5.5, MS-PRES 3.4.5.1.3.1).
    init(rlmi reason: String?) {
        switch reason {
        case "rejected": self = .rejected
        case "quotaExceeded": self = .probation
        case let reason?: self = TerminationReason(rawValue: reason)
        case nil: self = .noresource
        }
    }
}

extension Refusal {
    /// The answer to a poll whose far side refused.
    init(passing failure: Subscriber.Failure, retryAfter: Int) {
        let reason = TerminationReason(failure)
        if case .silent = failure {
            self.init(.serverTimeout, "the presentity's side did not answer")
        } else if case .refused(480) = failure {
            self.init(.temporarilyUnavailable, "the presentity's side cannot say now", headers: [Header(.retryAfter, String(retryAfter))])
        } else if reason == .rejected {
            self = .forbidden("the presentity's side refused the subscription")
        } else if reason == .noresource {
            self.init(.notFound, "the presentity's side does not know the presentity")
        } else {
            self = .unavailable("the presentity's side cannot say now", retryAfter: retryAfter)
        }
    }
}
