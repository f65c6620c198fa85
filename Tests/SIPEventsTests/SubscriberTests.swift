import SIPCore
import SIPEvents
import Testing

@Suite struct SubscriberTests {
    let start = Instant(secondsSince1970: 1_000_000)

    func established(expires: Int = 600) -> Subscriber {
        var subscriber = Subscriber(.init(expires: expires))
        _ = subscriber.start(at: start)
        _ = subscriber.receiveAnswer(status: 200, expires: expires, at: start)
        _ = subscriber.receiveNotify(.active(expires: expires), at: start)
        return subscriber
    }

    @Test("RFC 6665 4.1.2 200 and NOTIFY establish, and a refresh comes before the end")
    func establishes() {
        var subscriber = Subscriber(.init(expires: 600))
        #expect(subscriber.start(at: start) == [.subscribe(.initial(1), expires: 600)])
        #expect(subscriber.receiveAnswer(status: 200, expires: 600, at: start) == [])
        #expect(subscriber.receiveNotify(.active(expires: 600), at: start) == [.status(.active(expires: 600))])
        #expect(subscriber.nextDeadline == start + .seconds(450))
        #expect(subscriber.advance(to: start + .seconds(450)) == [.subscribe(.refresh, expires: 600)])
    }

    @Test("RFC 6665 4.4.1 the NOTIFY may come before the 200")
    func notifyFirst() {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        #expect(subscriber.receiveNotify(.pending(expires: 300), at: start) == [.status(.pending(expires: 300))])
        #expect(subscriber.receiveAnswer(status: 200, expires: 300, at: start) == [])
        #expect(subscriber.nextDeadline == start + .seconds(225))
    }

    @Test("RFC 6665 4.1.2.4 no NOTIFY within timer N is a failure")
    func timerN() {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        _ = subscriber.receiveAnswer(status: 200, expires: 600, at: start)
        #expect(subscriber.nextDeadline == start + .seconds(32))
        #expect(subscriber.advance(to: start + .seconds(32)) == [.lost(.silent, retryIn: .seconds(5))])
        #expect(subscriber.advance(to: start + .seconds(37)) == [.subscribe(.initial(2), expires: 600)])
    }

    @Test("RFC 6665 4.1.2.1 the notifier's expires may be shorter, and never longer")
    func authoritativeExpiry() {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        _ = subscriber.receiveAnswer(status: 200, expires: 6_000, at: start)
        _ = subscriber.receiveNotify(.active(expires: 120), at: start)
        #expect(subscriber.nextDeadline == start + .seconds(88))
    }

    @Test("RFC 6665 4.1.2.2 481 to a refresh starts anew in a new dialog")
    func refreshLost() {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        let now = start + .seconds(451)
        #expect(subscriber.receiveAnswer(status: 481, at: now) == [.lost(.refused(status: 481), retryIn: .zero)])
        #expect(subscriber.advance(to: now) == [.subscribe(.initial(2), expires: 600)])
    }

    @Test("RFC 6665 4.1.2.2 other failures of a refresh leave it valid until it lapses")
    func refreshFails() {
        var subscriber = established()
        _ = subscriber.advance(to: start + .seconds(450))
        #expect(subscriber.receiveAnswer(status: 500, at: start + .seconds(451)) == [])
        #expect(subscriber.advance(to: start + .seconds(456)) == [.subscribe(.refresh, expires: 600)])
        #expect(subscriber.receiveAnswer(status: 503, retryAfter: 1_000, at: start + .seconds(457)) == [])
        #expect(subscriber.advance(to: start + .seconds(600)) == [.lost(.lapsed, retryIn: .zero)])
    }

    @Test("RFC 3261 21.4.17 423 is met once with the Min-Expires it names")
    func tooBrief() {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        #expect(subscriber.receiveAnswer(status: 423, minimumExpires: 1_800, at: start) == [.subscribe(.initial(2), expires: 1_800)])
        #expect(
            subscriber.receiveAnswer(status: 423, minimumExpires: 3_600, at: start) == [.lost(.refused(status: 423), retryIn: .seconds(5))])
    }

    @Test(
        "RFC 6665 4.1.3 reasons decide what follows",
        arguments: [
            (TerminationReason.deactivated, Subscriber.Action.lost(.terminated(.deactivated), retryIn: .zero)),
            (.timeout, .lost(.terminated(.timeout), retryIn: .zero)),
            (.probation, .lost(.terminated(.probation), retryIn: .seconds(77))),
            (.giveup, .lost(.terminated(.giveup), retryIn: .seconds(77))),
            (.rejected, .end(.terminated(.rejected))),
            (.noresource, .end(.terminated(.noresource))),
            (.invariant, .end(.terminated(.invariant))),
        ])
    func reasons(reason: TerminationReason, action: Subscriber.Action) {
        var subscriber = established()
        #expect(subscriber.receiveNotify(.terminated(reason: reason, retryAfter: 77), at: start) == [action])
    }

    @Test("a far side that ends every dialog at birth is asked with growing pauses")
    func backoff() {
        var subscriber = Subscriber(.init(expires: 600))
        var now = start
        _ = subscriber.start(at: now)
        var pauses: [Int] = []
        for _ in 0..<9 {
            _ = subscriber.receiveAnswer(status: 200, expires: 600, at: now)
            _ = subscriber.receiveNotify(.active(expires: 600), at: now)
            guard
                case .lost(_, let pause) = subscriber.receiveNotify(.terminated(reason: .deactivated, retryAfter: nil), at: now).first
            else { break }
            pauses.append(pause.seconds)
            now = now + pause
            _ = subscriber.advance(to: now)
        }
        #expect(pauses == [0, 10, 20, 40, 80, 160, 300, 300, 300])
    }

    @Test(
        "refusals that will not pass end it; others are tried again",
        arguments: [(403, true), (404, true), (603, true), (480, false), (503, false), (408, false)])
    func refusals(status: Int, isFinal: Bool) {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        let actions = subscriber.receiveAnswer(status: status, retryAfter: 9, at: start)
        #expect(actions == (isFinal ? [.end(.refused(status: status))] : [.lost(.refused(status: status), retryIn: .seconds(9))]))
        #expect(subscriber.isOver == isFinal)
    }

    @Test("RFC 6665 4.1.2.3 unsubscribing waits for the final NOTIFY, or for timer N")
    func unsubscribes() {
        for hears in [true, false] {
            var subscriber = established()
            #expect(subscriber.unsubscribe(hasDialog: true, at: start) == [.subscribe(.unsubscribe, expires: 0)])
            #expect(subscriber.receiveAnswer(status: 200, expires: 0, at: start) == [])
            if hears {
                #expect(subscriber.receiveNotify(.terminated(reason: .timeout, retryAfter: nil), at: start) == [.end(nil)])
            } else {
                #expect(subscriber.advance(to: start + .seconds(32)) == [.end(nil)])
            }
            #expect(subscriber.isOver && subscriber.nextDeadline == nil)
        }
    }

    @Test("a wish to leave before the answer is fulfilled after it")
    func leavesEarly() {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        #expect(subscriber.unsubscribe(hasDialog: false, at: start) == [])
        #expect(subscriber.receiveAnswer(status: 200, expires: 600, at: start) == [.subscribe(.unsubscribe, expires: 0)])
    }

    @Test("RFC 6665 4.4.3 a fetch ends with its NOTIFY and never repeats")
    func fetch() {
        var subscriber = Subscriber(.init(expires: 0))
        #expect(subscriber.start(at: start) == [.subscribe(.initial(1), expires: 0)])
        _ = subscriber.receiveAnswer(status: 200, expires: 0, at: start)
        #expect(subscriber.receiveNotify(.terminated(reason: .timeout, retryAfter: nil), at: start) == [.end(nil)])
        var silent = Subscriber(.init(expires: 0))
        _ = silent.start(at: start)
        _ = silent.receiveAnswer(status: 200, expires: 0, at: start)
        #expect(silent.advance(to: start + .seconds(32)) == [.end(.silent)])
    }

    @Test("MS-SIP 3.4.5.1 a piggybacked 200 counts as the NOTIFY")
    func piggyback() {
        var subscriber = Subscriber(.init(expires: 600))
        _ = subscriber.start(at: start)
        #expect(
            subscriber.receiveAnswer(status: 200, expires: 600, piggybacked: .active(expires: 600), at: start) == [
                .status(.active(expires: 600))
            ])
        #expect(subscriber.nextDeadline == start + .seconds(450))
    }
}
