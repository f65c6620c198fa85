import FederationRouting
import SIPCore

/// Admission of requests, decided before any other processing (RFC 5922 7.3, RFC 3325 5).
///
///     retransmission?  --> repeated response (transaction layer)
///     may the peer send for From?  --no--> 403, no state kept
///                                  --DNS needed--> it waits
///     header fields reserved for trusted neighbours  --> removed
///     in a dialog: is it the remote end?  --no--> as if the dialog did not exist
extension Gateway {
    /// Key of a checked peer, with all properties that the check depends on.
    struct PeerKey: Hashable {
        var host: String
        var isEncrypted: Bool
        var identity: PeerIdentity?
        var domains: [String]
    }

    private static let knownPeerLimit = 4_096

    func peer(at remote: TransportAddress, proving identity: PeerIdentity?) -> Peer {
        let isEncrypted = remote.transport == .tls
        let domains = isEncrypted ? [] : peerTable.located.domains(of: remote.host, at: commitLog.now)
        let key = PeerKey(host: remote.host, isEncrypted: isEncrypted, identity: identity, domains: domains)
        if let known = knownPeers[key] { return known }
        // Bounded, because a listener may have any number of peers.
        if knownPeers.count >= Self.knownPeerLimit { knownPeers.removeAll(keepingCapacity: true) }
        let peer = peerTable.peer(at: remote, proving: identity, locatedIn: domains)
        knownPeers[key] = peer
        return peer
    }

    /// Checks whether a peer may send for a user, which may differ from From.
    func verdict(on flow: Flow, speakingFor uri: SIPURI) -> SpeakerVerdict {
        let local = flow.local
        return peerTable.verdict(
            on: peer(at: flow.remote, proving: flow.peer), speakingFor: uri, usersSignIn: configuration.asksUsersToSignIn(at: local))
    }

    /// Decides about the admission of a request.
    /// - Parameter message: the received message, kept if it has to wait.
    func admission(
        of request: SIPRequest, from source: MessageSource, in message: InboundMessage, at now: Instant
    ) -> TransactionLayer.Admission {
        let admitted: TransactionLayer.Admission = isStranger(source) ? .stranger : .admitted
        // OPTIONS only asks whether the gateway is alive, so its sender is not checked.
        guard request.method != .options, let written = request.headers.from?.uri else { return admitted }
        let from = speaker(written, of: request.method, on: Flow(source))
        var verdict = verdict(on: Flow(source), speakingFor: from)
        if case .unauthorized = verdict, source.remote.transport != .tls {
            switch locateSpeakers(for: from, message, at: now) {
            case .known: break
            case .found: verdict = self.verdict(on: Flow(source), speakingFor: from)
            case .waiting: return .postponed
            case .full:
                return turnAway(request, source, .unavailable("too many requests wait for the servers of this domain", retryAfter: 2))
            }
        }
        switch verdict {
        case .partner(let partner):
            return slowDown(partner, at: now).map { turnAway(request, source, $0) } ?? .admitted
        case .unauthorized(let reason):
            return turnAway(request, source, refusal(ofUnauthorizedPeer: request, from: source, as: from, because: reason, at: now))
        case .user, .unknown:
            return admitted
        }
    }

    /// Whether the source address of a request proves nothing: a datagram from an address that no entry names.
    private func isStranger(_ source: MessageSource) -> Bool {
        source.remote.transport == .udp && !peer(at: source.remote, proving: nil).isNamed
    }

    private func turnAway(_ request: SIPRequest, _ source: MessageSource, _ refusal: Refusal) -> TransactionLayer.Admission {
        // Without state, each retransmission gets the same To tag (RFC 3261 8.2.7).
        var response = SIPResponse(to: request, status: refusal.status, toTag: tokens.repeatableTag(for: request))
        refusal.apply(to: &response, side: screening.side(of: request), node: configuration.nodeName)
        if isStranger(source) { response.keepRequired() }
        return .refused(response)
    }

    private func refusal(
        ofUnauthorizedPeer request: SIPRequest, from source: MessageSource, as from: SIPURI, because reason: String, at now: Instant
    ) -> Refusal {
        counters.unauthorizedPeersRefused += 1
        if let partner = partnerName(of: from) { partners.count(\.unauthorizedPeers, of: partner) }
        let refusal = Refusal.forbidden("RFC 5922 7.3: this peer may not speak for the domain of From", errorID: 1_002)
        if unauthorizedPeers.isNews(UnauthorizedPeerKey(host: source.remote.host, domain: from.domainKey), at: now) {
            log(
                .notice, "peer may not speak for the sender",
                ["peer": source.remote.description, "reason": reason, "call-id": request.headers.callID ?? ""])
            note(refusal, of: request, because: reason, at: now)
        }
        return refusal
    }

    /// Removes header fields that only a trusted neighbour may send (RFC 3325 5, MS-SIPRE 2.2.15).
    func stripUntrustedHeaders(_ request: inout SIPRequest, from flow: Flow) {
        let peer = peer(at: flow.remote, proving: flow.peer)
        markAnonymous(&request, from: flow)
        for name in SIPHeaders.trustHeaderNames {
            let isEdgeMark = name == .msSourceNetwork || name == .msEdgeProxyMessageTrust
            if isEdgeMark ? !peer.isEdge : !peer.isTrusted { request.headers.remove(name) }
        }
        // A trusted neighbour asserts identities only of users for which it may send.
        guard request.headers.contains(.pAssertedIdentity) else { return }
        let isSound = request.headers.assertedIdentities.allSatisfy { !$0.uri.scheme.hasHost || isSpeaker(flow, for: $0.uri) }
        if !isSound { request.headers.remove(.pAssertedIdentity) }
    }

    /// Checks the first Record-Route of a dialog.
    /// - Throws: 403 if it names a host outside the remote user's domain (RFC 3261 12.1.1), because it would direct our requests to third
    ///   parties.
    func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow) throws(Refusal) {
        guard let next = request.headers.recordRoutes.first?.uri else { return }
        let host = next.maddr ?? next.domainKey
        if peerTable.isAddress(host, of: user, beside: peer(at: flow.remote, proving: flow.peer), at: commitLog.now) { return }
        var refusal = Refusal.forbidden("RFC 3261 12.1.1: Record-Route leads to somebody else", errorID: 1_002)
        refusal.detail = "\(flow.remote.host) sent a Record-Route that leads to \(next.host), which is no peer of \(user.domainKey)"
        throw refusal
    }

    /// Whether a request comes from the remote end of a watcher's dialog: the same user, through a peer that may send for it.
    func isRemoteEnd(_ key: String, _ request: SIPRequest, _ flow: Flow) -> Bool {
        guard let from = request.headers.from?.uri, let sender = try? screening.sender(of: request),
            [from, sender].contains(where: { configuration.canonical($0).aorKey == key })
        else { return false }
        return isSpeaker(flow, for: speaker(from, of: request.method, on: flow))
    }

    /// Whether the peer certainly may send for a user or a domain.
    func isSpeaker(_ flow: Flow, for uri: SIPURI) -> Bool {
        switch verdict(on: flow, speakingFor: uri) {
        case .partner, .user: true
        case .unknown, .unauthorized: false
        }
    }
}

extension PeerTable {
    /// Whether responses to a sender may go to another host: only to a server of the same partner.
    var isAnswerAddress: @Sendable (String, MessageSource) -> Bool {
        { isServer($0, beside: peer(at: $1.remote, proving: $1.peer)) }
    }
}

/// Source and claimed domain of a refused request.
struct UnauthorizedPeerKey: Hashable {
    var host: String
    var domain: String
}

extension GatewayConfiguration {
    /// Whether senders from hosted domains are challenged for credentials at this listener.
    func asksUsersToSignIn(at local: TransportAddress) -> Bool {
        !authentication.isEmpty && authentication(at: local).map { $0.schemes != .none } ?? false
    }
}
