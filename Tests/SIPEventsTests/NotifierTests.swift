import SIPCore
import SIPEvents
import Testing

@Suite struct NotifierTests {
    let start = Instant(secondsSince1970: 1_000_000)
    static let expiry = ExpiryPolicy(minimum: 60, standard: 3_600, maximum: 7_200)

    func notifier(ready: Bool = true, configure: (inout Notifier.Configuration) -> Void = { _ in }) -> Notifier {
        var configuration = Notifier.Configuration(expiry: Self.expiry)
        configure(&configuration)
        return Notifier(configuration, isReady: ready)
    }

    @Test("RFC 6665 4.2.1.2 a NOTIFY follows every 200 at once")
    func notifyFollowsAcceptance() {
        var notifier = notifier()
        #expect(
            notifier.receiveSubscribe(expires: 600, at: start) == [
                .accept(expires: 600, status: .active(expires: 600), content: .none), .notify(.active(expires: 600), .full),
            ])
        #expect(notifier.receiveAnswer(status: 200, at: start) == [])
        #expect(
            notifier.receiveSubscribe(expires: 600, at: start + .seconds(100)) == [
                .accept(expires: 600, status: .active(expires: 600), content: .none), .notify(.active(expires: 600), .full),
            ])
    }

    @Test("RFC 6665 4.2.1.1 expiry is never lengthened, and 423 names the minimum")
    func expiryPolicy() {
        #expect(Self.expiry.decide(nil) == .grant(3_600))
        #expect(Self.expiry.decide(59) == .tooBrief(minimum: 60))
        #expect(Self.expiry.decide(60) == .grant(60))
        #expect(Self.expiry.decide(100_000) == .grant(7_200))
        #expect(Self.expiry.decide(0) == .grant(0))
        #expect(ExpiryPolicy(minimum: 10_000, standard: 10_000, maximum: 20_000).decide(3_600) == .grant(3_600))
        var notifier = notifier()
        #expect(notifier.receiveSubscribe(expires: 10, at: start) == [.refuse(minimumExpires: 60)])
        #expect(notifier.isOver)
    }

    @Test("RFC 6665 4.2.2 one NOTIFY is outstanding, and the newest state follows its answer")
    func coalesces() {
        var notifier = notifier()
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        #expect(notifier.stateChanged(at: start) == [])
        #expect(notifier.stateChanged(at: start + .seconds(1)) == [])
        #expect(notifier.receiveAnswer(status: 200, at: start + .seconds(2)) == [.notify(.active(expires: 598), .changes)])
        #expect(notifier.receiveAnswer(status: 200, at: start + .seconds(2)) == [])
    }

    @Test("RFC 6665 4.2.1.4 nothing known yet is pending, after a grace")
    func grace() {
        var notifier = notifier(ready: false) { $0.grace = .milliseconds(500) }
        #expect(
            notifier.receiveSubscribe(expires: 600, at: start) == [
                .accept(expires: 600, status: .pending(expires: 600), content: .none)
            ])
        #expect(notifier.nextDeadline == start + .milliseconds(500))
        #expect(notifier.advance(to: start + .milliseconds(500)) == [.notify(.pending(expires: 600), .none)])
        #expect(notifier.receiveAnswer(status: 200, at: start + .seconds(1)) == [])
        #expect(notifier.stateChanged(at: start + .seconds(2)) == [.notify(.active(expires: 598), .full)])
    }

    @Test("RFC 6665 4.4.3 a fetch is one final NOTIFY with the state")
    func fetch() {
        var notifier = notifier()
        let gone = SubscriptionStatus.terminated(reason: .timeout, retryAfter: nil)
        #expect(
            notifier.receiveSubscribe(expires: 0, at: start) == [
                .accept(expires: 0, status: gone, content: .none), .notify(gone, .full),
            ])
        #expect(notifier.receiveAnswer(status: 200, at: start) == [.end(.fetched)])
        #expect(notifier.isOver && notifier.nextDeadline == nil)
    }

    @Test("a fetch waits for state, but not for ever")
    func fetchWaits() {
        let gone = SubscriptionStatus.terminated(reason: .timeout, retryAfter: nil)
        for arrives in [true, false] {
            var notifier = notifier(ready: false) { $0.fetchWait = .seconds(3) }
            #expect(notifier.receiveSubscribe(expires: 0, at: start) == [.accept(expires: 0, status: gone, content: .none)])
            if arrives {
                #expect(notifier.stateChanged(at: start + .seconds(1)) == [.notify(gone, .full)])
            } else {
                #expect(notifier.advance(to: start + .seconds(2)) == [])
                #expect(notifier.advance(to: start + .seconds(3)) == [.notify(gone, .full)])
            }
        }
    }

    @Test("RFC 6665 4.2.1.3 Expires 0 in the dialog ends it with a final NOTIFY, after the outstanding one")
    func unsubscribe() {
        let gone = SubscriptionStatus.terminated(reason: .timeout, retryAfter: nil)
        var notifier = notifier()
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        #expect(notifier.receiveSubscribe(expires: 0, at: start) == [.accept(expires: 0, status: gone, content: .none)])
        #expect(notifier.receiveAnswer(status: 200, at: start) == [.notify(gone, .none)])
        #expect(notifier.stateChanged(at: start) == [])
        #expect(notifier.receiveAnswer(status: 200, at: start) == [.end(.unsubscribed)])
    }

    @Test("RFC 6665 4.2.2 expiry without refresh is terminated;reason=timeout")
    func expires() {
        var notifier = notifier()
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        _ = notifier.receiveAnswer(status: 200, at: start)
        #expect(notifier.nextDeadline == start + .seconds(600))
        #expect(notifier.advance(to: start + .seconds(599)) == [])
        #expect(
            notifier.advance(to: start + .seconds(600)) == [.notify(.terminated(reason: .timeout, retryAfter: nil), .none)])
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(632)) == [.end(.expired)])
    }

    @Test("RFC 6665 4.2.2 NOTIFYs that stay unanswered for longer than the patience end the subscription; with none the first one does")
    func silentWatcher() {
        var notifier = notifier { $0.patience = .zero }
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(32)) == [.end(.unreachable)])
        notifier = self.notifier { $0.patience = .seconds(100) }
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        var now = start
        var tries = 1
        while !notifier.isOver {
            now = now + .seconds(32)
            let actions = notifier.notifyFailed(.silence, at: now)
            if actions.isEmpty {
                now = notifier.nextDeadline ?? now
                #expect(notifier.advance(to: now).count == 1)
                tries += 1
            }
        }
        #expect(now - start >= .seconds(132) && now - start < .seconds(200) && tries > 2)
    }

    @Test("MS-PRES 3.4.5.1 a refresh whose 200 brings the state ends the silence: the patience begins anew with the next one")
    func silenceEndsByPiggyback() {
        var notifier = notifier { $0.patience = .seconds(100) }
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        #expect(notifier.notifyFailed(.silence, at: start + .seconds(32)).isEmpty)
        let refresh = start + .seconds(34)
        #expect(
            notifier.receiveSubscribe(expires: 600, piggyback: true, at: refresh) == [
                .accept(expires: 600, status: .active(expires: 600), content: .full)
            ])
        #expect(notifier.stateChanged(at: refresh + .seconds(200)).count == 1)
        #expect(notifier.notifyFailed(.silence, at: refresh + .seconds(232)).isEmpty)
        #expect(!notifier.isOver)
    }

    @Test("RFC 6665 4.2.2 faults of the transport end nothing: pauses double to 30 s, shortened by a quarter at most, until it expires")
    func transportFaults() {
        for chance in [UInt64(0), .max] {
            var notifier = notifier()
            _ = notifier.receiveSubscribe(expires: 600, at: start)
            var (now, pauses): (Instant, [Int]) = (start, [])
            while !notifier.isEnding {
                #expect(notifier.notifyFailed(.transport, chance: chance, at: now).isEmpty || notifier.isEnding)
                let next = notifier.nextDeadline ?? now
                pauses.append((next - now).seconds)
                now = next
                _ = notifier.advance(to: now)
            }
            #expect(now == start + .seconds(600))
            if chance == 0 { #expect(pauses.prefix(7) == [1, 2, 4, 8, 16, 30, 30]) }
            #expect(pauses.dropFirst(6).dropLast().allSatisfy { $0 >= 22 && $0 <= 30 })
        }
    }

    @Test("RFC 6665 4.2.2 the last NOTIFY of a subscription that this side ends is tried again too, for as long as it may take")
    func lastNotify() {
        let last = SubscriptionStatus.terminated(reason: .noresource, retryAfter: nil)
        var notifier = notifier()
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        _ = notifier.receiveAnswer(status: 200, at: start)
        #expect(notifier.terminate(.noresource, at: start) == [.notify(last, .none)])
        #expect(notifier.notifyFailed(.transport, at: start) == [])
        #expect(notifier.advance(to: start + .seconds(1)) == [.notify(last, .none)])
        #expect(notifier.receiveAnswer(status: 200, at: start) == [.end(.terminated(.noresource))])
    }

    @Test("RFC 6665 4.2.2 503 with Retry-After keeps it and the newest state is told later")
    func retryAfter() {
        var notifier = notifier()
        _ = notifier.receiveSubscribe(expires: 600, at: start)
        #expect(notifier.receiveAnswer(status: 503, retryAfter: 20, at: start) == [])
        #expect(notifier.stateChanged(at: start + .seconds(1)) == [])
        #expect(notifier.nextDeadline == start + .seconds(20))
        #expect(notifier.advance(to: start + .seconds(20)) == [.notify(.active(expires: 580), .full)])
    }

    @Test("MS-SIP 3.5 a BENOTIFY awaits no answer")
    func bestEffort() {
        var notifier = notifier { $0.bestEffort = true }
        _ = notifier.receiveSubscribe(expires: 600, piggyback: true, at: start)
        #expect(notifier.stateChanged(at: start) == [.notify(.active(expires: 600), .changes)])
        #expect(notifier.stateChanged(at: start) == [.notify(.active(expires: 600), .changes)])
        #expect(
            notifier.terminate(.rejected, at: start) == [
                .notify(.terminated(reason: .rejected, retryAfter: nil), .none), .end(.terminated(.rejected)),
            ])
    }

    @Test("MS-SIP 3.4.5.1 a piggybacked 200 replaces the first NOTIFY")
    func piggyback() {
        var notifier = notifier(ready: false) { $0.grace = .seconds(1) }
        #expect(
            notifier.receiveSubscribe(expires: 600, piggyback: true, at: start) == [
                .accept(expires: 600, status: .active(expires: 600), content: .full)
            ])
        #expect(notifier.stateChanged(at: start) == [.notify(.active(expires: 600), .changes)])
    }

    @Test("MS-PRES 3.4.5.1.2 a piggybacked poll leaves no state")
    func piggybackedPoll() {
        var notifier = notifier()
        #expect(
            notifier.receiveSubscribe(expires: 0, piggyback: true, at: start) == [
                .accept(expires: 0, status: .terminated(reason: .timeout, retryAfter: nil), content: .full), .end(.fetched),
            ])
        #expect(notifier.isOver)
    }

    @Test("RFC 6665 4.2.1.4 pending becomes active when it is granted")
    func pendingThenActive() {
        var notifier = Notifier(.init(expiry: Self.expiry), isAuthorized: false, isReady: true)
        #expect(
            notifier.receiveSubscribe(expires: 600, at: start) == [
                .accept(expires: 600, status: .pending(expires: 600), content: .none), .notify(.pending(expires: 600), .none),
            ])
        _ = notifier.receiveAnswer(status: 200, at: start)
        #expect(notifier.authorize(true, at: start) == [.notify(.active(expires: 600), .full)])
    }
}
