import SIPCore
import Testing

@testable import SIPTransport

@Suite struct ConnectPausesTests {
    private let target = TransportAddress(.tcp, "192.0.2.1", 5060)
    private let start = Instant(secondsSince1970: 1_700_000_000)

    /// Generator with the same numbers in every run.
    private struct Seeded: RandomNumberGenerator {
        var state: UInt64
        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var word = state
            word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
            word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
            return word ^ (word >> 31)
        }
    }

    private func pauses(failing times: Int, seed: UInt64) -> [TimeSpan] {
        var random = Seeded(state: seed)
        var pauses = ConnectPauses(shortest: .milliseconds(500), longest: .seconds(30))
        var now = start
        return (0..<times).map { _ in
            pauses.failed(target, "refused", at: now, using: &random)
            var end = now
            while pauses.pauseReason(at: target, now: end) != nil { end = end + .milliseconds(1) }
            defer { now = end }
            return end - now
        }
    }

    @Test("a target that fails again and again is left alone for 0.5 s, doubled each time up to 30 s, and up to a quarter longer by chance")
    func doubling() {
        let steps = [500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000].map { TimeSpan.milliseconds($0) }
        let drawn = (1...8).map { pauses(failing: steps.count, seed: $0) }
        for pauses in drawn {
            for (pause, step) in zip(pauses, steps) {
                #expect(pause >= step && pause <= step + TimeSpan(nanoseconds: step.nanoseconds / 4) + .milliseconds(1))
            }
        }
        #expect(Set(drawn.map { $0[6] }).count > 4)
        #expect(drawn[0] == pauses(failing: steps.count, seed: 1))
    }

    @Test("within the pause the last diagnosis stands, and other tries that fail do not lengthen it; other targets are not concerned")
    func oneAtATime() {
        var random = Seeded(state: 7)
        var pauses = ConnectPauses(shortest: .seconds(1), longest: .seconds(8))
        pauses.failed(target, "refused", at: start, using: &random)
        pauses.failed(target, "timed out", at: start + .milliseconds(900), using: &random)
        #expect(pauses.pauseReason(at: target, now: start + .milliseconds(999)) == "refused")
        #expect(pauses.pauseReason(at: target, now: start + .milliseconds(1_250)) == nil)
        #expect(pauses.pauseReason(at: TransportAddress(.tcp, "192.0.2.1", 5061), now: start) == nil)
    }

    @Test("success ends the pause, and so does a long time: the next failure begins with the shortest") func reset() {
        var random = Seeded(state: 7)
        var pauses = ConnectPauses(shortest: .seconds(1), longest: .seconds(8))
        for second in [0, 2, 5] { pauses.failed(target, "refused", at: start + .seconds(second), using: &random) }
        #expect(pauses.pauseReason(at: target, now: start + .milliseconds(8_999)) != nil)
        pauses.succeeded(target)
        #expect(pauses.pauseReason(at: target, now: start + .seconds(6)) == nil)
        pauses.failed(target, "refused", at: start + .seconds(6), using: &random)
        #expect(pauses.pauseReason(at: target, now: start + .milliseconds(7_250)) == nil)
        pauses.failed(target, "refused", at: start + .seconds(60), using: &random)
        #expect(pauses.pauseReason(at: target, now: start + .milliseconds(61_250)) == nil)
    }

    @Test("4096 targets are remembered: beyond it the pause that ends first is forgotten") func bound() {
        var random = Seeded(state: 7)
        var pauses = ConnectPauses(shortest: .seconds(60), longest: .seconds(60))
        // The first pause ends first, whatever its jitter.
        for port in 1...4_097 {
            pauses.failed(
                TransportAddress(.tcp, "192.0.2.1", port), "refused", at: start + (port == 1 ? .zero : .seconds(20)), using: &random)
        }
        #expect(pauses.count == 4_096)
        #expect(pauses.pauseReason(at: TransportAddress(.tcp, "192.0.2.1", 1), now: start + .seconds(20)) == nil)
        #expect(pauses.pauseReason(at: TransportAddress(.tcp, "192.0.2.1", 2), now: start + .seconds(20)) == "refused")
    }

    @Test("all connections of one IPv4 address, or of one /64 of IPv6, count together, and what ends makes room") func addresses() throws {
        let counts = RemoteAddressCounts()
        func take(_ host: String) throws -> Bool {
            let key = RemoteAddressCounts.Key(host: host)
            if case .taken = counts.take(key, limit: 2, at: start) { return true }
            return false
        }
        #expect(try [take("192.0.2.1"), take("192.0.2.1"), take("192.0.2.1"), take("192.0.2.2")] == [true, true, false, true])
        // The same host as seen on a dual-stack socket.
        #expect(try !take("::ffff:192.0.2.1"))
        #expect(try [take("2001:db8::1"), take("2001:db8::2"), take("2001:db8::3"), take("2001:db8:0:1::1")] == [true, true, false, true])
        counts.release(RemoteAddressCounts.Key(host: "192.0.2.1"))
        #expect(try [take("192.0.2.1"), take("192.0.2.1")] == [true, false])
    }
}
