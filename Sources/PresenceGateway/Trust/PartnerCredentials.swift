import SIPCore
import SIPEvents
import SIPSecurity

/// The name and the password by which this gateway signs in at the servers of one partner (RFC 3261 22.1, RFC 7616).
public struct PartnerCredentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    public var user: String
    public var password: String

    public init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// Without the password.
    public var description: String { user }
    public var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

/// How this gateway signs in at partners, by their names; one for each that has credentials.
struct PartnerSignIns {
    var clients: [String: DigestClient] = [:]
    /// Partners and methods whose challenge could not be met, and was logged lately.
    var unmet = RecentNotes<String>(silence: .seconds(600), limit: 256)
}

/// A request as it was sent, kept until it is answered where it may have to be sent once more: with credentials, or elsewhere.
struct RepeatableRequest {
    /// Without our Via, and without the credentials that a kept nonce put on it.
    var request: SIPRequest
    var destination: Destination
    var transport: TransportProtocol
    var own: TransactionLayer.HostPort
    /// It was sent because of a challenge, and is not sent again.
    var isRepeated: Bool
}

/// Challenges of partners' servers, 401 and 407 (RFC 3261 22.1 to 22.3).
///
///     sent --401, 407--> sent again with credentials, CSeq one higher --401, 407--> handed on as it is, configuration fault
///
/// The nonce is kept for the requests that follow (RFC 7616 3.6); one that has gone stale costs one repetition.
extension Gateway {
    /// Takes the credentials of the configuration over; nonces of those that are as before are kept.
    func configureSignIns(before: GatewayConfiguration?) {
        var kept: [String: DigestClient] = [:]
        for (name, domain) in configuration.domains.sorted(by: { $0.key < $1.key }) {
            guard let credentials = domain.credentials else { continue }
            if let known = signIns.clients[name], before?.domains[name]?.credentials == credentials {
                kept[name] = known
            } else {
                kept[name] = DigestClient(user: credentials.user, password: credentials.password, cnonce: tokens.token())
            }
        }
        signIns.clients = kept
    }

    /// Puts kept credentials on a request to a partner that has asked for them.
    /// - Returns: what is needed to send it again; nil: there are no credentials for this partner, and no redirection is followed so.
    func authorize(
        _ request: inout SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for purpose: Awaiting
    ) -> RepeatableRequest? {
        guard !signIns.clients.isEmpty || purpose.isPublication else { return nil }
        let name = partner(of: purpose).flatMap { signIns.clients[$0] == nil ? nil : $0 }
        guard name != nil || purpose.isPublication else { return nil }
        let isRepeated = request.headers.contains(.authorization) || request.headers.contains(.proxyAuthorization)
        let kept = RepeatableRequest(
            request: request, destination: destination, transport: transport, own: own, isRepeated: isRepeated)
        if let name, !isRepeated { signIns.clients[name]?.authorize(&request) }
        return kept
    }

    /// Answers a challenge by the same request with credentials.
    /// - Returns: false: it cannot be met, and the answer is handed on.
    func meetChallenge(_ response: SIPResponse, to awaited: Awaited, at now: Instant) -> Bool {
        guard response.status == .unauthorized || response.status == .proxyAuthenticationRequired,
            let partner = partner(of: awaited.purpose)
        else { return false }
        func unmet(_ reason: String) { noteUnmetChallenge(response.status, to: awaited.purpose.method, by: partner, reason, at: now) }
        guard let sent = awaited.repeatable, signIns.clients[partner] != nil else {
            unmet("none are configured (domains.\(partner).credentials)")
            return false
        }
        guard signIns.clients[partner]?.learn(from: response) == true else {
            unmet("it offers no Digest with MD5 or SHA-256 and qop auth")
            return false
        }
        guard !sent.isRepeated else {
            unmet("it refuses those that are configured")
            return false
        }
        var request = sent.request
        guard renumber(&request, for: awaited.purpose) else { return false }
        signIns.clients[partner]?.authorize(&request)
        log(.debug, "challenge of a partner answered", ["partner": partner, "status": String(response.status.rawValue)])
        send(request, by: .direct(sent.destination, sent.transport, own: sent.own), for: awaited.purpose, at: now)
        return true
    }

    /// Gives a request that is sent again the next number of its sequence (RFC 3261 22.2).
    /// - Returns: false: nobody waits for its answer any more.
    func renumber(_ request: inout SIPRequest, for purpose: Awaiting) -> Bool {
        guard var cSeq = request.headers.cSeq else { return false }
        switch purpose {
        case .subscribe(let upstream, let attempt):
            guard upstream.subscriber.attempt == attempt, upstreams[upstream.id] === upstream else { return false }
            guard request.headers.toTag == nil else {
                guard let number = upstream.dialog?.nextNumber() else { return false }
                cSeq.number = number
                break
            }
            cSeq.number += 1
        case .notify(let watcher):
            guard dialogs[watcher.localTag] === watcher else { return false }
            cSeq.number = watcher.dialog.nextNumber()
        case .publication(let bridge, let attempt):
            guard bridge.attempt == attempt else { return false }
            bridge.passage.cSeq += 1
            cSeq.number = bridge.passage.cSeq
        case .categoryPublication(let bridge, let attempt):
            guard bridge.attempt == attempt else { return false }
            bridge.passage.cSeq += 1
            cSeq.number = bridge.passage.cSeq
        case .keepAlive: cSeq.number += 1
        case .homeNotify: return false
        }
        request.headers.cSeq = cSeq
        switch purpose {
        case .subscribe(let upstream, _):
            if request.headers.toTag == nil, upstream.dialog == nil { upstream.request = request }
            keep(upstream)
        case .notify(let watcher): keep(.dialog(watcher.localTag))
        case .publication(let bridge, _): keep(.bridge(bridge.key))
        case .categoryPublication(let bridge, _): keep(.bridge(bridge.key))
        case .keepAlive, .homeNotify: break
        }
        return true
    }

    /// A challenge that nothing but the configuration can meet: a notice in the log, and a fault in ``partnerReports``.
    private func noteUnmetChallenge(_ status: SIPStatus, to method: SIPMethod, by partner: String, _ reason: String, at now: Instant) {
        partners.misconfigured(
            "answered \(status.rawValue) to \(method): asks for credentials; \(reason)", by: partner, for: method, at: now)
        guard signIns.unmet.isNews("\(partner) \(method)", at: now) else { return }
        log(
            .notice, "partner asks for credentials",
            ["partner": partner, "method": method.rawValue, "status": String(status.rawValue), "reason": reason])
    }
}
