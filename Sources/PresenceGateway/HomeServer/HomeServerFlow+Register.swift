import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents

/// REGISTER of the users of hosted domains (RFC 3261 10.3, MS-SIPREGE 3.2), and cleanup after an endpoint ends.
extension HomeServerFlow {
    func receiveRegister(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard !isShuttingDown else {
            throw .unavailable("this node is shutting down", retryAfter: configuration.timing.retryAfter)
        }
        guard let to = request.headers.to?.uri else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        guard [.sip, .sips].contains(to.scheme) else { throw .badRequest("RFC 3261 10.3: To is no SIP or SIPS URI") }
        let parties = try screening.parties(request, presentity: to)
        guard parties.presentityDomain.hosted else {
            throw Refusal(.notFound, "RFC 3261 10.3: this node is not the registrar of that domain", errorID: 4005)
        }
        guard parties.watcherKey == parties.presentityKey else {
            throw .forbidden("RFC 3261 10.2: nobody registers for somebody else")
        }
        let outcome: Registrar.Outcome
        let asksKeepAlive: Bool
        do throws(RegistrationRefusal) {
            let registration = try RegistrationRequest(request, model: parties.presentityDomain.side == .enterprise ? .enterprise : .simple)
            asksKeepAlive = registration.asksKeepAlive
            outcome = try home.registrar.register(
                registration, user: parties.presentityKey,
                from: MessageSource(local: flow.local, remote: flow.remote, connection: flow.connection),
                at: now)
        } catch {
            if error.status == .serviceUnavailable || error.status == .forbidden { counters.limitsReached += 1 }
            throw Refusal(error, retryAfter: configuration.timing.retryAfter)
        }
        var response = SIPResponse(to: request, status: .ok, toTag: tokens.tag())
        write(outcome, of: parties, asksKeepAlive: asksKeepAlive, onto: &response, at: now)
        log(
            .debug, "registration",
            ["user": parties.presentityKey, "action": outcome.action?.rawValue ?? "none", "bindings": String(outcome.bindings.count)])
        for binding in outcome.bindings + outcome.ended.map(\.binding) { keep(binding) }
        note(leaving: outcome.ended.map(\.binding), at: now)
        respond(response, transaction, at: now)
        // Dialogs follow a registration only once it is committed.
        whenKept(at: now) { [unowned self] now in
            if outcome.action != nil, let binding = outcome.bindings.first {
                if outcome.isNewClient, let endpoint = binding.endpoint {
                    // A restarted client does not know its earlier dialogs.
                    ports.endDialogs(of: EndpointKey(watcher: binding.user, endpoint: endpoint), at: now)
                } else {
                    ports.moveDialogs(to: binding, at: now)
                }
            }
            bindingsEnded(outcome.ended, at: now)
        }
        scheduleRegistrar()
    }

    /// Writes the 200. Enterprise clients compare whole Supported lines, and split Allow-Events at commas without trimming.
    private func write(
        _ outcome: Registrar.Outcome, of parties: RequestScreening.Parties, asksKeepAlive: Bool, onto response: inout SIPResponse,
        at now: Instant
    ) {
        for binding in outcome.bindings {
            var contact = binding.contact
            contact.parameters = SIPParameters([.init("expires", String(max(0, (binding.expiry - now).seconds)))])
            if let endpoint = binding.endpoint {
                contact.parameters.set("+sip.instance", "<urn:uuid:\(endpoint)>", isQuoted: true)
                contact.parameters.set("gruu", endpoint.gruu(of: parties.presentity).description, isQuoted: true)
            }
            response.headers.append(.contact, contact.description)
        }
        response.headers.append(.expires, String(outcome.expires))
        guard parties.presentityDomain.side == .enterprise else { return }
        if let action = outcome.action { response.headers.append(.presenceState, "register-action=\"\(action.rawValue)\"") }
        response.headers.append(.allowEvents, ports.eventPackages.joined(separator: ","))
        response.headers.append(.supported, "adhoclist")
        response.headers.append(.supported, "msrtc-event-categories")
        if asksKeepAlive {
            response.headers.append(.msKeepAlive, "UAS; tcp=no; hop-hop=yes; end-end=no; timeout=\(Self.keepAliveSeconds)")
        }
    }

    /// Seconds of silence after which a client sends CRLFCRLF (MS-CONMGMT 2.2.1).
    private static let keepAliveSeconds = 300

    /// Remembers the connections of removed bindings until the commit, since the store has none.
    private func note(leaving ended: [Binding], at now: Instant) {
        guard store != nil, !ended.isEmpty else { return }
        let sources = ended.map { (StoreKey.registration(user: $0.user, place: $0.storedPlace), $0.source) }
        for (key, source) in sources { leaving[key] = source }
        whenKept(at: now) { [unowned self] _ in for (key, _) in sources { leaving[key] = nil } }
    }

    // MARK: ended registrations

    /// Ends the dialogs of endpoints without a binding, and the publications that depend on them (MS-PRES 3.2.5.5).
    func bindingsEnded(_ ended: [Registrar.Ended], at now: Instant) {
        for end in ended {
            log(.debug, "registration ended", ["user": end.binding.user, "last": String(end.isLast)])
            keep(end.binding)
            guard let endpoint = end.binding.endpoint else { continue }
            ports.endDialogs(of: EndpointKey(watcher: end.binding.user, endpoint: endpoint), at: now)
            let isLast = end.isLast && !ports.hasUnregisteredEndpoints(end.binding.user)
            ports.endpointsEnded([endpoint.description], of: end.binding.user, isLast: isLast, at: now)
        }
    }

    /// Starts the grace period of the bindings of a closed connection.
    func registrationConnectionEnded(_ connection: ConnectionID, at now: Instant) {
        home.registrar.connectionClosed(connection, at: now)
        scheduleRegistrar()
    }

    func advanceRegistrar(at now: Instant) {
        bindingsEnded(home.registrar.advance(to: now), at: now)
        scheduleRegistrar()
    }

    func scheduleRegistrar() { timers.set(HomeServerFlow.registrar, at: home.registrar.nextDeadline) }
}

extension Refusal {
    fileprivate init(_ refusal: RegistrationRefusal, retryAfter: Int) {
        self.init(refusal.status, refusal.explanation, errorID: refusal.errorID)
        if let minimum = refusal.minimumExpires { headers.append(Header(.minExpires, String(minimum))) }
        if !refusal.required.isEmpty { headers.append(Header(.require, refusal.required.joined(separator: ", "))) }
        if refusal.status == .serviceUnavailable { headers.append(Header(.retryAfter, String(retryAfter))) }
    }
}
