import SIPCore
import SIPEvents
import Testing

@Suite struct PublicationTableTests {
    let start = Instant(secondsSince1970: 1_000_000)
    let a = EntityTag("a"), b = EntityTag("b"), c = EntityTag("c")

    func table() -> PublicationTable {
        PublicationTable(expiry: ExpiryPolicy(minimum: 60, standard: 3_600, maximum: 7_200), limit: 2)
    }

    @Test("RFC 3903 6 every success gives a new tag and kills the old one")
    func lifecycle() {
        var table = table()
        #expect(
            table.receive(ifMatch: [], hasBody: true, expires: nil, newTag: a, at: start) == .accepted(.create(a), tag: a, expires: 3_600))
        #expect(
            table.receive(ifMatch: [a], hasBody: false, expires: 600, newTag: b, at: start)
                == .accepted(.refresh(a, to: b), tag: b, expires: 600))
        #expect(table.receive(ifMatch: [a], hasBody: false, expires: 600, newTag: c, at: start) == .unknownTag)
        #expect(
            table.receive(ifMatch: [b], hasBody: true, expires: 600, newTag: c, at: start)
                == .accepted(.modify(b, to: c), tag: c, expires: 600))
        #expect(
            table.receive(ifMatch: [c], hasBody: false, expires: 0, newTag: a, at: start) == .accepted(.remove(c), tag: a, expires: 0))
        #expect(table.isEmpty)
    }

    @Test("RFC 3903 6 neither body nor tag, or two tags, is 400")
    func malformed() {
        var table = table()
        #expect(table.receive(ifMatch: [], hasBody: false, expires: 600, newTag: a, at: start) == .malformed)
        #expect(table.receive(ifMatch: [a, b], hasBody: true, expires: 600, newTag: c, at: start) == .malformed)
    }

    @Test("RFC 3903 6 a wish below the minimum is 423, a lapsed tag 412, a full table refused")
    func bounds() {
        var table = table()
        #expect(table.receive(ifMatch: [], hasBody: true, expires: 5, newTag: a, at: start) == .tooBrief(minimum: 60))
        _ = table.receive(ifMatch: [], hasBody: true, expires: 60, newTag: a, at: start)
        _ = table.receive(ifMatch: [], hasBody: true, expires: 90, newTag: b, at: start)
        #expect(table.receive(ifMatch: [], hasBody: true, expires: 60, newTag: c, at: start) == .full)
        #expect(table.nextDeadline == start + .seconds(60))
        #expect(table.receive(ifMatch: [a], hasBody: false, expires: 60, newTag: c, at: start + .seconds(60)) == .unknownTag)
        #expect(table.advance(to: start + .seconds(90)) == [a, b])
        #expect(table.isEmpty)
    }

    @Test("RFC 3903 6.6 a body with Expires 0 and no tag stores nothing")
    func nothing() {
        var table = table()
        #expect(table.receive(ifMatch: [], hasBody: true, expires: 0, newTag: a, at: start) == .accepted(.nothing, tag: a, expires: 0))
        #expect(table.isEmpty)
    }
}

@Suite struct PublicationClientTests {
    let start = Instant(secondsSince1970: 1_000_000)
    let a = EntityTag("a"), b = EntityTag("b")

    @Test("RFC 3903 4.1 publishes, refreshes with the tag, and removes")
    func lifecycle() {
        var client = PublicationClient(expires: 600)
        #expect(client.publish(at: start) == [.publish(ifMatch: nil, hasBody: true, expires: 600)])
        #expect(client.receiveAnswer(status: 200, tag: a, expires: 400, at: start) == [.published])
        #expect(client.nextDeadline == start + .seconds(300))
        #expect(client.advance(to: start + .seconds(300)) == [.publish(ifMatch: a, hasBody: false, expires: 600)])
        #expect(client.receiveAnswer(status: 200, tag: b, expires: 400, at: start + .seconds(300)) == [.published])
        #expect(client.withdraw(at: start + .seconds(301)) == [.publish(ifMatch: b, hasBody: false, expires: 0)])
        #expect(client.receiveAnswer(status: 200, tag: nil, expires: 0, at: start + .seconds(301)) == [.over])
    }

    @Test("RFC 3903 4.5 after 412 the tag is dropped and the whole state published")
    func unknownTag() {
        var client = PublicationClient(expires: 600)
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 200, tag: a, expires: 600, at: start)
        #expect(client.publish(at: start) == [.publish(ifMatch: a, hasBody: true, expires: 600)])
        #expect(
            client.receiveAnswer(status: 412, tag: nil, expires: nil, at: start) == [.publish(ifMatch: nil, hasBody: true, expires: 600)])
    }

    @Test("RFC 3903 4 one PUBLISH is outstanding and the newest body follows")
    func coalesces() {
        var client = PublicationClient(expires: 600)
        _ = client.publish(at: start)
        #expect(client.publish(at: start) == [])
        #expect(
            client.receiveAnswer(status: 200, tag: a, expires: 600, at: start) == [
                .published, .publish(ifMatch: a, hasBody: true, expires: 600),
            ])
    }

    @Test("RFC 3903 4.1 423 is met with Min-Expires, 503 with a pause, 403 leaves nothing")
    func refusals() {
        var client = PublicationClient(expires: 60)
        _ = client.publish(at: start)
        #expect(
            client.receiveAnswer(status: 423, tag: nil, expires: nil, minimumExpires: 300, at: start) == [
                .publish(ifMatch: nil, hasBody: true, expires: 300)
            ])
        let later = start + .seconds(12)
        #expect(client.receiveAnswer(status: 503, tag: nil, expires: nil, retryAfter: 12, at: start) == [.postponed(until: later)])
        #expect(client.nextDeadline == later)
        #expect(client.advance(to: later) == [.publish(ifMatch: nil, hasBody: true, expires: 300)])
        #expect(client.receiveAnswer(status: 403, tag: nil, expires: nil, at: start) == [.refused(status: 403)])
        #expect(client.standing == nil)
        #expect(client.nextDeadline == nil)
    }

    @Test("RFC 3903 4.5 a second 423, or one that asks for no more than was offered, is a refusal")
    func endlessBrief() {
        var client = PublicationClient(expires: 60)
        _ = client.publish(at: start)
        #expect(
            client.receiveAnswer(status: 423, tag: nil, expires: nil, minimumExpires: 60, at: start) == [.refused(status: 423)])
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 423, tag: nil, expires: nil, minimumExpires: 300, at: start)
        #expect(
            client.receiveAnswer(status: 423, tag: nil, expires: nil, minimumExpires: 600, at: start) == [.refused(status: 423)])
    }

    @Test("RFC 3903 4.1 a body that is refused leaves the one before, which goes on being refreshed with its tag")
    func refusedChange() {
        var client = PublicationClient(expires: 600)
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 200, tag: a, expires: 600, at: start)
        _ = client.publish(at: start)
        #expect(client.receiveAnswer(status: 413, tag: nil, expires: nil, at: start) == [.refused(status: 413)])
        #expect(client.entityTag == a)
        #expect(client.advance(to: start + .seconds(300)) == [.publish(ifMatch: a, hasBody: false, expires: 600)])
    }

    @Test("RFC 3903 4.5 pauses double up to the longest, and a publication that lapsed meanwhile is made anew")
    func silence() {
        var client = PublicationClient(expires: 60, retryPause: .seconds(20), longestPause: .seconds(50))
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 200, tag: a, expires: 60, at: start)
        #expect(client.advance(to: start + .seconds(45)) == [.publish(ifMatch: a, hasBody: false, expires: 60)])
        #expect(client.publishFailed(at: start + .seconds(50)) == [.postponed(until: start + .seconds(70))])
        #expect(client.advance(to: start + .seconds(70)) == [.publish(ifMatch: nil, hasBody: true, expires: 60)])
        #expect(client.publishFailed(at: start + .seconds(80)) == [.postponed(until: start + .seconds(120))])
        #expect(client.advance(to: start + .seconds(120)) == [.publish(ifMatch: nil, hasBody: true, expires: 60)])
        #expect(client.publishFailed(at: start + .seconds(130)) == [.postponed(until: start + .seconds(180))])
    }

    @Test("RFC 3903 4.1 a removal is repeated until the publication would have lapsed, and what comes meanwhile is a new one")
    func removal() {
        var client = PublicationClient(expires: 600, retryPause: .seconds(20))
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 200, tag: a, expires: 600, at: start)
        #expect(client.withdraw(at: start) == [.publish(ifMatch: a, hasBody: false, expires: 0)])
        #expect(client.receiveAnswer(status: 503, tag: nil, expires: nil, at: start) == [.postponed(until: start + .seconds(20))])
        #expect(client.advance(to: start + .seconds(20)) == [.publish(ifMatch: a, hasBody: false, expires: 0)])
        #expect(client.publish(at: start + .seconds(21)) == [])
        #expect(
            client.receiveAnswer(status: 200, tag: nil, expires: 0, at: start + .seconds(22)) == [
                .publish(ifMatch: nil, hasBody: true, expires: 600)
            ])
        _ = client.receiveAnswer(status: 200, tag: b, expires: 600, at: start + .seconds(22))
        _ = client.withdraw(at: start + .seconds(23))
        #expect(
            client.receiveAnswer(status: 500, tag: nil, expires: nil, retryAfter: 3_600, at: start + .seconds(23)) == [.over])
        #expect(client.isIdle)
    }

    @Test("RFC 3903 4.1 after a restart the tag is refreshed before it lapses; one that lapsed meanwhile is made anew")
    func restored() {
        let standing = PublicationClient.Standing(tag: a, lapsesAt: start + .seconds(400), expires: 600)
        var client = PublicationClient(restoring: standing, at: start)
        #expect(client.standing == standing)
        #expect(client.nextDeadline == start + .seconds(100))
        #expect(client.advance(to: start + .seconds(100)) == [.publish(ifMatch: a, hasBody: false, expires: 600)])
        var late = PublicationClient(restoring: standing, at: start + .seconds(500))
        #expect(late.advance(to: start + .seconds(501)) == [.publish(ifMatch: nil, hasBody: true, expires: 600)])
    }

    @Test("RFC 3903 4.1 a compositor that gives no tag gets the whole state again before it lapses, and nothing to remove")
    func noTag() {
        var client = PublicationClient(expires: 600)
        _ = client.publish(at: start)
        #expect(client.receiveAnswer(status: 200, tag: nil, expires: 400, at: start) == [.published])
        #expect(client.nextDeadline == start + .seconds(300))
        #expect(client.advance(to: start + .seconds(300)) == [.publish(ifMatch: nil, hasBody: true, expires: 600)])
        #expect(client.receiveAnswer(status: 200, tag: nil, expires: 400, at: start + .seconds(300)) == [.published])
        #expect(client.withdraw(at: start + .seconds(301)) == [.over])
        #expect(client.nextDeadline == nil)
        #expect(client.isIdle)
    }

    @Test("RFC 3903 4.1 a compositor that grants no time is asked again after the pause, not at once", arguments: [0, 1, 5])
    func noTime(granted: Int) {
        var client = PublicationClient(expires: 600, retryPause: .seconds(30))
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 200, tag: a, expires: granted, at: start)
        #expect(client.nextDeadline == start + .seconds(30))
        #expect(client.advance(to: start + .seconds(30)) == [.publish(ifMatch: nil, hasBody: true, expires: 600)])
    }

    @Test("what was not sent is as if it had never been asked for: the tag goes on being refreshed, and is not removed")
    func notSent() {
        var client = PublicationClient(expires: 600, retryPause: .seconds(20))
        _ = client.publish(at: start)
        _ = client.receiveAnswer(status: 200, tag: a, expires: 600, at: start)
        _ = client.withdraw(at: start)
        _ = client.publishFailed(at: start)
        client.revert(at: start)
        #expect(client.isWanted)
        #expect(client.nextDeadline == start + .seconds(450))
        #expect(client.advance(to: start + .seconds(450)) == [.publish(ifMatch: a, hasBody: false, expires: 600)])
        // Between a refresh that failed and a body that was not sent, no refresh is scheduled.
        _ = client.withdraw(at: start + .seconds(450))
        _ = client.receiveAnswer(status: 423, tag: nil, expires: nil, minimumExpires: 700, at: start + .seconds(450))
        _ = client.publishFailed(at: start + .seconds(450))
        client.revert(at: start + .seconds(450))
        #expect(client.advance(to: start + .seconds(450)) == [.publish(ifMatch: a, hasBody: false, expires: 700)])
    }

    @Test("whatever a compositor answers, each deadline that comes leads to a request or to a later deadline", arguments: 0..<200)
    func goesOn(seed: UInt64) throws {
        var seed = seed &* 0x9E37_79B9_7F4A_7C15 | 1
        func draw(_ count: UInt64) -> Int {
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((seed >> 33) % count)
        }
        var client = PublicationClient(expires: 600, retryPause: .seconds(20))
        var now = start
        for _ in 0..<200 {
            switch draw(6) {
            case 0: _ = client.publish(at: now)
            case 1: _ = client.withdraw(at: now)
            case 2:
                let status = [200, 200, 200, 403, 408, 412, 423, 503][draw(8)]
                _ = client.receiveAnswer(
                    status: status, tag: draw(2) == 0 ? nil : a, expires: [nil, 0, 60, 4_000][draw(4)],
                    minimumExpires: [nil, 30, 900][draw(3)], retryAfter: [nil, 0, 90][draw(3)], at: now)
            case 3:
                _ = client.publishFailed(at: now)
                if draw(2) == 0 { client.revert(at: now) }
            default:
                guard let due = client.nextDeadline else { continue }
                try #require(!client.isAsking)
                now = max(now, due)
                _ = client.advance(to: now)
                #expect(client.isAsking || client.nextDeadline.map { $0 > now } ?? true)
            }
        }
    }
}
