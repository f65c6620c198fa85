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
    /// Decides about the admission of a request.
    /// - Parameter message: the received message, kept if it has to wait.
    func admission(
        of request: SIPRequest, from source: MessageSource, in message: InboundMessage, at now: Instant
    ) -> TransactionLayer.Admission {
        let admitted: TransactionLayer.Admission = peers.isStranger(source, at: now) ? .stranger : .admitted
        // OPTIONS only asks whether the gateway is alive, so its sender is not checked.
        guard request.method != .options, let written = request.headers.from?.uri else { return admitted }
        let from = peers.speaker(written, of: request.method, on: Flow(source), at: now)
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

    private func turnAway(_ request: SIPRequest, _ source: MessageSource, _ refusal: Refusal) -> TransactionLayer.Admission {
        // Without state, each retransmission gets the same To tag (RFC 3261 8.2.7).
        var response = SIPResponse(to: request, status: refusal.status, toTag: tokens.repeatableTag(for: request))
        refusal.apply(to: &response, side: screening.side(of: request), node: configuration.nodeName)
        if peers.isStranger(source, at: commitLog.now) { response.keepRequired() }
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

    // MARK: questions of other flows

    func peer(at remote: TransportAddress, proving identity: PeerIdentity?) -> Peer {
        peers.peer(at: remote, proving: identity, at: commitLog.now)
    }

    func verdict(on flow: Flow, speakingFor user: SIPURI) -> SpeakerVerdict {
        peers.verdict(on: flow, speakingFor: user, at: commitLog.now)
    }

    func checkPath(_ request: SIPRequest, of user: SIPURI, _ flow: Flow) throws(Refusal) {
        try peers.checkPath(request, of: user, flow, at: commitLog.now)
    }

    func isRemoteEnd(_ key: String, _ request: SIPRequest, _ flow: Flow) -> Bool {
        peers.isRemoteEnd(key, request, flow, at: commitLog.now)
    }

    func isSpeaker(_ flow: Flow, for user: SIPURI) -> Bool { peers.isSpeaker(flow, for: user, at: commitLog.now) }
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
