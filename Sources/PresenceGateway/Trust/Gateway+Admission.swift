import FederationRouting
import SIPCore

/// The border: who may say what, decided before anything is done for a request (RFC 5922 7.3, RFC 3325 5).
///
///     copy of a request?  --> repeated answer (transaction layer)
///     may the peer speak for From?  --no--> 403, nothing kept
///                                   --only the DNS can tell--> it waits
///     headers that only a trusted neighbour may write  --> removed
///     in a dialog: is it the dialog's far end?  --no--> as if the dialog did not exist
extension Gateway {
    /// What was found out of a sender, by all that it depends on.
    struct PeerKey: Hashable {
        var host: String
        var isEncrypted: Bool
        var identity: PeerIdentity?
        var domains: [String]
    }

    private static let knownPeerLimit = 4_096

    func peer(at remote: TransportAddress, proving identity: PeerIdentity?) -> Peer {
        let isEncrypted = remote.transport == .tls
        let domains = isEncrypted ? [] : peerTable.located.domains(of: remote.host, at: desk.now)
        let key = PeerKey(host: remote.host, isEncrypted: isEncrypted, identity: identity, domains: domains)
        if let known = knownPeers[key] { return known }
        // Behind a listener there may be any number.
        if knownPeers.count >= Self.knownPeerLimit { knownPeers.removeAll(keepingCapacity: true) }
        let peer = peerTable.peer(at: remote, proving: identity, locatedIn: domains)
        knownPeers[key] = peer
        return peer
    }

    /// Whether the sender may speak for a user, who need not be the one in From.
    func verdict(on flow: Flow, speakingFor uri: SIPURI) -> SpeakerVerdict {
        let local = flow.local
        return peerTable.verdict(
            on: peer(at: flow.remote, proving: flow.peer), speakingFor: uri, usersSignIn: configuration.asksUsersToSignIn(at: local))
    }

    /// Whether a request is let in.
    /// - Parameter message: what it was read from.
    func admission(
        of request: SIPRequest, from source: MessageSource, in message: InboundMessage, at now: Instant
    ) -> TransactionLayer.Admission {
        let admitted: TransactionLayer.Admission = isStranger(source) ? .stranger : .admitted
        // An OPTIONS asks whether this node lives, and is told no more.
        guard request.method != .options, let written = request.headers.from?.uri else { return admitted }
        let from = speaker(written, of: request.method, on: Flow(source))
        var verdict = verdict(on: Flow(source), speakingFor: from)
        if case .impostor = verdict, source.remote.transport != .tls {
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
        case .impostor(let reason):
            return turnAway(request, source, refusal(ofImpostor: request, from: source, as: from, because: reason, at: now))
        case .user, .unknown:
            return admitted
        }
    }

    /// Whether the source address of a request proves nothing: it came as a datagram, and no server or user that the configuration knows
    /// speaks from there.
    private func isStranger(_ source: MessageSource) -> Bool {
        source.remote.transport == .udp && !peer(at: source.remote, proving: nil).isNamed
    }

    private func turnAway(_ request: SIPRequest, _ source: MessageSource, _ refusal: Refusal) -> TransactionLayer.Admission {
        // Nothing is kept of the request: each copy is answered with the same tag (RFC 3261 8.2.7).
        var response = SIPResponse(to: request, status: refusal.status, toTag: tokens.repeatableTag(for: request))
        refusal.apply(to: &response, side: screening.side(of: request), node: configuration.nodeName)
        if isStranger(source) { response.keepRequired() }
        return .refused(response)
    }

    private func refusal(
        ofImpostor request: SIPRequest, from source: MessageSource, as from: SIPURI, because reason: String, at now: Instant
    ) -> Refusal {
        counters.impostorsRefused += 1
        if let partner = partnerName(of: from) { partners.count(\.impostors, of: partner) }
        let refusal = Refusal.forbidden("RFC 5922 7.3: this peer may not speak for the domain of From", errorID: 1_002)
        if impostors.isNews(ImpostorKey(host: source.remote.host, domain: from.domainKey), at: now) {
            log(
                .notice, "peer may not speak for the sender",
                ["peer": source.remote.description, "reason": reason, "call-id": request.headers.callID ?? ""])
            note(refusal, of: request, because: reason, at: now)
        }
        return refusal
    }

    /// Removes what only a trusted neighbour may say (RFC 3325 5, MS-SIPRE 2.2.15).
    func cleanse(_ request: inout SIPRequest, from flow: Flow) {
        let peer = peer(at: flow.remote, proving: flow.peer)
        markAnonymous(&request, from: flow)
        for name in SIPHeaders.trustHeaderNames {
            let isEdgeMark = name == .msSourceNetwork || name == .msEdgeProxyMessageTrust
            if isEdgeMark ? !peer.isEdge : !peer.isTrusted { request.headers.remove(name) }
        }
        // Even a trusted neighbour vouches only for those in whose name it may speak.
        guard request.headers.contains(.pAssertedIdentity) else { return }
        let isSound = request.headers.assertedIdentities.allSatisfy { !$0.uri.scheme.hasHost || isSpeaker(flow, for: $0.uri) }
        if !isSound { request.headers.remove(.pAssertedIdentity) }
    }

    /// - Throws: 403 when the requests of a dialog would go to hosts that are not of its far end's domain (RFC 3261 12.1.1): nobody is
    ///   sent what somebody else asked for.
    func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow) throws(Refusal) {
        guard let next = request.headers.recordRoutes.first?.uri else { return }
        let host = next.maddr ?? next.domainKey
        if peerTable.isPlace(host, of: user, beside: peer(at: flow.remote, proving: flow.peer), at: desk.now) { return }
        var refusal = Refusal.forbidden("RFC 3261 12.1.1: Record-Route leads to somebody else", errorID: 1_002)
        refusal.detail = "\(flow.remote.host) sent a Record-Route that leads to \(next.host), which is no peer of \(user.domainKey)"
        throw refusal
    }

    /// Whether a request comes from the far end of a watcher's dialog: the same user, by a peer that may speak for him.
    func isFarEnd(_ key: String, _ request: SIPRequest, _ flow: Flow) -> Bool {
        guard let from = request.headers.from?.uri, let sender = try? screening.sender(of: request),
            [from, sender].contains(where: { configuration.canonical($0).aorKey == key })
        else { return false }
        return isSpeaker(flow, for: speaker(from, of: request.method, on: flow))
    }

    /// Whether the sender may speak for a user or a domain, certainly.
    func isSpeaker(_ flow: Flow, for uri: SIPURI) -> Bool {
        switch verdict(on: flow, speakingFor: uri) {
        case .partner, .user: true
        case .unknown, .impostor: false
        }
    }
}

extension PeerTable {
    /// Whether a sender is answered at another host of its choice: that of a server of the same domain, and nobody else's.
    var isAnswerPlace: @Sendable (String, MessageSource) -> Bool {
        { isServer($0, beside: peer(at: $1.remote, proving: $1.peer)) }
    }
}

/// Who wanted to speak for which domain.
struct ImpostorKey: Hashable {
    var host: String
    var domain: String
}

extension GatewayConfiguration {
    /// Whether whoever claims to be a user of a hosted domain is asked for credentials where this came in.
    func asksUsersToSignIn(at local: TransportAddress) -> Bool {
        !authentication.isEmpty && authentication(at: local).map { $0.schemes != .none } ?? false
    }
}
