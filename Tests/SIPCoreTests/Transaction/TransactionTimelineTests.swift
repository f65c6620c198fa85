import Testing

@testable import SIPCore

@Suite struct TransactionTimelineTests {
    private let start = Instant(secondsSince1970: 1_000)

    /// Deadlines of the machine in milliseconds after the start, with the action at each.
    private func run(_ machine: ClientNonInviteTransaction) -> [(Int, ClientNonInviteTransaction.OnTimer)] {
        var machine = machine
        var events: [(Int, ClientNonInviteTransaction.OnTimer)] = []
        while let deadline = machine.nextDeadline, events.count < 50 {
            events.append((Int((deadline - start).nanoseconds / 1_000_000), machine.advance(to: deadline)))
        }
        return events
    }

    @Test("RFC 3261 17.1.2.2 timers E and F over UDP: 0, .5, 1.5, 3.5, 7.5, then every 4 s, timeout at 32 s")
    func clientOverUDP() {
        let events = run(ClientNonInviteTransaction(isReliable: false, at: start))
        #expect(events.map(\.0) == [500, 1500, 3500, 7500, 11500, 15500, 19500, 23500, 27500, 31500, 32000])
        #expect(events.dropLast().allSatisfy { $0.1 == .retransmit })
        #expect(events.last?.1 == .timeout)
    }

    @Test("RFC 3261 17.1.2.2 no timer E over reliable transports")
    func clientOverTCP() {
        let events = run(ClientNonInviteTransaction(isReliable: true, at: start))
        #expect(events.map(\.0) == [32000])
        #expect(events.last?.1 == .timeout)
    }

    @Test("RFC 3261 17.1.2.2 after a provisional response timer E is T2")
    func clientProceeding() {
        var machine = ClientNonInviteTransaction(isReliable: false, at: start)
        #expect(machine.receive(.trying, at: start + .milliseconds(200)) == .deliver)
        #expect(run(machine).map(\.0) == [500, 4500, 8500, 12500, 16500, 20500, 24500, 28500, 32000])
    }

    @Test("RFC 3261 17.1.2.2 timer K absorbs copies for T4 over UDP, not at all over TCP")
    func clientCompleted() {
        var machine = ClientNonInviteTransaction(isReliable: false, at: start)
        #expect(machine.receive(.ok, at: start + .milliseconds(700)) == .deliver)
        #expect(machine.receive(.ok, at: start + .milliseconds(900)) == .absorb)
        #expect(machine.nextDeadline == start + .milliseconds(5700))
        #expect(machine.advance(to: start + .milliseconds(5699)) == .nothing)
        #expect(machine.advance(to: start + .milliseconds(5700)) == .terminate)
        var reliable = ClientNonInviteTransaction(isReliable: true, at: start)
        #expect(reliable.receive(.notFound, at: start) == .deliver)
        #expect(reliable.state == .terminated)
        #expect(reliable.nextDeadline == nil)
    }

    @Test("a late wake-up sends one copy, not the missed ones")
    func clientLate() {
        var machine = ClientNonInviteTransaction(isReliable: false, at: start)
        let late = start + .seconds(9)
        #expect(machine.advance(to: late) == .retransmit)
        #expect(machine.advance(to: late) == .nothing)
        #expect((machine.nextDeadline ?? start) > late)
    }

    @Test("RFC 3261 17.1.4 a transport error is told once")
    func clientTransport() {
        var machine = ClientNonInviteTransaction(isReliable: true, at: start)
        #expect(machine.transportFailed() == true)
        #expect(machine.transportFailed() == false)
    }

    @Test("RFC 3261 17.2.2 timer J keeps the final response for 64*T1 over UDP")
    func server() {
        var machine = ServerNonInviteTransaction(isReliable: false, at: start)
        #expect(machine.receiveCopy() == .absorb)
        #expect(machine.respond(.trying, at: start) == .send)
        #expect(machine.receiveCopy() == .resend)
        #expect(machine.respond(.ok, at: start + .seconds(1)) == .send)
        #expect(machine.respond(.forbidden, at: start + .seconds(1)) == .refuse)
        #expect(machine.receiveCopy() == .resend)
        #expect(machine.nextDeadline == start + .seconds(33))
        #expect(machine.advance(to: start + .milliseconds(32_999)) == false)
        #expect(machine.advance(to: start + .seconds(33)) == true)
        var reliable = ServerNonInviteTransaction(isReliable: true, at: start)
        #expect(reliable.respond(.ok, at: start) == .send)
        #expect(reliable.state == .terminated)
    }

    @Test("the deadline queue gives keys in order, the latest deadline of each only")
    func deadlines() {
        var queue = DeadlineQueue<Int>()
        var random = TokenGenerator(seed: 1)
        var expected: [Int: Instant] = [:]
        for _ in 0..<5000 {
            let key = Int(random.number(below: 300))
            if random.number(below: 4) == 0 {
                queue.set(key, at: nil)
                expected[key] = nil
            } else {
                let moment = Instant(secondsSince1970: Int64(random.number(below: 1000)))
                queue.set(key, at: moment)
                expected[key] = moment
            }
        }
        #expect(queue.count == expected.count)
        var taken: [Int: Instant] = [:]
        var last = Instant(secondsSince1970: 0)
        while let next = queue.next {
            #expect(next >= last)
            let early = queue.popDue(at: next - .milliseconds(1))
            #expect(early == nil)
            guard let key = queue.popDue(at: next) else { break }
            taken[key] = next
            last = next
        }
        #expect(taken == expected)
    }
}
