import SIPCore

/// Final responses to NOTIFYs, by their effect on the subscription (RFC 6665 4.1.2.2 and 4.2.2, RFC 5057 5.1).
///
///     2xx                                            delivered
///     404, 405, 410, 416, 480-485, 489, 501, 604     the subscription ends
///     3xx that is not followed                       the subscription ends
///     408, and 401 and 407 without credentials       as Timer F: retried, ends it after `patience`
///     430, 502, 503, 504                             as a fault of the transport: retried until the subscription expires
///     all others                                     the subscription stays; the newest state follows a pause
///
/// Retry-After replaces the pause before a retry.
extension Notifier {
    /// Meaning of a final response to a NOTIFY (RFC 6665 4.2.2, RFC 5057 5.1).
    enum AnswerMeaning: Hashable, Sendable {
        case delivered
        /// The response of a transport or a proxy, not of the watcher.
        case undelivered(DeliveryFailure)
        /// The subscription ends.
        case gone
        /// The subscription stays.
        case refused

        init(status: Int) {
            switch status {
            case 200..<300: self = .delivered
            // RFC 5057 5.1: a 408 has the effect of a timeout, so Timer F and 408 share one rule.
            case 408: self = .undelivered(.silence)
            // Flow Failed (RFC 5626 11.6), Bad Gateway, Service Unavailable (RFC 3261 16.9: a proxy's transport failed), Server Time-out.
            case 430, 502, 503, 504: self = .undelivered(.transport)
            // A challenge concerns one request, not the subscription (RFC 5057 5.1): the watcher has refused nothing.
            case 401, 407: self = .undelivered(.challenge(status: status))
            // A redirection concerns the whole dialog (RFC 5057 5.1); the caller follows it where it may.
            case 300..<400, 404, 405, 410, 416, 480...485, 489, 501, 604: self = .gone
            default: self = .refused
            }
        }
    }

    /// Handles the final response to the outstanding NOTIFY; `retryAfter` is in seconds.
    /// - Parameter chance: Random value as in ``notifyFailed(_:pause:chance:at:)``, made only if the NOTIFY was not delivered.
    public mutating func receiveAnswer(
        status: Int, retryAfter: Int? = nil, chance: @autoclosure () -> UInt64 = 0, at now: Instant
    ) -> [Action] {
        guard isOutstanding else { return [] }
        isOutstanding = false
        if case .final = due, !lastNotify.isSent { return flush(at: now) }
        let pause = retryAfter.map { TimeSpan.seconds(min(max($0, 0), 86_400)) }
        switch AnswerMeaning(status: status) {
        case .undelivered(let failure):
            return notifyFailed(failure, pause: pause, chance: chance(), at: now)
        case .delivered:
            losses.arrived()
            if case .ending(let reason) = phase { return close(reason) }
            return flush(at: now)
        case .gone:
            if case .ending(let reason) = phase { return close(reason) }
            return close(.refused(status: status))
        case .refused:
            losses.answered()
            if case .ending(let reason) = phase { return close(reason) }
            // The subscription stays; the newest state, whole, follows the pause (RFC 6665 4.2.2).
            losses.note(isBestEffort: configuration.bestEffort, at: now)
            due = .full
            notBefore = now + (pause.map { max($0, LostNotifications.firstPause) } ?? configuration.retryPause)
            return flush(at: now)
        }
    }
}
