import SIPCore
import SIPEvents
import Testing

/// The notifier's duties of RFC 6665 4.2 that its ordinary life does not show; see docs/event-framework.md.
@Suite struct NotifierRulesTests {
    let start = Instant(secondsSince1970: 1_000_000)
    let gone = SubscriptionStatus.terminated(reason: .timeout, retryAfter: nil)

    private func live(configure: (inout Notifier.Configuration) -> Void = { _ in }) -> Notifier {
        var configuration = Notifier.Configuration(expiry: NotifierTests.expiry)
        configure(&configuration)
        var notifier = Notifier(configuration, isReady: true)
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        return notifier
    }

    @Test("RFC 6665 4.2.1.1 a refresh below the minimum is 423 and changes nothing")
    func refreshTooBrief() {
        var notifier = live()
        _ = notifier.receiveAnswer(status: 200, at: start)
        #expect(notifier.receiveSubscribe(expires: 10, at: start + .seconds(100)) == [.refuse(minimumExpires: 60)])
        #expect(notifier.expiry == start + .seconds(600))
        #expect(notifier.isRefreshable)
    }

    @Test("RFC 6665 4.2.1.2 glare: a refresh while a NOTIFY is outstanding is answered at once, and its own NOTIFY follows the answer")
    func refreshWhileOutstanding() {
        var notifier = live()
        let now = start + .seconds(1)
        #expect(
            notifier.receiveSubscribe(expires: 900, at: now) == [.accept(expires: 900, status: .active(expires: 900), content: .none)])
        #expect(notifier.receiveAnswer(status: 200, at: now) == [.notify(.active(expires: 900), .full)])
    }

    @Test("RFC 6665 4.2.1.2 a refresh is answered with a NOTIFY even in the pause that a 503 asked for")
    func refreshInPause() {
        var notifier = live()
        _ = notifier.receiveAnswer(status: 503, retryAfter: 300, at: start)
        let actions = notifier.receiveSubscribe(expires: 600, at: start + .seconds(1))
        #expect(actions.last == .notify(.active(expires: 600), .full))
    }

    @Test("RFC 6665 4.2.2 an answer that asks for credentials ends the subscription, a passing one does not", arguments: [401, 407])
    func challenged(status: Int) {
        var notifier = live()
        #expect(notifier.receiveAnswer(status: status, retryAfter: 5, at: start) == [.end(.refused(status: status))])
        for passing in [302, 400, 403, 413, 500, 600] {
            var notifier = live()
            #expect(notifier.receiveAnswer(status: passing, at: start) == [])
            #expect(notifier.nextDeadline == start + .seconds(30))
        }
    }

    @Test("RFC 6665 4.2.2 what failed in passing is never repeated: the newest state is sent instead, as a whole")
    func staleBodyIsNotRepeated() {
        var notifier = live()
        _ = notifier.receiveAnswer(status: 200, at: start)
        #expect(notifier.stateChanged(at: start) == [.notify(.active(expires: 600), .changes)])
        _ = notifier.receiveAnswer(status: 500, at: start)
        #expect(notifier.stateChanged(at: start + .seconds(5)) == [])
        #expect(notifier.advance(to: start + .seconds(30)) == [.notify(.active(expires: 570), .full)])
    }

    @Test("RFC 6665 4.2.2 expiry while a NOTIFY is unanswered: the last NOTIFY waits for that answer, and nothing follows it")
    func expiresWhileOutstanding() {
        var notifier = live()
        #expect(notifier.advance(to: start + .seconds(600)) == [])
        #expect(notifier.isEnding && !notifier.isRefreshable)
        #expect(notifier.stateChanged(at: start + .seconds(601)) == [])
        #expect(notifier.receiveSubscribe(expires: 600, at: start + .seconds(601)) == [])
        #expect(notifier.receiveAnswer(status: 200, at: start + .seconds(602)) == [.notify(gone, .none)])
        #expect(notifier.receiveAnswer(status: 503, retryAfter: 10, at: start + .seconds(603)) == [.end(.expired)])
        #expect(notifier.stateChanged(at: start + .seconds(604)) == [])
    }

    @Test("an ending dialog ends even if nobody says what became of its last NOTIFY")
    func endsByItself() throws {
        var notifier = live()
        _ = notifier.advance(to: start + .seconds(600))
        let last = try #require(notifier.nextDeadline)
        #expect(notifier.advance(to: last) == [.end(.expired)])
        #expect(notifier.isOver && notifier.nextDeadline == nil)
    }

    @Test("RFC 6665 4.4.3 nobody refreshes a fetch")
    func fetchIsNotRefreshed() {
        var notifier = Notifier(.init(expiry: NotifierTests.expiry, fetchWait: .seconds(3)), isReady: false)
        _ = notifier.receiveSubscribe(expires: 0, at: start)
        #expect(!notifier.isRefreshable)
        #expect(notifier.receiveSubscribe(expires: 600, at: start) == [])
        #expect(notifier.stateChanged(at: start) == [.notify(gone, .full)])
    }

    @Test("RFC 6665 4.2.1.4 while it is pending nothing is shown, in a piggybacked 200 neither")
    func pendingPiggyback() {
        var notifier = Notifier(.init(expiry: NotifierTests.expiry), isAuthorized: false, isReady: true)
        #expect(
            notifier.receiveSubscribe(expires: 600, piggyback: true, at: start) == [
                .accept(expires: 600, status: .pending(expires: 600), content: .none)
            ])
        #expect(notifier.authorize(true, at: start) == [.notify(.active(expires: 600), .full)])
    }

    @Test("RFC 6665 4.1.3 active and pending say what is left, terminated says why and not how long")
    func headerValues() {
        #expect(SubscriptionStatus.active(expires: 30).headerValue == "active;expires=30")
        #expect(SubscriptionStatus.pending(expires: 0).headerValue == "pending;expires=0")
        #expect(
            SubscriptionStatus.terminated(reason: .probation, retryAfter: 120).headerValue == "terminated;reason=probation;retry-after=120")
        #expect(gone.headerValue == "terminated;reason=timeout")
    }
}
