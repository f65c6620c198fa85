import FederationRouting
import SIPCore
import SIPEvents

/// Relays the publications of users of one side to their domains, by requests of one method.
protocol PublicationRelay: ShardMember {
    associatedtype Bridge: RelayedPublication

    /// Side of the domains.
    static var side: DomainSide { get }

    var ports: any PublicationsPorts { get }
    var table: BridgeTable<Bridge> { get }

    /// Handles the final response to the newest request.
    func receiveAnswer(_ response: SIPResponse, for bridge: Bridge, at now: Instant)

    /// Handles a newest request that no server answered or was reached with.
    func notDelivered(_ bridge: Bridge, _ reason: String, at now: Instant)

    /// Processes what is due.
    func advance(_ bridge: Bridge, at now: Instant)

    /// Removes a bridge from the table, with all that concerns it alone.
    func remove(_ bridge: Bridge)
}

extension PublicationRelay {
    /// Number of relayed publications.
    var count: Int { table.count }

    /// Next hop for a user's publications; nil: the domain accepts none from this gateway.
    func publishingHop(of uri: SIPURI) -> NextHop? {
        guard let domain = configuration.domain(uri.domainKey), !domain.hosted, domain.publish, domain.side == Self.side,
            domain.refuse == nil
        else { return nil }
        return hop(toward: uri, in: domain)
    }

    /// Refuses a new bridge if there are too many.
    /// - Parameter others: number of bridges of the other relay.
    func checkLimit(beside others: Int) throws(Refusal) {
        guard count + others < configuration.limits.publicationBridges else {
            counters.limitsReached += 1
            throw .unavailable("too many publications are carried to other domains", retryAfter: configuration.timing.retryAfter)
        }
    }

    // MARK: requests

    /// Sets the headers common to requests of both relays.
    func address(_ request: inout SIPRequest, of uri: SIPURI, _ dialogContext: DialogContext, epid: String? = nil) {
        request.headers.maxForwards = dialogContext.maxForwards
        var parameters = SIPParameters([.init("tag", tokens.tag())])
        if let epid { parameters.set("epid", epid) }
        request.headers.from = NameAddr(uri, parameters: parameters)
        request.headers.to = NameAddr(uri)
        request.headers.callID = dialogContext.callID
        request.headers.cSeq = CSeq(dialogContext.cSeq, request.method)
        request.headers.append(HopMark.header, dialogContext.hopMarks)
        assertIdentity(for: uri, on: &request, toward: configuration.domain(of: uri))
    }

    /// The origin of the newest request.
    func origin(of bridge: Bridge) -> RequestOrigin {
        let domain = bridge.uri.domainKey
        return RequestOrigin(
            ticket: table.ticket(of: bridge), mark: bridge.attempt, partner: partnerName(ofDomain: domain), domain: domain,
            isRepeatable: true)
    }

    /// The bridge of a request; nil: it is gone, or made another attempt since.
    func sender(of origin: RequestOrigin) -> Bridge? {
        table[origin.ticket].flatMap { $0.attempt == origin.mark ? $0 : nil }
    }

    /// Handles a final response.
    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, at now: Instant) {
        guard let bridge = sender(of: pendingRequest.origin) else { return }
        if followRedirect(response, to: pendingRequest, of: bridge, at: now) { return }
        receiveAnswer(response, for: bridge, at: now)
    }

    /// Handles a request that no server answered or was reached with.
    func notDelivered(_ origin: RequestOrigin, _ reason: String, at now: Instant) {
        guard let bridge = sender(of: origin) else { return }
        notDelivered(bridge, reason, at: now)
    }

    /// Gives a repeated request the next number of its sequence (RFC 3261 22.2).
    /// - Returns: false if the request is obsolete.
    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard var cSeq = request.headers.cSeq, let bridge = sender(of: origin) else { return false }
        cSeq.number = bridge.nextNumber()
        keep(.bridge(bridge.key))
        request.headers.cSeq = cSeq
        return true
    }

    /// Whether a domain's server, instead of one of the user alone, was not reached.
    func asksDomain(_ ticket: Ticket) -> Bool {
        guard let uri = table[ticket]?.uri else { return false }
        return hop(toward: uri) == hop(toward: SIPURI(host: uri.domainKey))
    }

    // MARK: redirections

    /// Sends a publication to the target of a 3xx (RFC 3261 8.1.3.4).
    /// - Returns: false if the redirection is not followed; the response is processed then.
    private func followRedirect(
        _ response: SIPResponse, to pendingRequest: PendingRequest, of bridge: Bridge, at now: Instant
    ) -> Bool {
        guard response.isRedirection, var request = pendingRequest.repeatable?.request,
            let hop = publishingHop(of: bridge.uri)
        else { return false }
        var visited = bridge.dialogContext.redirections
        let target = ports.redirection(
            of: response, from: request.requestURI, visited: &visited, of: bridge.uri.domainKey, by: hop, beside: nil)
        bridge.noteRedirections(visited)
        guard let target, renumber(&request, of: pendingRequest.origin) else { return false }
        request.requestURI = target.uri.requestURI
        request.headers.remove(.authorization)
        request.headers.remove(.proxyAuthorization)
        if let before = request.headers.contact, var contact = NameAddr(contact(by: target.requestRoute)) {
            contact.parameters = before.parameters
            request.headers.set(.contact, contact.description)
        }
        send(request, by: target.requestRoute, for: pendingRequest.origin, at: now)
        return true
    }

    // MARK: life

    /// Handles a timer that is due.
    func timerDue(_ ticket: Ticket, at now: Instant) {
        if let bridge = table[ticket] { advance(bridge, at: now) }
    }

    func schedule(_ bridge: Bridge) {
        guard table.contains(bridge) else { return }
        timers.set(table.ticket(of: bridge), at: bridge.nextDeadline)
    }

    /// Drops an idle bridge, or schedules its next deadline.
    func settle(_ bridge: Bridge) {
        guard table.contains(bridge) else { return }
        guard bridge.isIdle else { return schedule(bridge) }
        remove(bridge)
        forget(bridge)
        keep(.bridge(bridge.key))
    }

    private func forget(_ bridge: Bridge) {
        guard let ticket = table.forget(bridge) else { return }
        timers.set(ticket, at: nil)
    }
}
