import SIPCore
import Testing

@testable import PresenceGateway

@Suite struct RedirectGuardTests {
    let start = Instant(secondsSince1970: 1_700_000_000)
    let home = UpstreamTarget.pool(SIPURI(host: "contoso.com"))

    func pool(_ number: Int) -> UpstreamTarget { .pool(SIPURI(user: "pool\(number)", host: "contoso.com")) }

    @Test("a new place is followed at once, a place where the presentity has been is not")
    func loops() {
        var guardian = RedirectGuard(random: TokenGenerator(key: .seeded(1)))
        var redirectHistory = RedirectHistory()
        #expect(guardian.decide(&redirectHistory, from: home, to: pool(1), at: start) == .follow(after: .zero))
        #expect(guardian.decide(&redirectHistory, from: pool(1), to: pool(2), at: start) == .follow(after: .zero))
        guard case .rest(let pause, isLoop: true) = guardian.decide(&redirectHistory, from: pool(2), to: home, at: start) else {
            Issue.record("followed in a circle")
            return
        }
        #expect(pause >= .seconds(5) && pause <= .seconds(10))
    }

    @Test("rests double up to their longest, and are not the same for two seeds")
    func growth() {
        func rests(seed: UInt64) -> [TimeSpan] {
            var guardian = RedirectGuard(random: TokenGenerator(key: .seeded(seed)))
            var redirectHistory = RedirectHistory()
            return (0..<14).map { _ in guardian.rest(&redirectHistory, at: start) }
        }
        let one = rests(seed: 1)
        for (index, rest) in one.enumerated() {
            let whole = min(TimeSpan.seconds(10 << index), .seconds(3_600))
            #expect(rest >= whole / 2 && rest <= whole)
        }
        #expect(one == rests(seed: 1) && one != rests(seed: 2))
    }

    @Test("one presentity is followed six times an hour, however many places are named")
    func rate() {
        var guardian = RedirectGuard(random: TokenGenerator(key: .seeded(1)))
        var redirectHistory: RedirectHistory? = RedirectHistory()
        var followed = 0
        for step in 0..<100 {
            let now = start + .seconds(step)
            if case .follow = guardian.decide(&redirectHistory!, from: pool(step), to: pool(step + 1), at: now) { followed += 1 }
            // Each place shows state and then sends it on.
            guardian.arrived(&redirectHistory, at: pool(step + 1), now: now)
            if redirectHistory == nil { redirectHistory = RedirectHistory() }
        }
        #expect(followed == 6)
    }

    @Test("a presentity that stays where it was sent to has a clean slate after a while")
    func settled() {
        var guardian = RedirectGuard(random: TokenGenerator(key: .seeded(1)))
        var redirectHistory: RedirectHistory? = RedirectHistory()
        _ = guardian.rest(&redirectHistory!, at: start)
        guardian.arrived(&redirectHistory, at: pool(1), now: start + .seconds(60))
        #expect(redirectHistory?.setbacks == 1)
        guardian.arrived(&redirectHistory, at: pool(1), now: start + .seconds(3_700))
        #expect(redirectHistory == nil)
    }

    @Test("many presentities that are sent to one place come there spread over time")
    func rush() {
        var guardian = RedirectGuard(random: TokenGenerator(key: .seeded(1)))
        var waits: [TimeSpan] = []
        for _ in 0..<200 {
            var redirectHistory = RedirectHistory()
            if case .follow(let wait) = guardian.decide(&redirectHistory, from: home, to: pool(1), at: start) { waits.append(wait) }
        }
        #expect(waits.count == 200 && waits.filter { $0 == .zero }.count == 50)
        #expect(waits.contains { $0 > .seconds(3) } && waits.allSatisfy { $0 <= .seconds(4) })
    }

    @Test("who is sent to a place that sent somebody in circles waits for it, until it shows state")
    func pausedAddress() {
        var guardian = RedirectGuard(random: TokenGenerator(key: .seeded(1)))
        var (one, other, third) = (RedirectHistory(), RedirectHistory(), RedirectHistory())
        _ = guardian.decide(&one, from: home, to: pool(1), at: start)
        _ = guardian.decide(&one, from: pool(1), to: pool(1), at: start)
        guard case .follow(let wait) = guardian.decide(&other, from: home, to: pool(1), at: start) else {
            Issue.record("not followed")
            return
        }
        #expect(wait > .zero && wait <= .seconds(61))
        var none: RedirectHistory?
        guardian.arrived(&none, at: pool(1), now: start + .seconds(1))
        #expect(guardian.decide(&third, from: home, to: pool(1), at: start + .seconds(2)) == .follow(after: .zero))
    }
}
