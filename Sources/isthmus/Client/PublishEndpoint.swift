import PresenceDocuments
import SIPCore
import SIPEvents
import SIPTransport

/// Event reported by `publish --keep`.
enum PublishEvent: Sendable {
    /// The document is published under this entity-tag, for this number of seconds.
    case published(tag: String, expires: Int)
    /// A request failed for a time, and is repeated.
    case postponed(reason: String, seconds: Int)
    /// A request was refused.
    case refused(reason: String)
    /// Nothing is published any more.
    case over
}

/// Publishes one document and keeps it published (RFC 3903 4.1): refreshes it, and publishes it again when it was forgotten.
final class PublishEndpoint: ClientEndpoint {
    private let presentity: String
    private let publisher: String
    private let body: [UInt8]
    private let onEvent: (PublishEvent) -> Void
    private var client: PublicationClient
    private var pending: ClientTransactionID?
    private var lastExpires = 0
    private var lastFailure = ""

    init(
        _ body: [UInt8], of presentity: String, by publisher: String, expires: Int, retryPause: TimeSpan = .seconds(30),
        via: TransportAddress, listeners: [TransportAddress], key: TokenKey, onEvent: @escaping (PublishEvent) -> Void
    ) {
        self.body = body
        self.presentity = presentity
        self.publisher = publisher
        self.onEvent = onEvent
        client = PublicationClient(expires: expires, retryPause: retryPause)
        super.init(via: via, listeners: listeners, key: key)
    }

    func start(at now: Instant) { perform(client.publish(at: now), at: now) }
    func stop(at now: Instant) { perform(client.withdraw(at: now), at: now) }

    override var ownDeadline: Instant? { client.nextDeadline }
    override func fire(at now: Instant) { perform(client.advance(to: now), at: now) }

    private func perform(_ actions: [PublicationClient.Action], at now: Instant) {
        for action in actions {
            switch action {
            case .publish(let tag, let hasBody, let expires):
                var request = makeRequest(.publish, to: presentity, from: publisher, fromTag: newTag(), callID: newCallID(), number: 1)
                request.headers.event = Event("presence")
                request.headers.expires = UInt32(clamping: expires)
                request.headers.sipIfMatch = tag?.value
                if hasBody {
                    request.headers.set(.contentType, DocumentMediaType.pidf.name)
                    request.body = body
                }
                pending = send(request, at: now)
            case .published: onEvent(.published(tag: client.entityTag?.value ?? "", expires: lastExpires))
            case .postponed(let until): onEvent(.postponed(reason: lastFailure, seconds: (until - now).seconds))
            case .refused: onEvent(.refused(reason: lastFailure))
            case .over: onEvent(.over)
            }
        }
    }

    override func answered(_ id: ClientTransactionID, _ answer: ClientAnswer, at now: Instant) {
        guard id == pending else { return }
        pending = nil
        guard case .response(let response) = answer else {
            if case .none(let reason) = answer { lastFailure = reason }
            return perform(client.publishFailed(at: now), at: now)
        }
        lastFailure = response.refusalText
        lastExpires = response.headers.expires.map { Int(clamping: $0) } ?? 0
        perform(
            client.receiveAnswer(
                status: response.status.rawValue, tag: response.headers.sipETag.map { EntityTag($0) },
                expires: response.headers.expires.map { Int(clamping: $0) },
                minimumExpires: response.headers.minExpires.map { Int(clamping: $0) },
                retryAfter: response.headers.retryAfter.map { Int($0.seconds) }, at: now),
            at: now)
    }
}
