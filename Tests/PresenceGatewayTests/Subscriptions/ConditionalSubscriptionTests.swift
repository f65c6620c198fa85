import PresenceRules
import SIPCore
import Testing

@testable import PresenceGateway

/// Conditional subscriptions (RFC 5839), case by case.
@Suite("Conditional subscriptions") struct ConditionalSubscriptionTests {
    static let alice = "alice@example.com"
    static let ann = "ann@example.org"

    private let bench = Bench()

    private func publish(_ note: String, ifMatch: String? = nil) throws -> String {
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, note: note), ifMatch: ifMatch, expires: 3_600)
        return try #require(try bench.nextResponse(200, at: Bench.endpoint).headers.sipETag)
    }

    private func subscribe(
        _ condition: String? = nil, accept: String = "application/pidf+xml", expires: Int = 3_600, on bench: Bench? = nil
    ) throws -> (response: SIPResponse, notify: SIPRequest) {
        let bench = bench ?? self.bench
        let extra = condition.map { "Suppress-If-Match: \($0)\r\n" } ?? ""
        bench.send(
            bench.subscribe(Self.ann, to: Self.alice, accept: accept, expires: expires, extra: extra, via: Bench.simple),
            from: Bench.simple)
        let response = try bench.nextResponse(200, at: Bench.simple)
        return (response, try #require(try bench.takeNotifies(at: Bench.simple).first))
    }

    private func refresh(
        _ response: SIPResponse, cSeq: Int = 2, _ condition: String?, expires: Int = 3_600, answered status: Int, on bench: Bench? = nil
    ) throws -> (response: SIPResponse, notifies: [SIPRequest]) {
        let bench = bench ?? self.bench
        let extra = condition.map { "Suppress-If-Match: \($0)\r\n" } ?? ""
        bench.send(bench.inDialog(response, cSeq: cSeq, expires: expires, extra: extra, via: Bench.simple), from: Bench.simple)
        let answer = try bench.nextResponse(status, at: Bench.simple)
        return (answer, try bench.takeNotifies(at: Bench.simple))
    }

    @Test("RFC 5839 7.1: each NOTIFY with a state names its entity-tag: equal for the same state, another for another one")
    func tags() throws {
        let tag = try publish("one")
        let (_, first) = try subscribe()
        let one = try #require(first.headers.sipETag)
        bench.pass(.seconds(30))
        let second = try publish("two", ifMatch: tag)
        let two = try #require(try bench.takeNotifies(at: Bench.simple).last?.headers.sipETag)
        bench.pass(.seconds(30))
        _ = try publish("one", ifMatch: second)
        #expect(try bench.takeNotifies(at: Bench.simple).last?.headers.sipETag == one)
        #expect(one != two)
    }

    @Test("RFC 5839 6.3, 7.2: a first SUBSCRIBE with the present entity-tag is notified without a body, with another tag as always")
    func first() throws {
        _ = try publish("one")
        let tag = try #require(try subscribe().notify.headers.sipETag)
        for (condition, isKnown) in [(tag, true), ("*", true), ("other", false)] {
            let notify = try subscribe(condition).notify
            #expect(notify.headers.subscriptionState?.state == .active && notify.headers.sipETag == tag)
            #expect(notify.body.isEmpty == isKnown, "\(condition)")
        }
        // A change is notified as always.
        bench.pass(.seconds(30))
        _ = try publish("two")
        let notifies = try bench.takeNotifies(at: Bench.simple)
        #expect(notifies.count == 4 && notifies.allSatisfy { $0.text.contains("two") })
    }

    @Test("RFC 5839 6.4, 7.3: a refresh with the present entity-tag is answered 204 without a NOTIFY, and the subscription goes on")
    func refreshed() throws {
        let published = try publish("one")
        let (response, notify) = try subscribe()
        let tag = try #require(notify.headers.sipETag)
        let (quiet, none) = try refresh(response, tag, answered: 204)
        #expect(none.isEmpty && quiet.headers.expires == 3_600 && quiet.headers.contact != nil)
        bench.pass(.seconds(3_000))
        _ = try publish("two", ifMatch: published)
        let changed = try #require(try bench.takeNotifies(at: Bench.simple).last)
        #expect(changed.text.contains("two"))
        let (_, notifies) = try refresh(response, cSeq: 3, tag, answered: 200)
        #expect(notifies.count == 1 && notifies.first?.text.contains("two") == true)
        let (_, always) = try refresh(response, cSeq: 4, nil, answered: 200)
        #expect(always.count == 1 && always.first?.body.isEmpty == false)
    }

    @Test("RFC 5839 6.4: a refresh with * is answered 204; a change that was waiting is notified later")
    func always() throws {
        let bench = Bench { $0.timing.notifySpacing = .seconds(30) }
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, note: "one"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        let (response, _) = try subscribe(on: bench)
        bench.pass(.seconds(1))
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, note: "two"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        let (_, none) = try refresh(response, "*", answered: 204, on: bench)
        #expect(none.isEmpty)
        bench.pass(.seconds(31))
        #expect(try bench.takeNotifies(at: Bench.simple).last?.text.contains("two") == true)
    }

    @Test("RFC 5839 6.5: an unsubscribe with the present entity-tag is answered 204 without a NOTIFY, with another one as always")
    func ended() throws {
        _ = try publish("one")
        let (response, notify) = try subscribe()
        let (quiet, none) = try refresh(response, notify.headers.sipETag, expires: 0, answered: 204)
        #expect(none.isEmpty && quiet.headers.expires == 0 && bench.gateway.counts.watcherDialogs == 0)
        let (again, _) = try subscribe()
        let (_, last) = try refresh(again, "other", expires: 0, answered: 200)
        #expect(last.map { $0.headers.subscriptionState?.state } == [.terminated] && bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("RFC 5839 6.6: a fetch with the present entity-tag is notified without a body")
    func fetched() throws {
        _ = try publish("one")
        let first = try subscribe(expires: 0).notify
        #expect(!first.body.isEmpty && first.headers.subscriptionState?.state == .terminated)
        let second = try subscribe(first.headers.sipETag, expires: 0).notify
        #expect(second.body.isEmpty && second.headers.subscriptionState?.state == .terminated && second.headers.sipETag != nil)
    }

    @Test("RFC 5839 7.4: the entity-tag of partial PIDF is that of the whole document")
    func partial() throws {
        let published = try publish("one")
        let accept = "application/pidf-diff+xml, application/pidf+xml"
        let whole = try subscribe().notify.headers.sipETag
        let (response, notify) = try subscribe(accept: accept)
        #expect(notify.headers.sipETag == whole)
        bench.pass(.seconds(30))
        _ = try publish("two", ifMatch: published)
        let tags = Set(try bench.takeNotifies(at: Bench.simple).compactMap(\.headers.sipETag))
        #expect(tags.count == 1)
        #expect(try refresh(response, tags.first, answered: 204).notifies.isEmpty)
    }

    @Test("the entity-tag of a state is the same after a restart, so that a refresh is answered 204")
    func restart() throws {
        let bench = Bench(store: MemoryStore())
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, note: "one"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        let (response, notify) = try subscribe(on: bench)
        bench.settle()
        _ = try bench.restart()
        let (_, none) = try refresh(response, notify.headers.sipETag, answered: 204, on: bench)
        #expect(none.isEmpty)
    }

    @Test("RFC 5839 7.2: a condition waits with a pending watcher for the decision, and enterprise watchers have none")
    func pending() throws {
        let bench = Bench { $0.domains["example.com"]?.unruled = .confirm }
        bench.sendPublish(Self.alice, Bench.pidf(Self.alice, note: "one"), expires: 3_600)
        _ = try bench.nextResponse(200, at: Bench.endpoint)
        bench.send(
            bench.subscribe(Self.ann, to: Self.alice, extra: "Suppress-If-Match: *\r\n", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(202, at: Bench.simple)
        let waiting = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(waiting.headers.subscriptionState?.state == .pending && waiting.headers.sipETag == nil && waiting.body.isEmpty)
        try bench.use(Rules.rule("r", "", "allow"), of: Self.alice)
        let allowed = try #require(try bench.takeNotifies(at: Bench.simple).first)
        #expect(allowed.headers.subscriptionState?.state == .active && allowed.headers.sipETag != nil && allowed.body.isEmpty)
        bench.send(
            bench.categorySubscribe("bob@contoso.com", to: Self.alice, extra: "Suppress-If-Match: *\r\n"), from: Bench.enterprise)
        let accepted = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(!accepted.body.isEmpty && accepted.headers.sipETag == nil)
    }
}
