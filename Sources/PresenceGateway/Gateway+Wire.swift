import SIPCore
import SIPEvents

/// Addresses, hops and the sending of requests.
extension Gateway {
    static func sentBy(_ configuration: GatewayConfiguration) -> [TransportProtocol: TransactionLayer.HostPort] {
        var result: [TransportProtocol: TransactionLayer.HostPort] = [:]
        for transport in TransportProtocol.allCases {
            let listener = configuration.listeners.first { $0.transport == transport } ?? configuration.listeners.first
            result[transport] = .init(
                configuration.advertisedHost ?? listener?.host ?? configuration.nodeName, listener?.port ?? transport.defaultPort)
        }
        return result
    }

    /// The stable Contact of this node over a transport (RFC 6665 4.4.1 asks for a GRUU; this address names the node for good).
    func contact(_ transport: TransportProtocol) -> String { contacts[transport] ?? "<sip:\(configuration.nodeName)>" }

    static func contacts(_ places: [TransportProtocol: TransactionLayer.HostPort]) -> [TransportProtocol: String] {
        var result: [TransportProtocol: String] = [:]
        for (transport, place) in places {
            let host = place.host.utf8.contains(UInt8(ascii: ":")) ? "[\(place.host)]" : place.host
            result[transport] = "<sip:\(host):\(place.port)\(transport == .udp ? "" : ";transport=\(transport.rawValue)")>"
        }
        return result
    }

    static func places(_ places: [TransportProtocol: TransactionLayer.HostPort]) -> Set<String> {
        let own = places.filter { !["0.0.0.0", "::"].contains($0.value.host) }
        return Set(own.map { Via($0.key, host: $0.value.host, port: $0.value.port, branch: "").sentBy })
    }

    /// Where a request within a dialog goes: the route set or the remote target (RFC 3261 12.2.1.1), over the dialog's own
    /// connection while it lives. Names that are no addresses are left to the domain's route, or to the place the dialog came from.
    func destination(of dialog: Dialog, flow: Flow?, route: TransportAddress?) -> (Destination, TransportProtocol) {
        let next = dialog.nextHop
        let known = flow?.remote ?? route
        var address: TransportAddress?
        if Self.isAddress(next.host) {
            let transport = next.transport ?? known?.transport ?? .udp
            address = TransportAddress(transport, next.host, next.port ?? transport.defaultPort)
        }
        if known?.transport == .tls {
            // What began over TLS stays there, and whoever answers at an address proves the partner's name.
            if address?.transport != .tls { address = nil }
            address?.provenName = route?.provenName ?? flow?.remote.provenName ?? route?.host
        }
        if let flow, let connection = flow.connection {
            return (.connection(connection, fallback: address ?? route ?? flow.remote), flow.local.transport)
        }
        let target = address ?? route ?? flow?.remote ?? TransportAddress(.udp, next.host, next.port ?? 5060)
        return (.address(target, from: listener(for: target.transport, flow: flow)), target.transport)
    }

    func listener(for transport: TransportProtocol, flow: Flow?) -> TransportAddress? {
        guard transport == .udp else { return nil }
        if let local = flow?.local, local.transport == .udp { return local }
        return configuration.listeners.first { $0.transport == .udp }
    }

    /// Whether the text is an address rather than a name: digits and dots, or a colon.
    static func isAddress(_ host: String) -> Bool {
        host.utf8.contains(UInt8(ascii: ":"))
            || (!host.isEmpty && host.utf8.allSatisfy { $0 == UInt8(ascii: ".") || (0x30...0x39).contains($0) })
    }

    /// Sends a request in a transaction of its own.
    func send(_ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, for purpose: Awaiting, at now: Instant)
    {
        var request = request
        request.headers.set(.userAgent, Self.product)
        counters.requestsSent += 1
        guard store == nil else { return desk.staged.append(.request(request, destination, transport, purpose)) }
        begin(request, to: destination, over: transport, for: purpose, at: now)
    }

    /// The transaction itself, once what the request depends on is kept.
    func begin(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, for purpose: Awaiting, at now: Instant
    ) {
        var request = request
        sign(&request, to: destination, at: now)
        // Of a NOTIFY that arrived nothing more is asked.
        var isBrief = false
        if case .notify = purpose { isBrief = true }
        let (transaction, actions) = transactions.send(request, to: destination, over: transport, isBrief: isBrief, at: now)
        counters.limitsReached += transactions.takeTurnedAway()
        awaiting[transaction] = purpose
        perform(actions, at: now)
    }

    /// Sends a BENOTIFY: no transaction, no answer (MS-SIP 3.5).
    /// - Parameter tag: ours, of the dialog.
    func sendWithoutAnswer(
        _ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, tag: String, at now: Instant
    ) {
        var request = request
        request.headers.set(.userAgent, Self.product)
        counters.requestsSent += 1
        guard store == nil else { return desk.staged.append(.unanswered(request, destination, transport, tag: tag)) }
        emit(request, to: destination, over: transport, at: now)
    }

    /// The BENOTIFY itself, once what it depends on is kept.
    func emit(_ request: SIPRequest, to destination: Destination, over transport: TransportProtocol, at now: Instant) {
        var request = request
        sign(&request, to: destination, at: now)
        perform(transactions.sendUnanswered(request, to: destination, over: transport), at: now)
    }
}
