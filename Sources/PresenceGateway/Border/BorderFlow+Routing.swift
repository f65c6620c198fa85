import FederationRouting
import SIPCore
import SIPEvents

/// Next hops, and routes within dialogs: only to the remote party's own servers.
extension BorderFlow {
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

    /// Whether routes by a next hop over a connection are the same until the configuration changes: no address that they depend on is
    /// located by name.
    func isLasting(_ hop: NextHop?) -> Bool {
        if case .located? = hop { return false }
        return peerTable.located.isEmpty
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
        let peer = peer(at: remote, proving: flow?.peer)
        return peerTable.isAddress(host, of: user, beside: peer, at: commitLog.now)
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
}
