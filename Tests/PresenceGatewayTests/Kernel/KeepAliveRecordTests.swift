import SIPCore
import Testing

@testable import PresenceGateway

/// Every transition of ``KeepAlive``.
@Suite struct KeepAliveRecordTests {
    private let start = Instant(secondsSince1970: 1_700_000_000)

    private let ticket = Ticket(.border, only: 0)

    private var record: KeepAlive { KeepAlive(ticket: ticket, interval: .seconds(60), dueAt: start) }

    @Test("resting: one request per server opens it, and the end of all of them closes it")
    func ask() {
        var record = record
        record.ended()
        #expect(record.isResting)
        record.ask(0)
        #expect(record.open == 1)
        record.ended()
        record.ask(3)
        record.ask(5)
        #expect(record.open == 3)
        for _ in 0..<3 { record.ended() }
        #expect(record.isResting)
    }

    @Test("another unanswered request asks at once, at most once in a pause, and not while requests are open")
    func askNow() {
        var record = record
        #expect(record.askNow(pause: .seconds(15), at: start) == true)
        #expect(record.askNow(pause: .seconds(15), at: start + .seconds(20)) == false)
        record.ended()
        #expect(record.askNow(pause: .seconds(15), at: start + .seconds(14)) == false)
        #expect(record.askNow(pause: .seconds(15), at: start + .seconds(15)) == true)
    }

    @Test("the next time moves forward only, except by a plan")
    func plan() {
        var record = record
        record.plan(at: start + .seconds(60))
        #expect(!record.planSooner(at: start + .seconds(60)) && record.planSooner(at: start + .seconds(15)))
        #expect(record.dueAt == start + .seconds(15))
    }

    @Test("a changed interval keeps open requests")
    func changed() {
        var before = record
        before.ask(2)
        #expect(KeepAlive(ticket: ticket, interval: .seconds(5), dueAt: start, after: before).open == 2)
        #expect(KeepAlive(ticket: ticket, interval: .seconds(5), dueAt: start, after: nil).isResting)
    }
}
