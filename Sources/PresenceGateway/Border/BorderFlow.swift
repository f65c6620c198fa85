import FederationRouting
import SIPCore

/// Admission of requests, decided before any other processing (RFC 5922 7.3, RFC 3325 5); owns the records and probes of partners.
///
///     retransmission?  --> repeated response (transaction layer)
///     may the peer send for From?  --no--> 403, no state kept
///                                  --DNS needed--> it waits
///     header fields reserved for trusted neighbours  --> removed
///     in a dialog: is it the remote end?  --no--> as if the dialog did not exist
final class BorderFlow: ShardMember, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any BorderPorts
    /// Counters, limits and availability of partners.
    let partners: PartnerRecords
    /// OPTIONS to partners.
    let probes: PartnerProbes
    /// Digest clients for partners that require credentials.
    let signIns: PartnerSignIns
    /// Rights of peers.
    private var peers: PeerAdmission
    /// Unauthorized peers that were reported lately, so that a flood of them fills neither the log nor the journal.
    private var unauthorizedPeers = RecentNotes<UnauthorizedPeerKey>(limit: 256)
    /// Hosts with responses that were refused and logged lately.
    private var answerers = RecentNotes<String>(limit: 256)

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any BorderPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
        partners = PartnerRecords(kernel, context)
        probes = PartnerProbes(kernel, context, ports, partners)
        signIns = PartnerSignIns(kernel, context, partners)
        peers = PeerAdmission(context.configuration, routes: context.routes)
    }

    /// Applies the configuration of the shard.
    /// - Parameter before: the earlier configuration; nil: none.
    func configure(before: GatewayConfiguration?) {
        if before != nil { peers.use(configuration, routes: routes, located: hops.known) }
        partners.configure()
        transactions.configuration.isAnswerAddress = peers.table.isAnswerAddress
        signIns.configure(before: before)
    }

    var sizes: [String: Int] { ["watchedByPartners": partners.table.watchedCount] }

    // MARK: requests

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
        if case .unauthorized = verdict, let notifier = self.verdict(onNotifierOf: request, on: Flow(source)) { verdict = notifier }
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
            return partners.slowDown(partner, at: now).map { turnAway(request, source, $0) } ?? .admitted
        case .unauthorized(let reason):
            return turnAway(request, source, refusal(ofUnauthorizedPeer: request, from: source, as: from, because: reason, at: now))
        case .user, .unknown:
            return admitted
        }
    }

    /// The verdict about the sender of a NOTIFY in the dialog of an upstream subscription, if it may send for the domain that was asked: From
    /// of a batch's NOTIFY names the watcher (MS-PRES 3.4.5.3). nil for all others, so that no sender learns which dialogs exist.
    func verdict(onNotifierOf request: SIPRequest, on flow: Flow) -> SpeakerVerdict? {
        guard let domain = ports.domainAsked(inDialogOf: request) else { return nil }
        let verdict = verdict(on: flow, speakingFor: SIPURI(host: domain))
        if case .partner = verdict { return verdict }
        return nil
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
            ports.note(refusal, of: request, because: reason, at: now)
        }
        return refusal
    }

    // MARK: responses from unexpected hosts

    /// Whether a host may answer a request sent to another host: as the source of the dialog, another server located for the request, or a
    /// server of the asked partner.
    func mayAnswer(_ transaction: ClientTransactionID, from source: MessageSource) -> Bool {
        guard let origin = pendingRequests[transaction]?.origin else { return false }
        let host = source.remote.host
        if origin.sourceHost == host || client(of: origin.ticket)?.isSource(host, of: origin.ticket) == true { return true }
        if let hopTarget = hops.deliveries[transaction]?.hopTarget, case .success(let plan)? = hops.known[hopTarget]?.result,
            plan.servers.contains(where: { $0.addresses.contains { $0.transport == .udp && $0.host == host } })
        {
            return true
        }
        return origin.partner.map { peers.table.isServer(host, of: $0, at: commitLog.now) } ?? false
    }

    /// Counts a refused response, and logs at most one per host and minute.
    func noteRefusedAnswer(_ fault: TransactionAction.AnswerFault, from source: MessageSource, at now: Instant) {
        counters.responsesRefused += 1
        guard answerers.isNews(source.remote.host, at: now) else { return }
        log(.notice, "answer refused", ["peer": source.remote.description, "reason": fault.rawValue])
    }

    // MARK: peers

    /// Addresses and names of the servers of each domain.
    var peerTable: PeerTable {
        _read { yield peers.table }
    }

    /// Removes header fields that only a trusted neighbour may send.
    func stripUntrustedHeaders(_ request: inout SIPRequest, from flow: Flow, at now: Instant) {
        peers.stripUntrustedHeaders(&request, from: flow, at: now)
    }

    /// Records located servers of a hop target.
    func noteLocated(_ result: Result<HopPlan, HopFailure>, of hopTarget: HopTarget, until: Instant) {
        peers.noteLocated(result, of: hopTarget, until: until)
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
