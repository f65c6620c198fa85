import SIPCore
import Testing

@testable import SIPTransport

@Suite struct LatenessMeterTests {
    static let start = Instant(secondsSince1970: 1_700_000_000)

    @Test("a loop is late by the time it took to read a tick, or by that since the deadline, whichever is more") func whichever() {
        var meter = LatenessMeter(threshold: .milliseconds(100))
        let now = Self.start
        #expect(meter.measure(tickBegan: nil, deadline: nil, at: now) == nil)
        #expect(meter.measure(tickBegan: now - .milliseconds(99), deadline: now + .seconds(5), at: now) == nil)
        #expect(meter.measure(tickBegan: now - .milliseconds(100), deadline: nil, at: now) == .milliseconds(100))
        #expect(meter.measure(tickBegan: now - .milliseconds(150), deadline: now - .milliseconds(300), at: now) == .milliseconds(300))
        #expect(meter.isLate)
        #expect(meter.measure(tickBegan: nil, deadline: now, at: now) == .zero)
        #expect(!meter.isLate)
        #expect(meter.measure(tickBegan: nil, deadline: nil, at: now) == nil, "said once")
    }

    @Test("what the program itself asked the loop for does not count, and is left out once") func excused() {
        var meter = LatenessMeter(threshold: .milliseconds(100))
        let now = Self.start
        meter.excuse(.milliseconds(1_500))
        meter.excuse(.milliseconds(500))
        #expect(meter.measure(tickBegan: now - .milliseconds(2_050), deadline: now - .milliseconds(1_900), at: now) == nil)
        #expect(meter.measure(tickBegan: now - .milliseconds(2_050), deadline: nil, at: now) == .milliseconds(2_050))
    }
}
