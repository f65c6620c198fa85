import FederationRouting
import SIPCore
import Testing

@testable import PresenceGateway

/// Every transition of ``UpstreamForm`` and ``UpstreamReading``.
@Suite struct UpstreamFormTests {
    private let start = Instant(secondsSince1970: 1_700_000_000)

    private func form(_ format: UpstreamFormat, isBatch: Bool = false, wanted: UpstreamFormat? = nil) -> UpstreamForm {
        UpstreamForm(format, isBatch: isBatch, wanted: wanted ?? format, offersPartial: true)
    }

    @Test("refused: the next forms follow until none is left")
    func next() {
        var form = form(.categories)
        #expect(form.next(after: 415, isBatch: false, configured: .categories) == .msrtc)
        form.fallBack(to: .msrtc)
        #expect(form.next(after: 415, isBatch: false, configured: .categories) == .pidf)
        form.fallBack(to: .pidf)
        #expect(form.next(after: 415, isBatch: false, configured: .categories) == nil)
        #expect(form.format == .pidf)
    }

    @Test("a batch refused for its document type skips categories; refused otherwise, single subscriptions to categories follow")
    func batch() {
        var type = form(.categories, isBatch: true, wanted: .batch)
        #expect(type.next(after: 415, isBatch: true, configured: .batch) == .msrtc)
        var other = form(.categories, isBatch: true, wanted: .batch)
        #expect(other.next(after: 500, isBatch: true, configured: .batch) == .categories)
    }

    @Test("an accepted form is remembered only if it follows a refusal, and once")
    func accepted() {
        var form = form(.categories)
        #expect(form.accepted() == nil)
        form.fallBack(to: .pidf)
        #expect(form.accepted() == .pidf && form.accepted() == nil)
    }

    @Test("a subscription that takes over presentities does not try refused forms again")
    func inherited() {
        var old = form(.categories, isBatch: true, wanted: .batch)
        _ = old.next(after: 415, isBatch: true, configured: .batch)
        var new = form(.msrtc, wanted: .batch)
        new.inherit(old, isFallback: true)
        #expect(new.isFallback)
        #expect(new.next(after: 415, isBatch: false, configured: .batch) == .pidf)
        #expect(new.next(after: 415, isBatch: false, configured: .batch) == nil)
    }

    @Test("declined differences are not requested again")
    func partial() {
        var form = form(.pidf)
        form.declinePartial()
        #expect(!form.offersPartial)
    }

    @Test("unread: one refresh per pause until all documents are read; read: no refresh")
    func reading() {
        var reading = UpstreamReading()
        #expect(reading.advance(hasUnreadable: true, at: start) == false)
        reading.becameUnread(at: start)
        reading.becameUnread(at: start + .seconds(5))
        let due = start + UpstreamReading.pause
        #expect(reading.asksAgainAt == due && !reading.advance(hasUnreadable: true, at: start + .seconds(29)))
        #expect(reading.advance(hasUnreadable: true, at: due) && reading.asksAgainAt == due + UpstreamReading.pause)
        #expect(!reading.advance(hasUnreadable: false, at: due + UpstreamReading.pause) && reading.asksAgainAt == nil)
        reading.becameUnread(at: start)
        reading.becameRead()
        #expect(reading.asksAgainAt == nil)
    }

    @Test("a flaw is noted again only after another one; a new dialog wants no full state")
    func flaws() {
        var reading = UpstreamReading()
        #expect(reading.note(flaw: "a") && !reading.note(flaw: "a") && reading.note(flaw: "b") && reading.note(flaw: "a"))
        reading.fullState.want()
        reading.reset()
        #expect(!reading.fullState.isPending)
        var successor = UpstreamReading()
        reading.becameUnread(at: start)
        successor.adopt(reading)
        #expect(successor.asksAgainAt == reading.asksAgainAt)
    }
}
