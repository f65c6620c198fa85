import SIPCore
import XCAP

/// XCAP documents of users (RFC 4825), for the edge that serves them over HTTP.
extension Gateway {
    /// AUIDs of the application usages that are offered.
    package static let documentUsages = ApplicationUsage.offered.map(\.auid)

    /// Answers the request of an authenticated user of this shard; the answer is passed on once the changes that it depends on are stored.
    package func receive(_ request: DocumentRequest, at now: Instant, answer: @escaping (DocumentAnswer) -> Void) {
        guard restart == nil, !context.isShuttingDown else {
            return answer(DocumentAnswer(refusing: 503, retryAfter: configuration.timing.retryAfter))
        }
        commitLog.noteInput(at: now)
        flows.documents.receive(request, at: now, answer: answer)
    }
}
