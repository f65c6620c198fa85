import SIPCore
import Testing

@testable import PresenceGateway

/// Every transition of ``UpstreamVerification``.
@Suite struct UpstreamVerificationTests {
    private let start = Instant(secondsSince1970: 1_700_000_000)
    private let pause = TimeSpan.seconds(30)

    @Test("verified: the first doubt counts, and an accepted SUBSCRIBE ends it")
    func doubt() {
        var verification = UpstreamVerification()
        verification.doubt(at: start)
        verification.doubt(at: start + .seconds(1))
        #expect(verification.standing == .unverified(since: start, restoredAt: nil) && verification.doubtedSince == start)
        verification.accepted(at: start + .seconds(2))
        #expect(verification.standing == .verified && verification.verifiedAt == start + .seconds(2))
    }

    @Test("verified: an accepted SUBSCRIBE without a doubt starts no pause")
    func accepted() {
        var verification = UpstreamVerification()
        verification.accepted(at: start)
        #expect(verification.verifiedAt == nil && verification.isRested(after: pause, at: start))
    }

    @Test("restored: stays doubted from the restart, with a doubt besides, until a SUBSCRIBE is accepted")
    func restored() {
        var verification = UpstreamVerification()
        verification.restored(at: start)
        #expect(verification.restoredAt == start && verification.unverifiedSince == nil && verification.doubtedSince == start)
        verification.doubt(at: start + .seconds(1))
        #expect(verification.standing == .unverified(since: start + .seconds(1), restoredAt: start))
        #expect(verification.doubtedSince == start)
        verification.accepted(at: start + .seconds(2))
        #expect(verification.standing == .verified)
    }

    @Test("an accepted sample verifies it too, except for a restart")
    func sampleAccepted() {
        var verification = UpstreamVerification()
        verification.sampleAccepted()
        #expect(verification.standing == .verified)
        verification.doubt(at: start)
        verification.sampleAccepted()
        #expect(verification.standing == .verified && verification.verifiedAt == nil)
        verification.restored(at: start)
        verification.sampleAccepted()
        #expect(verification.standing == .restored(start))
        verification.doubt(at: start)
        verification.sampleAccepted()
        #expect(verification.standing == .restored(start))
    }

    @Test("a verification, or a restart after the partner's return, starts the pause")
    func rested() {
        var verification = UpstreamVerification()
        verification.woken(at: start)
        #expect(verification.pauseEnd(after: pause) == start + pause)
        #expect(!verification.isRested(after: pause, at: start + .seconds(29)) && verification.isRested(after: pause, at: start + pause))
    }

    @Test("sample: accepted, it names its subscriptions once, and the next state is compared in time only")
    func sample() {
        var verification = UpstreamVerification()
        verification.ask(for: [1, 2])
        #expect(verification.sample?.numbers == [1, 2])
        #expect(verification.endSample(comparingUntil: start + pause) == [1, 2])
        #expect(verification.sample == nil && verification.endSample(comparingUntil: start + pause) == nil)
        #expect(verification.endComparison(at: start + .seconds(29)) && !verification.endComparison(at: start + .seconds(29)))
        verification.ask(for: [1])
        _ = verification.endSample(comparingUntil: start)
        #expect(!verification.endComparison(at: start) && verification.sampling == .none)
    }

    @Test("sample: lost, it names its subscriptions; one that compares has none")
    func dropped() {
        var verification = UpstreamVerification()
        #expect(verification.dropSample() == nil)
        #expect(verification.endComparison(at: start) == false)
        verification.ask(for: [1])
        #expect(!verification.endComparison(at: start) && verification.sample?.numbers == [1])
        #expect(verification.dropSample() == [1] && verification.sampling == .none)
        verification.ask(for: [1])
        _ = verification.endSample(comparingUntil: start + pause)
        #expect(verification.dropSample() == nil && verification.sampling == .none)
    }

    @Test("a third connection replaces the first")
    func connections() {
        var verification = UpstreamVerification()
        let lines = (1...3).map { ConnectionID(rawValue: $0) }
        #expect(verification.bind(to: lines[0]) == nil && verification.bind(to: lines[1]) == nil)
        #expect(verification.bind(to: lines[2]) == lines[0])
        #expect(verification.unbindAll() == [lines[1], lines[2]] && verification.connections.isEmpty)
    }
}
