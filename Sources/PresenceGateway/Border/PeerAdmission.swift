import FederationRouting
import SIPCore

/// The peers of this node: for which users each may send, and which of its header fields are accepted (RFC 5922 7.3, RFC 3325 5).
///
/// It depends on the configuration and on the located servers of partners. It has no dialogs and no transactions.
struct PeerAdmission {
    /// Key of a checked peer, with all properties that the check depends on.
    private struct Key: Hashable {
        var host: String
        var isEncrypted: Bool
        var identity: PeerIdentity?
        var domains: [String]
    }

    /// Bound of ``known``, because a listener may have any number of peers.
    private static let knownLimit = 4_096

    private var configuration: GatewayConfiguration
    /// Addresses and names of the servers of each domain, by configuration and by location.
    private(set) var table: PeerTable
    /// Checked peers; emptied by each new configuration.
    private var known: [Key: Peer] = [:] { didSet { latest = nil } }
    /// Entry of ``known`` that was used last: the checks of one request ask several times.
    private var latest: (key: Key, peer: Peer)?

    init(_ configuration: GatewayConfiguration, routes: RoutingTable) {
        self.configuration = configuration
        table = PeerTable(routes)
    }

    /// Applies a new configuration.
    /// - Parameter located: results of location that are still valid.
    mutating func use(_ configuration: GatewayConfiguration, routes: RoutingTable, located: [HopTarget: NextHopResolver.Known]) {
        self.configuration = configuration
        table = PeerTable(routes)
        for (hopTarget, result) in located { table.located.note(result.result, of: hopTarget, until: result.until) }
        known = [:]
    }

    /// Records located servers; a hop target that was not located removes its earlier servers.
    mutating func noteLocated(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant) {
        table.located.note(result, of: hopTarget, until: until)
    }

    // MARK: rights of a peer

    /// The domains for which a peer may send, and its rights.
    mutating func peer(at remote: TransportAddress, proving identity: PeerIdentity?, at now: Instant) -> Peer {
        let isEncrypted = remote.transport == .tls
        let domains = isEncrypted ? [] : table.located.domains(of: remote.host, at: now)
        let key = Key(host: remote.host, isEncrypted: isEncrypted, identity: identity, domains: domains)
        if let latest, latest.key == key { return latest.peer }
        if let peer = known[key] {
            latest = (key, peer)
            return peer
        }
        if known.count >= Self.knownLimit { known.removeAll(keepingCapacity: true) }
        let peer = table.peer(at: remote, proving: identity, locatedIn: domains)
        known[key] = peer
        latest = (key, peer)
        return peer
    }

    /// Checks whether a peer may send for a user, which may differ from From.
    mutating func verdict(on flow: Flow, speakingFor user: SIPURI, at now: Instant) -> SpeakerVerdict {
        table.verdict(
            on: peer(at: flow.remote, proving: flow.peer, at: now), speakingFor: user,
            usersSignIn: configuration.asksUsersToSignIn(at: flow.local))
    }

    /// Whether the source address of a request proves nothing: a datagram from an address that no entry names.
    mutating func isStranger(_ source: MessageSource, at now: Instant) -> Bool {
        source.remote.transport == .udp && !peer(at: source.remote, proving: nil, at: now).isNamed
    }

    /// Whether the peer certainly may send for a user or a domain.
    mutating func isSpeaker(_ flow: Flow, for user: SIPURI, at now: Instant) -> Bool {
        switch verdict(on: flow, speakingFor: user, at: now) {
        case .partner, .user: true
        case .unknown, .unauthorized: false
        }
    }

    /// Whether a request comes from the remote end of a watcher's dialog: the same user, through a peer that may send for it.
    /// - Parameter key: canonical key of the watcher.
    mutating func isRemoteEnd(_ key: String, _ request: SIPRequest, _ flow: Flow, at now: Instant) -> Bool {
        guard let from = request.headers.from?.uri, let sender = try? RequestScreening.sender(of: request),
            [from, sender].contains(where: { configuration.canonical($0).aorKey == key })
        else { return false }
        return isSpeaker(flow, for: speaker(from, of: request.method, on: flow, at: now), at: now)
    }

    /// Checks the first Record-Route of a dialog.
    /// - Throws: 403 if it names a host outside the remote user's domain (RFC 3261 12.1.1), because it would direct our requests to third
    ///   parties.
    mutating func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow, at now: Instant) throws(Refusal) {
        guard let next = request.headers.recordRoutes.first?.uri else { return }
        let host = next.maddr ?? next.domainKey
        if table.isAddress(host, of: user, beside: peer(at: flow.remote, proving: flow.peer, at: now), at: now) { return }
        var refusal = Refusal.forbidden("RFC 3261 12.1.1: Record-Route leads to somebody else", errorID: 1_002)
        refusal.detail = "\(flow.remote.host) sent a Record-Route that leads to \(next.host), which is no peer of \(user.domainKey)"
        throw refusal
    }

    // MARK: header fields

    /// Removes header fields that only a trusted neighbour may send (RFC 3325 5, MS-SIPRE 2.2.15), and marks anonymous senders.
    mutating func stripUntrustedHeaders(_ request: inout SIPRequest, from flow: Flow, at now: Instant) {
        let peer = peer(at: flow.remote, proving: flow.peer, at: now)
        markAnonymous(&request, from: flow, at: now)
        for name in SIPHeaders.trustHeaderNames {
            let isEdgeMark = name == .msSourceNetwork || name == .msEdgeProxyMessageTrust
            if isEdgeMark ? !peer.isEdge : !peer.isTrusted { request.headers.remove(name) }
        }
        // A trusted neighbour asserts identities only of users for which it may send.
        guard request.headers.contains(.pAssertedIdentity) else { return }
        var isSound = true
        for asserted in request.headers.assertedIdentities where asserted.uri.scheme.hasHost && isSound {
            isSound = isSpeaker(flow, for: asserted.uri, at: now)
        }
        if !isSound { request.headers.remove(.pAssertedIdentity) }
    }

    /// URI that decides about a request: From; for an anonymous SUBSCRIBE the anonymous user of the peer's partner (RFC 3323 4.1.1.3).
    ///
    /// From is kept if the peer is no server of a partner with an entry of its own.
    mutating func speaker(_ from: SIPURI, of method: SIPMethod, on flow: Flow, at now: Instant) -> SIPURI {
        anonymousSpeaker(from, of: method, on: flow, at: now) ?? from
    }

    /// The anonymous user of the peer's partner; nil: From decides.
    private mutating func anonymousSpeaker(_ from: SIPURI, of method: SIPMethod, on flow: Flow, at now: Instant) -> SIPURI? {
        guard method == .subscribe, AnonymousUser.isWritten(from), configuration.domains[from.domainKey] == nil,
            let partner = peer(at: flow.remote, proving: flow.peer, at: now).domains.first(where: { $0 != RoutingTable.fallbackName })
        else { return nil }
        return AnonymousUser.uri(of: partner)
    }

    /// Adds a mark with the anonymous sender for ``RequestScreening/sender(of:)``, which knows no flows; removes a received mark.
    private mutating func markAnonymous(_ request: inout SIPRequest, from flow: Flow, at now: Instant) {
        request.headers.remove(RequestScreening.anonymousMark)
        guard request.method == .subscribe, let from = request.headers.from?.uri,
            let speaker = anonymousSpeaker(from, of: request.method, on: flow, at: now), speaker != from
        else { return }
        request.headers.set(RequestScreening.anonymousMark, speaker.description)
    }
}
