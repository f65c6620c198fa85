import FederationRouting
import SIPCore
import SIPEvents

/// Routes, next hops and the sending of requests.
extension Gateway {
    /// Route of a request within a dialog: the route set or the remote target (RFC 3261 12.2.1.1), over the dialog's connection while it
    /// is open. Names are looked up only within a domain that is itself looked up. Other names, and addresses that are not the remote
    /// party's, are replaced by the domain's next hop or the dialog's source. A dialog that began over TLS stays on TLS.
    /// - Parameter user: the remote party, or a user of its domain.
    func requestRoute(of dialog: Dialog, flow: Flow?, hop: NextHop?, to user: SIPURI) -> RequestRoute {
        var next = dialog.nextHop
        if let host = next.maddr { next.host = host }
        var route: TransportAddress?
        if case .fixed(let address)? = hop { route = address }
        let usual = transport(toward: hop)
        let isSecure = next.transport == .tls || (flow?.remote ?? route)?.transport == .tls || route == nil && usual == .tls
        var address: TransportAddress?
        // Until the domain is located, as after a restart, only TLS is certain to be the transport of the dialog.
        let isUnsure = hop != nil && usual == nil && flow == nil && !isSecure
        if TransportAddress.isNumeric(next.host), !isUnsure {
            let transport = next.transport ?? flow?.remote.transport ?? usual ?? .udp
            address = TransportAddress(transport, next.host, next.port ?? transport.defaultPort)
            // Without TLS, send only to the peer's own servers, so that the gateway cannot be used to attack third parties.
            if !isSecure, !isAddress(next.host, of: user, flow, hop) { address = nil }
        }
        if isSecure, let secure = address {
            // The server at the address must prove the partner's name.
            address = secure.transport == .tls ? proving(secure, by: hop, flow) : nil
        }
        if let flow, let connection = flow.connection {
            let transport = flow.local.transport
            return .direct(
                .connection(connection, fallback: address ?? route ?? (hop == nil ? flow.remote : nil)), transport,
                own: ownAddresses.address(transport, toward: flow.remote, local: flow.local))
        }
        if address == nil, case .located(let hopTarget)? = hop {
            return .located(isUnsure ? hopTarget : hopTargetWithinDialog(next, of: hopTarget, isSecure: isSecure))
        }
        let target = address ?? route ?? flow?.remote ?? TransportAddress(.udp, next.host, next.port ?? 5060)
        return requestRoute(to: target, flow: flow)
    }

    /// Whether requests to the remote party of a dialog may go to an address: that of one of its servers, or the dialog's source.
    func isAddress(_ host: String, of user: SIPURI, _ flow: Flow?, _ hop: NextHop?) -> Bool {
        switch hop {
        case .fixed(let route)? where route.host == host: return true
        case .located(let hopTarget)?:
            if case .success(let plan)? = hops.known[hopTarget]?.result,
                plan.servers.contains(where: { $0.addresses.contains { $0.host == host } })
            {
                return true
            }
        default: break
        }
        let remote = flow?.remote ?? TransportAddress(.udp, "", 0)
        return peers.table.isAddress(host, of: user, beside: peer(at: remote, proving: flow?.peer), at: commitLog.now)
    }

    /// Transport of a next hop; of several, TLS if listed. nil: not located yet.
    func transport(toward hop: NextHop?) -> TransportProtocol? {
        switch hop {
        case .fixed(let route)?: return route.transport
        case .located(let hopTarget)?:
            if hopTarget.isSecure { return .tls }
            switch hopTarget.lookup {
            case .enterprise: return .tls
            case .listed(let listed):
                return listed.contains { $0.address.transport == .tls } ? .tls : listed.first?.address.transport
            case .standard: return hops.known[hopTarget]?.transport
            }
        case nil: return nil
        }
    }

    /// Address with the name that its TLS peer must prove, as for the domain's next hop; nil: the name is not known.
    func proving(_ address: TransportAddress, by hop: NextHop?, _ flow: Flow?) -> TransportAddress? {
        var address = address
        switch hop {
        case .fixed(let route)?:
            address.provenName = route.provenName ?? (route.transport == .tls ? route.host : flow?.remote.provenName)
        case .located(let hopTarget)?:
            var known: TransportAddress?
            if case .success(let plan)? = hops.known[hopTarget]?.result {
                known = plan.servers.flatMap(\.addresses).first { $0.transport == .tls && $0.host == address.host }
            }
            if known == nil, case .standard = hopTarget.lookup {
                address.provenName = hopTarget.host
                return address
            }
            // Each enterprise server, and each listed server, proves a name of its own.
            guard let known else { return nil }
            address.provenName = known.provenName ?? hopTarget.host
        case nil: address.provenName = flow?.remote.provenName
        }
        return address
    }

    /// Narrows a goal to the dialog's own proxy or server, if it is named within the domain or listed, so that a peer cannot make the
    /// gateway look up or contact others.
    /// - Parameter isSecure: whether TLS is required.
    private func hopTargetWithinDialog(_ next: SIPURI, of hopTarget: HopTarget, isSecure: Bool) -> HopTarget {
        let host = next.domainKey
        var hopTarget = hopTarget
        if case .listed(let listed) = hopTarget.lookup {
            // A list without TLS is used as it is, unless the remote party itself asks for TLS.
            let offersTLS = listed.contains { $0.address.transport == .tls }
            hopTarget.isSecure = hopTarget.isSecure || isSecure && (offersTLS || next.transport == .tls)
            // Only the server that has the dialog knows it.
            let named = listed.filter { SIPURI(host: $0.address.host).domainKey == host }
            let exact = named.filter { $0.address.port == next.port }
            let own = exact.isEmpty ? named : exact
            if !own.isEmpty { hopTarget.lookup = .listed(own) }
            return hopTarget
        }
        hopTarget.isSecure = hopTarget.isSecure || isSecure
        guard host == hopTarget.host || host.hasSuffix("." + hopTarget.host) else { return hopTarget }
        switch hopTarget.lookup {
        case .listed: return hopTarget
        case .enterprise:
            return host == hopTarget.host ? hopTarget : HopTarget(host, .standard(transport: .tls, port: next.port), isSecure: true)
        case .standard:
            guard isSecure else {
                return HopTarget(host, .standard(transport: next.transport, port: next.port), isSecure: hopTarget.isSecure)
            }
            // A target on a transport other than TLS is ignored; the domain decides.
            if let transport = next.transport, transport != .tls { return hopTarget }
            return HopTarget(host, .standard(transport: .tls, port: next.port), isSecure: true)
        }
    }

    /// Next hop toward a user of another domain; nil: none.
    func hop(toward uri: SIPURI) -> NextHop? {
        let user = configuration.identities.identity(of: uri).uri
        return configuration.domain(user.domainKey).flatMap { hop(toward: user, in: $0) }
    }

    func hop(toward user: SIPURI, in domain: DomainConfiguration, isSecure: Bool = false) -> NextHop? {
        var isSecure = isSecure || user.isSecure
        if !isSecure, domain.discovery != nil, let (name, entry) = routes.entry(for: user.domainKey) { isSecure = entry.needsTLS(as: name) }
        return domain.nextHop(
            toward: user.domainKey, user: user.decodedUser, isSecure: isSecure, locatesNames: configuration.naming != nil)
    }

    /// Route of a request outside dialogs.
    func requestRoute(by hop: NextHop) -> RequestRoute {
        switch hop {
        case .fixed(let address): requestRoute(to: address, flow: nil)
        case .located(let hopTarget): .located(hopTarget)
        }
    }

    /// Route to an address.
    func requestRoute(to target: TransportAddress, flow: Flow?) -> RequestRoute {
        .direct(
            .address(target, from: listener(for: target, flow: flow)), target.transport,
            own: ownAddresses.address(target.transport, toward: target))
    }

    /// Listener that sends a datagram to the target; nil: none has the target's address family, or the transport is no datagram.
    func listener(for target: TransportAddress, flow: Flow?) -> TransportAddress? {
        guard target.transport == .udp else { return nil }
        if let local = flow?.local, Self.sends(from: local, to: target) { return local }
        return configuration.listeners.first { Self.sends(from: $0, to: target) }
    }

    /// Whether a listener's datagrams can reach a target; a name is accepted, because its address is found later.
    static func sends(from listener: TransportAddress, to target: TransportAddress) -> Bool {
        func isIPv6(_ address: TransportAddress) -> Bool { address.host.utf8.contains(UInt8(ascii: ":")) }
        return listener.transport == .udp && (!target.isNumeric || isIPv6(listener) == isIPv6(target))
    }

    /// Sends a request in a transaction; with a store, after the commit.
    func send(_ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, at now: Instant) {
        var request = request
        request.headers.set(.userAgent, Self.product)
        guard store == nil else { return commitLog.staged.append(.request(request, requestRoute, origin)) }
        begin(request, by: requestRoute, for: origin, at: now)
    }

    /// Sends a request, once the changes that it depends on are stored.
    func begin(_ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, at now: Instant) {
        counters.requestsSent += 1
        if request.method == .notify { counters.notificationsSent += 1 }
        noteSent(for: origin)
        switch requestRoute {
        case .direct(let destination, let transport, let own):
            begin(request, to: destination, over: transport, own: own, for: origin, at: now)
        case .located(let hopTarget): deliver(request, to: hopTarget, for: origin, isAnswered: true, at: now)
        }
    }

    /// Starts the transaction.
    /// - Parameters:
    ///   - own: this node's address in Via.
    ///   - delivery: the delivery that this is one attempt of.
    func begin(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin, as delivery: Delivery? = nil, at now: Instant
    ) {
        var request = request
        let repeatable = authorize(&request, to: destination, over: transport, own: own, for: origin)
        sign(&request, to: destination, at: now)
        let (transaction, actions) = transactions.send(
            request, to: destination, over: transport, sentBy: own, isBrief: origin.isBrief, connectPatience: connectPatience(of: delivery),
            at: now)
        counters.limitsReached += transactions.takeTurnedAway()
        var pendingRequest = PendingRequest(origin: origin, method: request.method, sentAt: now, repeatable: repeatable)
        if case .connection(let connection, _) = destination { pendingRequest.connection = connection }
        pendingRequests[transaction] = pendingRequest
        if let delivery { follow(delivery, transaction, at: now) }
        perform(actions, at: now)
    }

    /// Sends a BENOTIFY, which has no transaction and no response (MS-SIP 3.5).
    func sendWithoutAnswer(_ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, at now: Instant) {
        var request = request
        request.headers.set(.userAgent, Self.product)
        guard store == nil else { return commitLog.staged.append(.unanswered(request, requestRoute, origin)) }
        emit(request, by: requestRoute, for: origin, at: now)
    }

    /// Sends the BENOTIFY, once the changes that it depends on are stored.
    func emit(_ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, at now: Instant) {
        counters.requestsSent += 1
        counters.notificationsSent += 1
        if exists(origin) { noteSent(for: origin) }
        switch requestRoute {
        case .direct(let destination, let transport, let own):
            emit(request, to: destination, over: transport, own: own, for: origin, at: now)
        case .located(let hopTarget): deliver(request, to: hopTarget, for: origin, isAnswered: false, at: now)
        }
    }

    /// - Parameter target: the server that was chosen among several.
    func emit(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin, target: TransportAddress? = nil, at now: Instant
    ) {
        var request = request
        sign(&request, to: destination, at: now)
        var token: UInt64 = 0
        // The last BENOTIFY of an ended dialog is not repeated.
        if exists(origin) {
            var sent = UnansweredNotifications.Sent(origin: origin, target: target)
            if case .connection(let connection, _) = destination { sent.connection = connection }
            token = unanswered.add(sent)
        }
        perform(transactions.sendUnanswered(request, to: destination, over: transport, sentBy: own, token: token), at: now)
    }

    /// Whether the record of a request is still there.
    private func exists(_ origin: RequestOrigin) -> Bool { client(of: origin.ticket)?.exists(origin.ticket) ?? false }

    /// The flow of a ticket; nil: the kernel itself.
    func client(of ticket: Ticket) -> (any KernelClient)? {
        ticket.flow == .kernel ? nil : flows.clients[Int(ticket.flow.rawValue) - 1]
    }
}
