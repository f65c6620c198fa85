import SIPCore
import ScriptedPeers

/// Attacker that observes the gateway's requests and forges responses to some of them: immediately or later, as a datagram from an unknown
/// host and over its own connection from a trusted host.
final class SimulatedForger {
    static let stranger = "203.0.113.66"
    static let partner = "192.0.2.250"

    let datagrams: UnauthorizedPeer
    let stream: UnauthorizedPeer
    /// Number of forged responses.
    private(set) var forged: UInt64 = 0
    /// Start lines of forged responses that the gateway accepted.
    private(set) var believed: [String] = []
    private var random: SeededRandom
    /// Observed requests that it may still answer.
    private var overheard: [SIPRequest] = []

    init(target: TransportAddress, seed: UInt64) {
        random = SeededRandom(seed: ~seed)
        datagrams = UnauthorizedPeer(
            address: TransportAddress(.udp, Self.stranger, 5060), target: TransportAddress(.udp, target.host, target.port))
        stream = UnauthorizedPeer(
            address: TransportAddress(.tcp, Self.partner, 5060), target: TransportAddress(.tcp, target.host, target.port))
    }

    func overhear(_ message: OutboundMessage) {
        guard random.chance(0.1), case .success(.request(let request)) = SIPParser.parse(message.bytes) else { return }
        overheard.append(request)
        if overheard.count > 16 { overheard.removeFirst() }
        guard let one = random.chance(0.5) ? request : overheard.randomElement(using: &random) else { return }
        for unauthorizedPeer in [datagrams, stream] { unauthorizedPeer.say(answer(to: one)) }
        forged += 2
    }

    /// Whether the attacker sent a message.
    static func sent(_ message: InboundMessage) -> Bool {
        message.remote.host == stranger || message.remote.host == partner
    }

    func noteBelieved(_ message: InboundMessage) {
        believed.append(String(decoding: message.bytes.prefix { $0 != 13 }, as: UTF8.self))
    }

    /// Forged response that would end, redirect, delay or fill the dialog of the request.
    private func answer(to request: SIPRequest) -> SIPResponse {
        let statuses: [SIPStatus] = [
            .trying, .ok, .ok, .movedTemporarily, .requestTimeout, .callOrTransactionDoesNotExist, .serviceUnavailable,
        ]
        let status = statuses.randomElement(using: &random) ?? .ok
        var answer = SIPResponse(to: request, status: status, toTag: request.headers.toTag ?? "forged")
        switch status {
        case .ok:
            answer.headers.append(.contact, "<sip:\(Self.partner);transport=tcp>")
            answer.headers.append(.expires, "3600")
            answer.headers.append(.sipETag, "forged")
            answer.headers.append(.contentType, "application/pidf+xml")
            let presentity = request.headers.to?.uri.addressOfRecord().description ?? ""
            // A publication number that does not exist: a watcher that receives it complains.
            answer.body = Array(SimpleDocuments.pidf(of: presentity, "open", activities: ["busy"], note: "n=999999").utf8)
        case .movedTemporarily: answer.headers.append(.contact, "<sip:\(Self.partner);transport=tcp>")
        case .serviceUnavailable: answer.headers.append(.retryAfter, "3600")
        default: break
        }
        return answer
    }
}
