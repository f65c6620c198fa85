import SIPCore
import SIPEvents
import SIPSecurity

/// Name and password of the gateway at the servers of one partner (RFC 3261 22.1, RFC 7616).
package struct PartnerCredentials: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// User name in Digest responses.
    package var user: String
    /// Password; not part of ``description`` and ``customMirror``.
    package var password: String

    /// Creates credentials.
    package init(user: String, password: String) {
        self.user = user
        self.password = password
    }

    /// The user name, without the password.
    package var description: String { user }
    /// Reflects the user name only.
    package var customMirror: Mirror { Mirror(self, children: ["user": user]) }
}

/// Credentials in requests to partners that require them, and their challenges, 401 and 407 (RFC 3261 22.1 to 22.3).
///
///     sent --401, 407--> sent again with credentials, CSeq one higher --401, 407--> processed as a refusal, configuration fault
///
/// The nonce is kept for later requests (RFC 7616 3.6); a stale one costs one repetition.
final class PartnerSignIns: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    private let partners: PartnerRecords
    /// Digest clients by partner name, for partners with credentials.
    private var clients: [String: DigestClient] = [:]
    /// Partners and methods with unmet challenges that were logged within 10 minutes.
    private var unmet = RecentNotes<String>(silence: .seconds(600), limit: 256)

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ partners: PartnerRecords) {
        self.kernel = kernel
        self.context = context
        self.partners = partners
    }

    /// Applies the configured credentials; nonces of unchanged credentials are kept.
    func configure(before: GatewayConfiguration?) {
        var kept: [String: DigestClient] = [:]
        for (name, domain) in configuration.domains.sorted(by: { $0.key < $1.key }) {
            guard let credentials = domain.credentials else { continue }
            if let known = clients[name], before?.domains[name]?.credentials == credentials {
                kept[name] = known
            } else {
                kept[name] = DigestClient(user: credentials.user, password: credentials.password, cnonce: tokens.token())
            }
        }
        clients = kept
    }

    /// Adds credentials with a kept nonce to a request.
    /// - Returns: the request for repetition; nil: neither credentials nor redirections can require one.
    func authorize(
        _ request: inout SIPRequest, to destination: Destination, over transport: TransportProtocol, own: TransactionLayer.HostPort,
        for origin: RequestOrigin
    ) -> RepeatableRequest? {
        guard !clients.isEmpty || origin.isRepeatable else { return nil }
        let name = origin.partner.flatMap { clients[$0] == nil ? nil : $0 }
        guard name != nil || origin.isRepeatable else { return nil }
        let isRepeated = request.headers.contains(.authorization) || request.headers.contains(.proxyAuthorization)
        let kept = RepeatableRequest(
            request: request, destination: destination, transport: transport, own: own, isRepeated: isRepeated)
        if let name, !isRepeated { clients[name]?.authorize(&request) }
        return kept
    }

    /// Answers a challenge by repeating the request with credentials.
    /// - Returns: false if the challenge cannot be met; the response is processed then.
    func meetChallenge(_ response: SIPResponse, to pendingRequest: PendingRequest, at now: Instant) -> Bool {
        guard response.status == .unauthorized || response.status == .proxyAuthenticationRequired,
            let partner = pendingRequest.origin.partner
        else { return false }
        func noteUnmet(_ reason: String) {
            noteUnmetChallenge(response.status, to: pendingRequest.method, by: partner, reason, at: now)
        }
        guard let sent = pendingRequest.repeatable, clients[partner] != nil else {
            noteUnmet("none are configured (domains.\(partner).credentials)")
            return false
        }
        guard clients[partner]?.learn(from: response) == true else {
            noteUnmet("it offers no Digest with MD5 or SHA-256 and qop auth")
            return false
        }
        guard !sent.isRepeated else {
            noteUnmet("it refuses those that are configured")
            return false
        }
        var request = sent.request
        guard client(of: pendingRequest.origin.ticket)?.renumber(&request, of: pendingRequest.origin) == true else { return false }
        clients[partner]?.authorize(&request)
        log(.debug, "challenge of a partner answered", ["partner": partner, "status": String(response.status.rawValue)])
        send(request, by: .direct(sent.destination, sent.transport, own: sent.own), for: pendingRequest.origin, at: now)
        return true
    }

    /// Reports a challenge that only the configuration can meet: a notice in the log, and a fault in the partner's report.
    private func noteUnmetChallenge(_ status: SIPStatus, to method: SIPMethod, by partner: String, _ reason: String, at now: Instant) {
        partners.misconfigured(
            "answered \(status.rawValue) to \(method): asks for credentials; \(reason)", by: partner, for: method, at: now)
        guard unmet.isNews("\(partner) \(method)", at: now) else { return }
        log(
            .notice, "partner asks for credentials",
            ["partner": partner, "method": method.rawValue, "status": String(status.rawValue), "reason": reason])
    }
}
