import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// Upstream subscriptions: SUBSCRIBE to the presentity's domain, its responses and NOTIFYs (RFC 6665 4.1, MS-PRES 3.4.5, 3.7.5).
extension UpstreamFlow {
    func perform(_ actions: [Subscriber.Action], on upstream: UpstreamSubscription, at now: Instant) {
        for action in actions {
            switch action {
            case .subscribe(.initial, let expires):
                subscribe(upstream, expires: expires, at: now)
            case .subscribe(.refresh, let expires), .subscribe(.unsubscribe, let expires):
                subscribeAgain(upstream, expires: expires, at: now)
            case .status(let status):
                reporter.follow(status, upstream, at: now)
            case .lost(let failure, let pause):
                lost(upstream, failure, retryIn: pause, at: now)
            case .end(let failure):
                ended(upstream, failure, at: now)
            }
        }
        schedule(upstream)
    }

    func advance(_ upstream: UpstreamSubscription, at now: Instant) {
        for resource in upstream.resources where resource.endStaleState(at: now) {
            // The last state was shown for `staleAfter` without confirmation.
            log(.notice, "far leg lost, presentity counts as offline", ["call-id": upstream.callID])
            reporter.show(.offline, in: resource, at: now)
        }
        reporter.advanceTimedMoment(of: upstream, at: now)
        lists.askListAgain(upstream, at: now)
        reader.askToRead(upstream, at: now)
        switch upstream.takeTurn(at: now) {
        case .leave?: return end(upstream, hasDialog: upstream.dialog != nil, at: now)
        case .move?: return verifier.moveToOtherServer(upstream, at: now)
        case .start?: proceed(upstream, at: now)
        case nil: break
        }
        if upstream.isRested(at: now) { return moves.wakeUp(upstream, at: now) }
        perform(upstream.subscriber.advance(to: now), on: upstream, at: now)
    }

    // MARK: asking

    private func subscribe(_ upstream: UpstreamSubscription, expires: Int, at now: Instant) {
        verifier.sampleLost(upstream, at: now)
        keep(upstream)
        let label = place.label(for: upstream.sinks.first?.watcher.owner ?? upstream.watcher.aorKey)
        upstreams.begin(upstream, localTag: tokens.tag(labelled: label), callID: tokens.callID(labelled: label))
        let transport = upstream.domain.hop.transport
        var request = SIPRequest(.subscribe, uri: upstream.target)
        request.headers.maxForwards = upstream.maxForwards
        request.headers.from = NameAddr(
            AnonymousUser.shown(upstream.watcher), parameters: SIPParameters([.init("tag", upstream.localTag)]))
        request.headers.to = NameAddr(AnonymousUser.shown(upstream.addressee))
        request.headers.callID = upstream.callID
        request.headers.cSeq = CSeq(1, .subscribe)
        let requestRoute = requestRoute(by: upstream.domain.hop)
        request.headers.set(.contact, contact(by: requestRoute))
        request.headers.append(HopMark.header, hopMarks(of: upstream))
        upstream.describe(&request, expires: expires, reliable: transport.isReliable)
        assertIdentity(for: upstream.watcher, on: &request, toward: upstream.domain.configuration, isPrivate: upstream.hidesWatcher)
        upstream.attempt.ask(request)
        log(.debug, "subscribing upstream", ["call-id": upstream.callID, "presentity": upstream.resources.first?.key ?? ""])
        send(request, by: requestRoute, for: origin(of: upstream), in: commitScope(of: upstream), at: now)
    }

    private func subscribeAgain(_ upstream: UpstreamSubscription, expires: Int, at now: Instant) {
        guard var request = upstream.attempt.makeRequest(maxForwards: upstream.maxForwards), let dialog = upstream.dialog else {
            // The SUBSCRIBE was accepted without a usable Contact and no NOTIFY came: there is no dialog.
            perform(upstream.subscriber.receiveAnswer(status: 481, at: now), on: upstream, at: now)
            return
        }
        let requestRoute = ports.requestRoute(of: dialog, flow: nil, hop: upstream.domain.hop, to: SIPURI(host: upstream.domain.name))
        request.headers.set(.contact, contact(by: requestRoute))
        upstream.describe(&request, expires: expires, reliable: requestRoute.transport.isReliable)
        assertIdentity(for: upstream.watcher, on: &request, toward: upstream.domain.configuration, isPrivate: upstream.hidesWatcher)
        // Its CSeq is committed before it is sent, so that no later process uses it again (RFC 3261 12.2.1.1).
        keep(upstream)
        send(request, by: requestRoute, for: origin(of: upstream), in: commitScope(of: upstream), at: now)
    }

    // MARK: answers

    func receiveAnswer(_ response: SIPResponse, for upstream: UpstreamSubscription, at now: Instant) {
        let headers = response.headers
        guard response.status.isSuccess else { return receiveRefusal(response, for: upstream, at: now) }
        let (named, form) = upstream.accepted(response)
        keep(upstream)
        if let form { upstream.domain.remember(form, at: now) }
        var piggybacked: SubscriptionStatus?
        if headers.contains(.msPiggybackCSeq) || !response.body.isEmpty {
            counters.notificationsReceived += 1
            upstream.attempt.piggybacked()
            piggybacked =
                headers.subscriptionState.map { SubscriptionStatus($0) } ?? .active(expires: headers.expires.map { Int($0) })
            do throws(Refusal) {
                let content = try reader.read(response.body, headers, of: upstream, at: now)
                if reporter.take(content, upstream, piggybacked, at: now) { return }
                // The list names resources without a part; a resource in neither shows nothing (MS-PRES 2.2.2.4.2).
                let spokenOf = Set(content.reports.map(\.key))
                let isFirst = upstream.subscriber.lapsesAt == nil
                for resource in named where content.hasList && !spokenOf.contains(resource.key) {
                    guard upstream.resource(resource.key) === resource else { continue }
                    // An unreadable part may be about it.
                    guard content.unreadable.isEmpty || resource.unreadable == nil else { continue }
                    upstream.becameReadable(resource)
                    let isWithdrawn = isFirst && resource.authorization == .pending
                    if isWithdrawn || resource.authorization == .unheard && !resource.source.isKnown {
                        reporter.show(.offline, in: resource, isGranted: isWithdrawn, at: now)
                    }
                }
            } catch {
                log(.notice, "piggybacked state cannot be read", ["call-id": upstream.callID, "rule": error.explanation])
            }
        }
        perform(
            upstream.subscriber.receiveAnswer(
                status: response.status.rawValue, expires: headers.expires.map { Int($0) }, piggybacked: piggybacked, at: now),
            on: upstream, at: now)
        if upstream.list?.isHeard == false, upstream.hasSink, !headers.hasToken(.require, "eventlist") {
            // The server knows no list of that name and would not report its members (RFC 4662 4.5).
            // For a replaced subscription, its successor finds out.
            if !lists.dropReplaced(upstream) { lists.giveUpList(upstream, at: now) }
            end(upstream, hasDialog: upstream.dialog != nil, at: now)
        } else if piggybacked != nil, upstreams.contains(upstream) {
            reader.fetchFullState(upstream, at: now)
        }
    }

    private func receiveRefusal(_ response: SIPResponse, for upstream: UpstreamSubscription, at now: Instant) {
        if followRedirect(response, of: upstream, at: now) { return }
        let headers = response.headers
        let retryAfter = headers.retryAfter.map { Int($0.seconds) }
        log(
            .info, "far side refused SUBSCRIBE",
            [
                "call-id": upstream.callID, "leg": upstream.domain.side.rawValue, "status": String(response.status.rawValue),
                "retry-after": retryAfter.map(String.init) ?? "",
            ])
        upstream.refused(response)
        if [413, 488].contains(response.status.rawValue), moves.shrink(upstream, at: now), upstream.dialog == nil {
            return perform(upstream.subscriber.restart(at: now), on: upstream, at: now)
        }
        perform(
            upstream.subscriber.receiveAnswer(
                status: response.status.rawValue, minimumExpires: headers.minExpires.map { Int($0) }, retryAfter: retryAfter, at: now),
            on: upstream, at: now)
        verifier.sampleFails(upstream, at: now)
    }

    // MARK: NOTIFY and BENOTIFY

    /// The domain that was asked in the dialog of a NOTIFY or BENOTIFY; nil: no upstream subscription has this dialog.
    func domainAsked(inDialogOf request: SIPRequest) -> String? {
        guard request.method == .notify || request.method == .benotify, let tag = request.headers.toTag, let upstream = upstreams[tag: tag],
            request.headers.callID == upstream.callID
        else { return nil }
        return upstream.domain.name
    }

    func receiveNotify(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let event = request.headers.event, event.package == EventToken.presence else { throw ports.badEvent }
        guard let tag = request.headers.toTag, let upstream = upstreams[tag: tag], request.headers.callID == upstream.callID,
            upstream.subscriber.isListening, ports.isSpeaker(flow, for: SIPURI(host: upstream.domain.name))
        else { throw .noSuchDialog }
        // The gateway's SUBSCRIBEs have no `id`; an `id` belongs to another subscription (RFC 6665 8.2.1).
        guard event.id == nil else { throw .noSuchDialog }
        guard request.headers.contact?.uri.scheme.hasHost == true || request.method == .benotify else {
            throw .badRequest("RFC 6665 4.2.2: a NOTIFY needs a Contact")
        }
        guard let state = request.headers.subscriptionState else {
            throw .badRequest("RFC 6665 4.1.3: a NOTIFY needs a Subscription-State")
        }
        if !upstream.attempt.hasNotified { try ports.checkPath(request, of: SIPURI(host: upstream.domain.name), flow) }
        if try upstream.attempt.receiveNotify(request) { keep(upstream) }
        if let connection = flow.connection { verifier.bind(upstream, to: connection) }
        counters.notificationsReceived += 1
        let content = try reader.read(request.body, request.headers, of: upstream, at: now)
        respond(SIPResponse(to: request, status: .ok), transaction, at: now)
        var status = SubscriptionStatus(state)
        // An enterprise server ends a dialog with Expires 0, regardless of Subscription-State (MS-PRES 3.4.5.1.3).
        if upstream.domain.side == .enterprise, request.headers.expires == 0, !status.isTerminated {
            status = .terminated(reason: .deactivated, retryAfter: nil)
        }
        if reporter.take(content, upstream, status, at: now) { return }
        lists.applyList(content, of: upstream, status, at: now)
        if case .active = status, request.body.isEmpty, upstream.list == nil, let only = upstream.only,
            upstream.domain.side == .simple || !only.source.isKnown
        {
            // Granted without a body: nothing is published or shown to this watcher (RFC 3856 6.7).
            only.confirmNothing()
            upstream.becameReadable(only)
            reporter.show(.offline, in: only, at: now)
        }
        perform(upstream.subscriber.receiveNotify(status, at: now), on: upstream, at: now)
        upstream.reading.fullState.endMessage()
        reader.fetchFullState(upstream, at: now)
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
