import FederationRouting
import SIPCore
import Testing

@Suite struct TargetHealthTests {
    private let start = Instant(secondsSince1970: 1_000_000)
    private let first = TransportAddress(.tcp, "192.0.2.1", 5060)
    private let second = TransportAddress(.tcp, "192.0.2.2", 5060)
    private var both: [TransportAddress] { [first, second] }

    @Test("RFC 3263 4.3: a hop that failed is passed over for a while, then tried again")
    func passedOver() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        #expect(health.order(both, at: start) == both)
        #expect(health.failed(first, "refused", at: start, using: &random))
        #expect(health.order(both, at: start) == [second, first])
        #expect(health.order(both, at: start + .seconds(3)) == both)
        health.succeeded(first)
        #expect(health.count == 0)
    }

    @Test("one request at a time tries a hop that was down")
    func oneTrial() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        health.failed(first, "refused", at: start, using: &random)
        let later = start + .seconds(3)
        health.began(first, at: later)
        #expect(health.order(both, at: later) == [second, first])
        #expect(health.order(both, at: later + .seconds(32)) == both)
        health.began(second, at: later)
        #expect(!health.isPassedOver(second, at: later))
    }

    @Test("pauses double up to the longest, with a tenth of jitter")
    func backoff() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        var now = start
        var pauses: [Double] = []
        for _ in 0..<12 {
            health.failed(first, "refused", at: now, using: &random)
            let until = health.reports[0].until
            pauses.append(Double((until - now).nanoseconds) / 1e9)
            now = until
        }
        for (pause, middle) in zip(pauses, [2.0, 4, 8, 16, 32, 64, 128, 256, 300, 300, 300, 300]) {
            #expect(abs(pause - middle) <= middle / 10 + 0.001)
        }
        #expect(Set(pauses.suffix(4)).count == 4)
    }

    @Test("requests that were on their way when a hop went down do not lengthen its pause")
    func burst() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        for _ in 0..<100 { health.failed(first, "refused", at: start, using: &random) }
        #expect(health.reports[0].failures == 1)
        #expect(health.downCount(at: start) == 1)
        #expect(health.downCount(at: start + .seconds(3)) == 0)
    }

    @Test("RFC 3261 21.5.4: Retry-After is honoured, up to an hour")
    func retryAfter() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        health.failed(first, "503", retryAfter: 120, at: start, using: &random)
        #expect(health.isPassedOver(first, at: start + .seconds(119)))
        #expect(!health.isPassedOver(first, at: start + .seconds(120)))
        health.failed(second, "503", retryAfter: 1_000_000, at: start, using: &random)
        #expect(!health.isPassedOver(second, at: start + .seconds(3_600)))
    }

    @Test("of hops that are all down the first to recover is tried first")
    func allDown() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        health.failed(first, "503", retryAfter: 60, at: start, using: &random)
        health.failed(second, "503", retryAfter: 30, at: start, using: &random)
        #expect(health.order(both, at: start) == [second, first])
    }

    @Test("the same address for two names is two hops")
    func names() {
        var health = TargetHealth()
        var random = TokenGenerator(seed: 1)
        let one = TransportAddress(.tls, "192.0.2.1", 5061, proving: "a.example.org")
        health.failed(one, "certificate", at: start, using: &random)
        #expect(!health.isPassedOver(TransportAddress(.tls, "192.0.2.1", 5061, proving: "b.example.org"), at: start))
    }

    @Test("a full table forgets the hop that would be tried again first")
    func bound() {
        var policy = TargetHealth.Policy()
        policy.entries = 2
        var health = TargetHealth(policy: policy)
        var random = TokenGenerator(seed: 1)
        let third = TransportAddress(.tcp, "192.0.2.3", 5060)
        health.failed(first, "503", retryAfter: 60, at: start, using: &random)
        health.failed(second, "503", retryAfter: 30, at: start, using: &random)
        health.failed(third, "503", retryAfter: 90, at: start, using: &random)
        #expect(Set(health.reports.map(\.target)) == [first, third])
    }
}
