import FederationRouting
import SIPCore

/// The gateway's addresses in Via and Contact (RFC 3261 18.1.1, 8.1.1.8): the advertised address of the first listener with the transport
/// and address family of the flow. For a wildcard listener it is the local address of the flow.
struct OwnAddresses {
    typealias HostPort = TransactionLayer.HostPort

    private let listeners: [TransportAddress]
    private let advertised: [TransportAddress: HostPort]
    private let advertisedHost: String?
    private let nodeName: String
    private let lookup: (any LocalAddressLookup)?
    /// Every sent-by that is known without a flow, for detecting looped requests (RFC 3261 16.3).
    let fixed: Set<String>

    init(_ configuration: GatewayConfiguration, lookup: (any LocalAddressLookup)?) {
        listeners = configuration.listeners
        advertised = configuration.advertised
        advertisedHost = configuration.advertisedHost
        nodeName = configuration.nodeName
        self.lookup = lookup
        fixed = Set(
            configuration.listeners.compactMap { listener in
                let own =
                    configuration.advertised[listener] ?? HostPort(configuration.advertisedHost ?? listener.host, listener.port)
                guard !TransportAddress.wildcardHosts.contains(own.host) else { return nil }
                return Via(listener.transport, host: own.host, port: own.port, branch: "").sentBy
            })
    }

    /// The gateway's address toward a peer.
    /// - Parameters:
    ///   - remote: the peer; nil: not located yet.
    ///   - local: local end of the connection; nil: none yet, or a datagram.
    func address(_ transport: TransportProtocol, toward remote: TransportAddress?, local: TransportAddress? = nil) -> HostPort {
        let family = remote?.family ?? local?.family
        guard let listener = listener(transport, family) else { return HostPort(advertisedHost ?? nodeName, transport.defaultPort) }
        if let own = advertised[listener] { return own }
        if let advertisedHost { return HostPort(advertisedHost, listener.port) }
        guard listener.isWildcard else { return HostPort(listener.host, listener.port) }
        // Connections know their local end; for a datagram the system's routes decide.
        if let local, local.transport != .udp, local.isNumeric, !local.isWildcard, local.family == listener.family {
            return HostPort(local.host, listener.port)
        }
        let target = remote.flatMap { $0.isNumeric ? $0.host : nil } ?? Self.anyHost(listener.family)
        return HostPort(lookup?.localAddress(toward: target) ?? nodeName, listener.port)
    }

    private func listener(_ transport: TransportProtocol, _ family: TransportAddress.Family?) -> TransportAddress? {
        let same = listeners.filter { $0.transport == transport }
        let candidates = same.isEmpty ? listeners : same
        return candidates.first { family == nil || $0.family == family } ?? candidates.first
    }

    /// A documentation address, reached by the default route (RFC 5737, RFC 3849).
    private static func anyHost(_ family: TransportAddress.Family?) -> String { family == .ipv6 ? "2001:db8::1" : "192.0.2.1" }
}

extension OwnAddresses {
    /// The Contact over a transport, toward a peer that is not located yet (RFC 6665 4.4.1 requires a GRUU; this address names the gateway
    /// permanently).
    func contact(_ transport: TransportProtocol) -> String { Self.contact(transport, address(transport, toward: nil)) }

    /// The Contact of a request by this route.
    func contact(by requestRoute: RequestRoute) -> String {
        switch requestRoute {
        case .direct(_, let transport, let own): Self.contact(transport, own)
        case .located(let hopTarget): contact(NextHop.located(hopTarget).transport)
        }
    }

    /// The Contact of a response over this flow.
    func contact(over flow: Flow) -> String {
        let transport = flow.local.transport
        return Self.contact(transport, address(transport, toward: flow.remote, local: flow.local))
    }

    static func contact(_ transport: TransportProtocol, _ own: TransactionLayer.HostPort) -> String {
        let host = own.host.utf8.contains(UInt8(ascii: ":")) ? "[\(own.host)]" : own.host
        return "<sip:\(host):\(own.port)\(transport == .udp ? "" : ";transport=\(transport.rawValue)")>"
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
            own: address(target.transport, toward: target))
    }

    /// Listener that sends a datagram to the target; nil: none has the target's address family, or the transport is no datagram.
    func listener(for target: TransportAddress, flow: Flow?) -> TransportAddress? {
        guard target.transport == .udp else { return nil }
        if let local = flow?.local, Self.sends(from: local, to: target) { return local }
        return listeners.first { Self.sends(from: $0, to: target) }
    }

    /// Whether a listener's datagrams can reach a target; a name is accepted, because its address is found later.
    private static func sends(from listener: TransportAddress, to target: TransportAddress) -> Bool {
        func isIPv6(_ address: TransportAddress) -> Bool { address.host.utf8.contains(UInt8(ascii: ":")) }
        return listener.transport == .udp && (!target.isNumeric || isIPv6(listener) == isIPv6(target))
    }

    /// Whether a listener can send to a target; a datagram needs one of its kind.
    func reaches(_ target: TransportAddress) -> Bool {
        guard target.transport == .udp else { return true }
        return listeners.contains { Self.sends(from: $0, to: target) }
    }
}
