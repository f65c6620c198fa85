import SIPCore
import SIPEvents
import Testing

/// Duties of a subscriber (RFC 6665 4.1) beyond the usual sequence; see docs/event-framework.md.
@Suite struct SubscriberRulesTests {
    let start = Instant(secondsSince1970: 1_000_000)

    private func established(expires: Int = 600, jitterSeed: UInt64 = 0) -> Subscriber {
        var subscriber = Subscriber(.init(expires: expires, jitterSeed: jitterSeed))
        _ = subscriber.start(at: start)
        _ = subscriber.receiveAnswer(status: 200, expires: expires, at: start)
        _ = subscriber.receiveNotify(.active(expires: expires), at: start)
        return subscriber
    }

    @Test(
        "RFC 6665 4.1.2.2 the refusals that end the dialog lead to a new one",
        arguments: [404, 405, 410, 416, 480, 481, 485, 489, 501, 604])
    func refreshEnds(status: Int) {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        let now = start + .seconds(451)
        #expect(subscriber.receiveAnswer(status: status, at: now) == [.lost(.refused(status: status), retryIn: .zero)])
        #expect(!subscriber.isListening)
        #expect(subscriber.advance(to: now) == [.subscribe(.initial(2), expires: 600)])
    }

    @Test(
        "RFC 6665 4.1.2.2 any other refusal of a refresh leaves the subscription alive",
        arguments: [400, 401, 403, 407, 413, 500, 503, 603])
    func refreshStays(status: Int) {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        #expect(subscriber.receiveAnswer(status: status, at: start + .seconds(451)) == [])
        #expect(subscriber.isListening)
        #expect(subscriber.receiveNotify(.active(expires: 140), at: start + .seconds(452)) == [.status(.active(expires: 140))])
    }

    @Test("RFC 6665 4.1.2.2 a refresh that verifies the subscription is not put off by a NOTIFY with a lifetime, only by its 2xx")
    func verification() {
        var subscriber = established()
        subscriber.verify(at: start + .seconds(30))
        _ = subscriber.receiveNotify(.active(expires: 590), at: start + .seconds(10))
        #expect(subscriber.nextDeadline == start + .seconds(30))
        #expect(subscriber.advance(to: start + .seconds(30)) == [.subscribe(.refresh, expires: 600)])
        // Refused for now: it is repeated, with or without a NOTIFY meanwhile.
        _ = subscriber.receiveAnswer(status: 503, retryAfter: 20, at: start + .seconds(31))
        _ = subscriber.receiveNotify(.active(expires: 560), at: start + .seconds(40))
        #expect(subscriber.nextDeadline == start + .seconds(51))
        #expect(subscriber.advance(to: start + .seconds(51)) == [.subscribe(.refresh, expires: 600)])
        _ = subscriber.receiveAnswer(status: 200, expires: 600, at: start + .seconds(52))
        _ = subscriber.receiveNotify(.active(expires: 600), at: start + .seconds(52))
        #expect(subscriber.nextDeadline == start + .seconds(52 + 450))
    }

    @Test("a subscription of an earlier process is refreshed in its turn, whatever is notified before")
    func resumed() {
        var subscriber = Subscriber(resuming: .init(expires: 600), expiry: start + .seconds(500), refreshAt: start + .seconds(20))
        _ = subscriber.receiveNotify(.active(expires: 480), at: start + .seconds(10))
        #expect(subscriber.advance(to: start + .seconds(20)) == [.subscribe(.refresh, expires: 600)])
    }

    @Test("RFC 3261 12.2.1.2 a refresh answered 408, or not at all, is made anew after a pause")
    func refreshSilent() {
        var refused = established()
        _ = refused.advance(to: start + .seconds(450))
        #expect(refused.receiveAnswer(status: 408, at: start + .seconds(451)) == [.lost(.refused(status: 408), retryIn: .seconds(5))])
        var silent = established()
        _ = silent.advance(to: start + .seconds(450))
        #expect(silent.subscribeFailed(at: start + .seconds(482)) == [.lost(.silent, retryIn: .seconds(5))])
    }

    @Test("RFC 6665 4.1.2.2 a refresh without its NOTIFY is a failure too (timer N)")
    func refreshWithoutNotify() {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        _ = subscriber.receiveAnswer(status: 200, expires: 600, at: start + .seconds(450))
        #expect(subscriber.nextDeadline == start + .seconds(482))
        #expect(subscriber.advance(to: start + .seconds(482)) == [.lost(.silent, retryIn: .seconds(5))])
    }

    @Test("RFC 3261 20.33 what changes after a refresh was refused with Retry-After is asked for at that time, not earlier")
    func changeWaits() {
        var subscriber = established()
        _ = subscriber.change(at: start + .seconds(10))
        _ = subscriber.receiveAnswer(status: 503, retryAfter: 60, at: start + .seconds(10))
        #expect(subscriber.change(at: start + .seconds(20)) == [])
        _ = subscriber.receiveNotify(.active(expires: 580), at: start + .seconds(20))
        #expect(subscriber.change(at: start + .seconds(30)) == [])
        #expect(subscriber.advance(to: start + .seconds(69)) == [] && subscriber.nextDeadline == start + .seconds(70))
        #expect(subscriber.advance(to: start + .seconds(70)) == [.subscribe(.refresh, expires: 600)])
    }

    @Test("RFC 3261 20.33 a refresh refused with Retry-After is not repeated earlier, whatever a NOTIFY says")
    func refreshWaits() {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        _ = subscriber.receiveAnswer(status: 503, retryAfter: 100, at: start + .seconds(450))
        _ = subscriber.receiveNotify(.active(expires: 120), at: start + .seconds(451))
        #expect(subscriber.nextDeadline == start + .seconds(550))
    }

    @Test("RFC 6665 4.1.2.2 glare: the NOTIFY that ends the dialog crosses the refresh, whose answer counts no more")
    func refreshCrossesEnd() {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        let now = start + .seconds(451)
        #expect(
            subscriber.receiveNotify(.terminated(reason: .probation, retryAfter: 5_000), at: now) == [
                .lost(.terminated(.probation), retryIn: .seconds(5_000))
            ])
        #expect(subscriber.receiveAnswer(status: 200, expires: 600, at: now) == [])
        #expect(subscriber.nextDeadline == now + .seconds(5_000))
    }

    @Test("RFC 6665 4.1.2.1 a fetch is not turned into a subscription by 423")
    func fetchTooBrief() {
        var subscriber = Subscriber(.init(expires: 0))
        _ = subscriber.start(at: start)
        #expect(subscriber.receiveAnswer(status: 423, minimumExpires: 1_800, at: start) == [.end(.refused(status: 423))])
    }

    @Test("RFC 3261 21.4.17 a refresh answered 423 is repeated in the dialog with the Min-Expires")
    func refreshTooBrief() {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        #expect(
            subscriber.receiveAnswer(status: 423, minimumExpires: 1_200, at: start + .seconds(451)) == [
                .subscribe(.refresh, expires: 1_200)
            ])
        _ = subscriber.receiveAnswer(status: 200, expires: 1_200, at: start + .seconds(451))
        #expect(subscriber.configuration.expires == 1_200)
    }

    @Test("RFC 6665 4.2.1.1 granted nothing, the one NOTIFY is awaited, and the far side is asked again with growing pauses")
    func grantedNothing() {
        var subscriber = Subscriber(.init(expires: 600))
        var now = start
        _ = subscriber.start(at: now)
        var pauses: [Int] = []
        for _ in 0..<4 {
            #expect(subscriber.receiveAnswer(status: 200, expires: 0, at: now) == [])
            #expect(subscriber.advance(to: now + .seconds(1)) == [])
            guard
                case .lost(_, let pause) = subscriber.receiveNotify(
                    .terminated(reason: .timeout, retryAfter: nil), at: now + .seconds(1)
                ).first
            else { break }
            pauses.append(pause.seconds)
            now = now + .seconds(1) + pause
            _ = subscriber.advance(to: now)
        }
        #expect(pauses == [0, 10, 20, 40])
    }

    @Test("RFC 6665 4.1.3 a state of an unknown name counts as active, an unknown reason as one that passes")
    func unknownTokens() {
        var subscriber = established()
        #expect(subscriber.receiveNotify(.other("suspended", expires: 300), at: start) == [.status(.other("suspended", expires: 300))])
        let odd = TerminationReason(rawValue: "moonphase")
        #expect(
            subscriber.receiveNotify(.terminated(reason: odd, retryAfter: 9), at: start) == [.lost(.terminated(odd), retryIn: .seconds(9))])
        var mute = established()
        #expect(
            mute.receiveNotify(.terminated(reason: nil, retryAfter: nil), at: start) == [.lost(.terminated(nil), retryIn: .seconds(5))])
    }

    @Test("RFC 6665 4.1.3 Retry-After does not count where the reason says at once")
    func retryAfterIgnored() {
        var subscriber = established()
        #expect(
            subscriber.receiveNotify(.terminated(reason: .deactivated, retryAfter: 900), at: start) == [
                .lost(.terminated(.deactivated), retryIn: .zero)
            ])
    }

    @Test("RFC 6665 4.1.2.3 whoever wants to leave never asks again, whatever comes first")
    func leavesWhateverComes() {
        let ends: [(inout Subscriber, Instant) -> [Subscriber.Action]] = [
            { $0.receiveNotify(.terminated(reason: .deactivated, retryAfter: nil), at: $1) },
            { $0.receiveAnswer(status: 503, retryAfter: 60, at: $1) },
            { $0.receiveAnswer(status: 481, at: $1) },
            { $0.subscribeFailed(at: $1) },
            { $0.advance(to: $1 + .seconds(32)) },
        ]
        for end in ends {
            var subscriber = established()
            _ = subscriber.advance(to: start + .seconds(450))
            #expect(subscriber.unsubscribe(hasDialog: true, at: start + .seconds(450)) == [])
            #expect(end(&subscriber, start + .seconds(450)) == [.end(nil)])
            #expect(subscriber.isOver && subscriber.nextDeadline == nil)
        }
    }

    @Test("RFC 6665 6.2 no storm: legs lost together come back apart, by seed, later and never sooner")
    func jitter() {
        var pauses: Set<TimeSpan> = []
        for seed in 1...50 {
            var subscriber = established(jitterSeed: UInt64(seed))
            let actions = subscriber.receiveNotify(.terminated(reason: .probation, retryAfter: 100), at: start)
            guard case .lost(_, let pause) = actions.first else { return #expect(Bool(false), "not lost") }
            #expect(pause >= .seconds(100) && pause <= .seconds(125))
            pauses.insert(pause)
            var same = established(jitterSeed: UInt64(seed))
            #expect(same.receiveNotify(.terminated(reason: .probation, retryAfter: 100), at: start) == actions)
        }
        #expect(pauses.count > 40)
    }

    @Test("RFC 3261 16.3 a loop or used-up Max-Forwards is no passing failure", arguments: [482, 483])
    func loops(status: Int) {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        #expect(subscriber.receiveAnswer(status: status, retryAfter: 9, at: start) == [.end(.refused(status: status))])
    }
}
