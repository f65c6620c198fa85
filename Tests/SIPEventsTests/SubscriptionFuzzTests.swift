import SIPCore
import SIPEvents
import Testing

/// Random orders of events by seed: forbidden states do not occur, and time alone ends every machine.
@Suite struct SubscriptionFuzzTests {
    private struct Dice {
        var state: UInt64
        mutating func roll(_ sides: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(sides))
        }
    }

    private static let statuses = [200, 200, 200, 202, 302, 400, 401, 403, 404, 408, 413, 423, 480, 481, 482, 489, 500, 503, 603]
    private static let reasons: [TerminationReason?] = [
        nil, .deactivated, .probation, .rejected, .timeout, .giveup, .noresource, .invariant, TerminationReason(rawValue: "odd"),
    ]

    @Test("RFC 6665 4.2 notifier: at most one NOTIFY outstanding, one 200 per SUBSCRIBE, nothing after the end", arguments: 0..<400)
    func notifier(seed: Int) {
        var dice = Dice(state: UInt64(seed))
        var now = Instant(secondsSince1970: 1_000_000)
        let isBestEffort = dice.roll(4) == 0
        var notifier = Notifier(
            .init(
                expiry: NotifierTests.expiry, bestEffort: isBestEffort, grace: .seconds(dice.roll(2)),
                fetchWait: .seconds(dice.roll(2) * 3)),
            isAuthorized: dice.roll(4) > 0, isReady: dice.roll(2) == 0)
        var isOutstanding = false
        var hasLastBeenSaid = false
        var isOver = false

        func check(_ actions: [Notifier.Action], isAnswerExpected: Bool = false) {
            var answers = 0
            for action in actions {
                #expect(!isOver, "seed \(seed): \(action) after the end")
                switch action {
                case .accept(let expires, let status, _):
                    answers += 1
                    #expect(expires <= NotifierTests.expiry.maximum && expires >= 0)
                    #expect((expires == 0) == status.isTerminated)
                case .acceptQuietly(let expires):
                    answers += 1
                    #expect(expires <= NotifierTests.expiry.maximum && expires >= 0)
                    #expect(actions.count == (expires == 0 ? 2 : 1), "seed \(seed): \(actions)")
                case .refuse:
                    answers += 1
                case .notify(let status, _):
                    #expect(!isOutstanding, "seed \(seed): two NOTIFYs outstanding")
                    #expect(!hasLastBeenSaid, "seed \(seed): a NOTIFY after the last one")
                    if status.isTerminated { hasLastBeenSaid = true } else { #expect(status.expires != nil) }
                    isOutstanding = !isBestEffort
                case .end:
                    isOver = true
                    isOutstanding = false
                }
            }
            #expect(answers == (isAnswerExpected ? 1 : 0), "seed \(seed): \(actions)")
            #expect(notifier.isOver == (isOver || answers == 1 && notifier.isOver))
        }

        check(
            notifier.receiveSubscribe(expires: [nil, 0, 10, 300, 9_000][dice.roll(5)], piggyback: dice.roll(3) == 0, at: now),
            isAnswerExpected: true)
        for _ in 0..<120 where !notifier.isOver {
            now = now + .milliseconds(dice.roll(20_000))
            switch dice.roll(10) {
            case 0:
                let isExpected = notifier.isRefreshable
                check(
                    notifier.receiveSubscribe(
                        expires: [nil, 0, 10, 300, 9_000][dice.roll(5)], piggyback: dice.roll(3) == 0,
                        skipping: [.nothing, .nothing, .thisOne, .allDue][dice.roll(4)], at: now),
                    isAnswerExpected: isExpected)
            case 1, 2: check(notifier.stateChanged(at: now))
            case 3: check(notifier.authorize(dice.roll(3) > 0, at: now))
            case 4, 5:
                let wasOutstanding = isOutstanding
                isOutstanding = false
                let status = Self.statuses[dice.roll(Self.statuses.count)]
                // A last NOTIFY that is challenged may be sent once more.
                if wasOutstanding, status == 401 { hasLastBeenSaid = hasLastBeenSaid && !notifier.isEnding }
                let actions = notifier.receiveAnswer(status: status, retryAfter: dice.roll(2) == 0 ? dice.roll(500) : nil, at: now)
                #expect(wasOutstanding || actions.isEmpty)
                check(actions)
            case 6 where isOutstanding || isBestEffort:
                isOutstanding = false
                hasLastBeenSaid = hasLastBeenSaid && !notifier.isEnding
                check(notifier.notifyFailed(dice.roll(2) == 0 ? .silence : .transport, chance: UInt64(dice.roll(1_000)), at: now))
            case 7 where dice.roll(8) == 0: check(notifier.terminate(.probation, retryAfter: 5, at: now))
            case 8: check(notifier.repeatState(at: now))
            default: check(notifier.advance(to: now))
            }
        }
        // Time alone ends it, in finitely many steps.
        var steps = 0
        while let due = notifier.nextDeadline, steps < 2_000 {
            steps += 1
            let before = now
            now = max(now, due)
            let actions = notifier.advance(to: now)
            check(actions)
            #expect(!actions.isEmpty || now > before || notifier.nextDeadline != due, "seed \(seed): a deadline that does nothing")
        }
        #expect(notifier.isOver && steps < 2_000, "seed \(seed)")
    }

    @Test(
        "RFC 6665 4.1 subscriber: one SUBSCRIBE unanswered, deadlines that do something, and an end by time once it is unwanted",
        arguments: 0..<400)
    func subscriber(seed: Int) {
        var dice = Dice(state: UInt64(seed) &+ 77)
        var now = Instant(secondsSince1970: 1_000_000)
        var subscriber = Subscriber(.init(expires: dice.roll(6) == 0 ? 0 : 600, jitterSeed: UInt64(dice.roll(2) * 9)))
        var attempt = 0
        var isUnanswered = false
        var isOver = false

        func check(_ actions: [Subscriber.Action]) {
            for action in actions {
                #expect(!isOver, "seed \(seed): \(action) after the end")
                if case .subscribe = action {
                    #expect(!isUnanswered, "seed \(seed): \(action) while another one is unanswered")
                    isUnanswered = true
                }
                switch action {
                case .subscribe(.initial(let number), let expires):
                    #expect(number == attempt + 1, "seed \(seed)")
                    #expect((expires == 0) == subscriber.isFetch)
                    attempt = number
                case .subscribe(_, let expires): #expect(expires >= 0)
                case .status(let status): #expect(!status.isTerminated)
                case .lost(_, let pause):
                    #expect(pause >= .zero)
                    // A response in the lost dialog does not belong to the new one.
                    isUnanswered = false
                case .end: isOver = true
                }
            }
            #expect(subscriber.isOver == isOver, "seed \(seed)")
            if isOver { #expect(subscriber.nextDeadline == nil) }
        }

        func status() -> SubscriptionStatus {
            switch dice.roll(6) {
            case 0: .pending(expires: dice.roll(700))
            case 1: .terminated(reason: Self.reasons[dice.roll(Self.reasons.count)], retryAfter: dice.roll(2) == 0 ? dice.roll(9_000) : nil)
            case 2: .other("odd", expires: nil)
            default: .active(expires: dice.roll(3) == 0 ? nil : dice.roll(700))
            }
        }

        /// Advances the clock to the next deadline; false when there is none.
        func turn() -> Bool {
            guard let due = subscriber.nextDeadline else { return false }
            let before = now
            now = max(now, due)
            let actions = subscriber.advance(to: now)
            check(actions)
            #expect(!actions.isEmpty || now > before || subscriber.nextDeadline != due, "seed \(seed): a deadline that does nothing")
            return true
        }

        check(subscriber.start(at: now))
        for _ in 0..<150 where !subscriber.isOver {
            switch dice.roll(8) {
            case 0, 1:
                isUnanswered = false
                check(
                    subscriber.receiveAnswer(
                        status: Self.statuses[dice.roll(Self.statuses.count)], expires: dice.roll(3) == 0 ? nil : dice.roll(700),
                        minimumExpires: dice.roll(2_000), retryAfter: dice.roll(2) == 0 ? dice.roll(9_000) : nil,
                        piggybacked: dice.roll(6) == 0 ? status() : nil, at: now))
            case 2, 3: check(subscriber.receiveNotify(status(), at: now))
            case 4 where dice.roll(4) == 0:
                isUnanswered = false
                check(subscriber.subscribeFailed(at: now))
            case 5 where dice.roll(20) == 0:
                isUnanswered = false
                check(subscriber.restart(at: now))
            case 5: check(subscriber.change(at: now))
            case 6: _ = turn()
            default:
                now = now + .milliseconds(dice.roll(60_000))
                check(subscriber.advance(to: now))
            }
        }
        // A wanted subscription has a next event at all times.
        if !subscriber.isOver { #expect(subscriber.nextDeadline != nil, "seed \(seed)") }
        check(subscriber.unsubscribe(hasDialog: dice.roll(2) == 0, at: now))
        var steps = 0
        while !subscriber.isOver, steps < 50, turn() { steps += 1 }
        #expect(subscriber.isOver, "seed \(seed)")
    }
}
