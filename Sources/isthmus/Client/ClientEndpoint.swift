import GatewayService
import PresenceGateway
import SIPCore
import SIPTransport

/// Outcome of a request.
enum ClientAnswer: Sendable {
    case response(SIPResponse)
    /// No response arrived (timer F), or the message could not be sent.
    case none(reason: String)
}

extension SIPResponse {
    /// Status and reason, with the first Warning or ms-diagnostics.
    var refusalText: String {
        let details = headers.first(.warning) ?? headers.first(.msDiagnostics)
        return "\(status.rawValue) \(reason)" + (details.map { " (\($0))" } ?? "")
    }
}

/// Small user agent client: transactions and addresses for subclasses that watch or publish. Confined to its event loop.
class ClientEndpoint: SansIOEndpoint {
    /// Address to which every request is sent, whatever its URI.
    let via: TransportAddress
    let local: TransportAddress
    private(set) var tokens: TokenGenerator
    private var transactions: TransactionLayer
    private var output: [OutboundMessage] = []
    /// Credentials for challenges; nil passes a challenge to the subclass like any response.
    var signIn: ClientSignIn?
    /// Requests that may be challenged, with the id that the subclass knows.
    private var attempts: [ClientTransactionID: Attempt] = [:]

    private struct Attempt {
        var name: ClientTransactionID?
        var request: SIPRequest
        var count = 1
    }

    /// - Parameters:
    ///   - listeners: Listeners of this client; the one with the transport of `via` is written into Via and Contact.
    ///   - key: Key of all generated identifiers; must not be shared with another client.
    init(via: TransportAddress, listeners: [TransportAddress], key: TokenKey) {
        self.via = via
        local = listeners.first { $0.transport == via.transport } ?? via
        tokens = TokenGenerator(key: key.derived(for: "client"))
        transactions = TransactionLayer(
            configuration: .init(sentBy: [local.transport: .init(local.host, local.port)]),
            tokens: TokenGenerator(key: key.derived(for: "transactions")))
    }

    // MARK: Overridden by subclasses

    func received(_ request: SIPRequest, _ id: ServerTransactionID?, at now: Instant) {
        if let id { respond(id, SIPResponse(to: request, status: .methodNotAllowed, toTag: tokens.tag()), at: now) }
    }

    func answered(_ id: ClientTransactionID, _ answer: ClientAnswer, at now: Instant) {}

    /// Handles that a request is repeated with credentials and the next CSeq number (RFC 3261 22.2).
    func willRepeat(_ request: SIPRequest) {}

    /// Runs the subclass's timers.
    func fire(at now: Instant) {}

    var ownDeadline: Instant? { nil }

    // MARK: Used by subclasses

    var contact: NameAddr? {
        let host = local.host.contains(":") ? "[\(local.host)]" : local.host
        return NameAddr("<sip:\(host):\(local.port);transport=\(local.transport.rawValue)>")
    }

    /// Returns a request outside dialogs with the mandatory headers (RFC 3261 8.1.1).
    func makeRequest(_ method: SIPMethod, to uri: String, from: String, fromTag: String, callID: String, number: UInt32) -> SIPRequest {
        var request = SIPRequest(method, requestURI: uri)
        request.headers.maxForwards = 70
        request.headers.set(.from, "<\(from)>;tag=\(fromTag)")
        request.headers.set(.to, "<\(uri)>")
        request.headers.callID = callID
        request.headers.cSeq = CSeq(number, method)
        request.headers.contact = contact
        request.headers.set(.userAgent, "isthmus/\(GatewayVersion.current)")
        return request
    }

    func newTag() -> String { tokens.tag() }
    func newCallID() -> String { tokens.callID(host: local.host) }

    func send(_ request: SIPRequest, at now: Instant) -> ClientTransactionID {
        send(Attempt(request: request), at: now)
    }

    private func send(_ attempt: Attempt, at now: Instant) -> ClientTransactionID {
        var request = attempt.request
        signIn?.authorize(&request)
        let destination = Destination.address(via, from: via.transport == .udp ? local : nil)
        let (id, actions) = transactions.send(request, to: destination, over: via.transport, at: now)
        if signIn != nil {
            var kept = attempt
            kept.name = attempt.name ?? id
            attempts[id] = kept
        }
        perform(actions, at: now)
        return id
    }

    /// Passes the final response to the subclass, unless it is a challenge that can be answered: then the request is repeated.
    ///
    /// Not inlined: the optimizer of Swift 6.3.1 crashes on the loop that calls it.
    @inline(never)
    private func finish(_ id: ClientTransactionID, _ answer: ClientAnswer, at now: Instant) {
        guard var attempt = attempts.removeValue(forKey: id) else { return answered(id, answer, at: now) }
        if case .response(let response) = answer, response.status == .unauthorized || response.status == .proxyAuthenticationRequired,
            attempt.count < 4, signIn?.receive(challenge: response) == true, let sequence = attempt.request.headers.cSeq
        {
            attempt.count += 1
            attempt.request.headers.cSeq = CSeq(sequence.number + 1, sequence.method)
            willRepeat(attempt.request)
            _ = send(attempt, at: now)
            return
        }
        answered(attempt.name ?? id, answer, at: now)
    }

    func respond(_ id: ServerTransactionID, _ response: SIPResponse, at now: Instant) {
        perform(transactions.respond(id, response, at: now), at: now)
    }

    private func perform(_ actions: [TransactionAction], at now: Instant) {
        for action in actions {
            switch action {
            case .send(let message): output.append(message)
            case .deliver(let request, let id, _): received(request, id, at: now)
            case .deliverUnanswered(let request, _): received(request, nil, at: now)
            case .response(let id, let response, _): if !response.status.isProvisional { finish(id, .response(response), at: now) }
            case .timeout(let id): finish(id, .none(reason: "no answer within 32 seconds"), at: now)
            case .transportFailed(let id, let reason): finish(id, .none(reason: reason), at: now)
            case .refused, .answerRefused, .dropped: break
            }
        }
    }

    // MARK: SansIOEndpoint

    final func receive(_ message: InboundMessage, at now: Instant) { perform(transactions.receive(message, at: now), at: now) }
    final func receive(_ notice: TransportNotice, at now: Instant) { perform(transactions.receive(notice, at: now), at: now) }

    final func advance(to now: Instant) {
        perform(transactions.advance(to: now), at: now)
        if let ownDeadline, ownDeadline <= now { fire(at: now) }
    }

    final var nextDeadline: Instant? {
        let layer = transactions.nextDeadline
        guard let own = ownDeadline else { return layer }
        return layer.map { min($0, own) } ?? own
    }

    final func takeOutput() -> [OutboundMessage] {
        defer { output = [] }
        return output
    }
}
