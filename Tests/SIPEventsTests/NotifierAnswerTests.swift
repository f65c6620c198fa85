import SIPCore
import SIPEvents
import Testing

/// Every final response to a NOTIFY, by its effect on the subscription (RFC 6665 4.2.2, RFC 5057 5.1).
@Suite struct NotifierAnswerTests {
    let start = Instant(secondsSince1970: 1_000_000)

    /// Effects of a final response.
    enum Effect { case delivered, ends, retried, patience, paused }

    static func effect(of status: Int) -> Effect {
        switch status {
        case 200..<300: .delivered
        case 401, 404, 405, 407, 410, 416, 480, 481, 482, 483, 484, 485, 489, 501, 604: .ends
        case 408: .patience
        case 430, 502, 503, 504: .retried
        default: .paused
        }
    }

    private func live(expires: Int = 3_600) -> Notifier {
        var notifier = Notifier(.init(expiry: NotifierTests.expiry), isReady: true)
        _ = notifier.receiveSubscribe(expires: expires, at: start)
        return notifier
    }

    /// Answers every NOTIFY with a status until the subscription ends.
    /// - Returns: when it ended, why, and the pauses before the retries.
    private func play(_ status: Int, _ notifier: inout Notifier) -> (end: Instant, reason: Notifier.EndReason?, pauses: [Int]) {
        var (now, pauses): (Instant, [Int]) = (start, [])
        for _ in 0..<2_000 {
            let actions = notifier.receiveAnswer(status: status, at: now)
            if case .end(let reason)? = actions.last { return (now, reason, pauses) }
            let next = notifier.nextDeadline ?? now
            pauses.append((next - now).seconds)
            now = next
            if case .end(let reason)? = notifier.advance(to: now).last { return (now, reason, pauses) }
        }
        return (now, nil, pauses)
    }

    @Test("RFC 6665 4.2.2 each final response to a NOTIFY delivers it, ends the subscription, or has it sent again", arguments: 200..<700)
    func table(status: Int) {
        var notifier = live()
        let actions = notifier.receiveAnswer(status: status, at: start)
        switch Self.effect(of: status) {
        case .delivered:
            #expect(actions == [] && notifier.redelivery == nil)
            #expect(notifier.nextDeadline == start + .seconds(3_600))
        case .ends:
            #expect(actions == [.end(.refused(status: status))] && notifier.isOver)
        case .retried:
            #expect(actions == [] && notifier.nextDeadline == start + .seconds(1))
        case .patience:
            #expect(actions == [] && notifier.nextDeadline == start + .seconds(4))
        case .paused:
            #expect(actions == [] && notifier.nextDeadline == start + .seconds(30))
        }
    }

    @Test("RFC 3261 16.9 what a proxy or a transport answers ends no subscription before it expires", arguments: [430, 502, 503, 504])
    func proxies(status: Int) {
        var notifier = live()
        let (end, reason, pauses) = play(status, &notifier)
        #expect(end == start + .seconds(3_600) && reason == .expired)
        #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 30, 30])
    }

    @Test("RFC 5057 5.1 a 408 is a timeout: 408 in a row for the patience ends the subscription") func timeouts() {
        var notifier = live()
        let (end, reason, pauses) = play(408, &notifier)
        #expect(reason == .unreachable && end >= start + .seconds(600) && end <= start + .seconds(630))
        #expect(pauses.prefix(6) == [4, 4, 4, 8, 16, 30])
    }

    @Test("RFC 5057 5.1 a 408 and Timer F count as one run, and a 503 between them begins a new one") func mixed() {
        var notifier = live()
        _ = notifier.receiveAnswer(status: 408, at: start)
        _ = notifier.advance(to: start + .seconds(590))
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(599)) == [])
        _ = notifier.advance(to: start + .seconds(640))
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(641)) == [.end(.unreachable)])

        notifier = live()
        _ = notifier.receiveAnswer(status: 408, at: start)
        _ = notifier.advance(to: start + .seconds(590))
        _ = notifier.receiveAnswer(status: 503, at: start + .seconds(591))
        _ = notifier.advance(to: start + .seconds(640))
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(641)) == [])
    }

    @Test("RFC 3261 20.33 Retry-After of 0 is at least the first pause", arguments: [408, 500, 503])
    func retryAtOnce(status: Int) {
        var notifier = live()
        #expect(notifier.receiveAnswer(status: status, retryAfter: 0, at: start) == [])
        #expect(notifier.nextDeadline == start + .seconds(1))
    }

    @Test("RFC 6665 4.2.2 the last NOTIFY of an ended subscription is sent again after 503, and not after a refusal")
    func lastNotify() {
        let last = SubscriptionStatus.terminated(reason: .noresource, retryAfter: nil)
        for status in [503, 500, 404] {
            var notifier = live()
            _ = notifier.receiveAnswer(status: 200, at: start)
            #expect(notifier.terminate(.noresource, at: start) == [.notify(last, .none)])
            let actions = notifier.receiveAnswer(status: status, at: start)
            if status == 503 {
                #expect(actions == [])
                #expect(notifier.advance(to: start + .seconds(1)) == [.notify(last, .none)])
            } else {
                #expect(actions == [.end(.terminated(.noresource))])
            }
        }
    }

    @Test("a retry is reported with its beginning, its number, its next moment and its end, until a NOTIFY arrives") func reported() {
        var notifier = live()
        #expect(notifier.redelivery == nil)
        _ = notifier.receiveAnswer(status: 503, at: start + .seconds(10))
        #expect(
            notifier.redelivery
                == .init(since: start + .seconds(10), failures: 1, next: start + .seconds(11), until: start + .seconds(3_600)))
        _ = notifier.advance(to: start + .seconds(11))
        #expect(notifier.redelivery?.next == nil && notifier.redelivery?.failures == 1)
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(43)) == [])
        #expect(notifier.redelivery?.since == start + .seconds(10) && notifier.redelivery?.failures == 2)
        // Silence ends the subscription sooner.
        #expect(notifier.redelivery?.until == start + .seconds(643))
        _ = notifier.advance(to: start + .seconds(60))
        _ = notifier.receiveAnswer(status: 500, at: start + .seconds(60))
        #expect(notifier.redelivery?.since == start + .seconds(10) && notifier.redelivery?.failures == 3)
        #expect(notifier.isRedelivering)
        _ = notifier.advance(to: start + .seconds(90))
        _ = notifier.receiveAnswer(status: 200, at: start + .seconds(90))
        #expect(notifier.redelivery == nil && !notifier.isRedelivering)
    }
}
