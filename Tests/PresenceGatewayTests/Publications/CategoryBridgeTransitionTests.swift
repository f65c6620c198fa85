import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import Testing
import XMLCore

@testable import PresenceGateway

/// Every transition of ``CategoryBridge``, without a gateway.
@Suite struct CategoryBridgeTransitionTests {
    private static let start = Instant(secondsSince1970: 1_700_000_000)
    private static let bob = "sip:bob@contoso.com"

    private func makeBridge() -> CategoryBridge {
        let table = PublicationTable(expiry: ExpiryPolicy(minimum: 1, standard: 100, maximum: 1_000), limit: 4)
        return CategoryBridge(
            key: "bob@contoso.com", uri: SIPURI(Self.bob)!, publications: CategoryBridge.Publications(table: table),
            client: CategoryPublicationClient(uri: Self.bob), dialogContext: DialogContext(callID: "c"))
    }

    /// One instance whose body is that of the newest source; in another container if the home server computes states.
    private func environment(after seconds: Int = 0, isRoutable: Bool = true, timedAt: Instant? = nil) -> CategoryBridge.Environment {
        let now = Self.start + .seconds(seconds)
        return CategoryBridge.Environment(now: now, isRoutable: isRoutable, leastLife: 50) { request, table throws(Refusal) in
            let outcome = table.receive(
                ifMatch: request.headers.sipIfMatch.map { [EntityTag($0)] } ?? [], hasBody: !request.body.isEmpty,
                expires: request.headers.expires.map { Int($0) }, newTag: EntityTag("t\(table.count)-\(seconds)"), at: now)
            guard case .accepted(let operation, let tag, let expires) = outcome else { throw .badRequest("refused") }
            return CategoryBridge.Outcome(operation: operation, tag: tag, expires: expires)
        } read: { body, number, until throws(Refusal) in
            guard body != [0] else { throw .badRequest("unreadable") }
            return CategoryBridge.Source(number: number, arrived: now, document: body, presence: nil, until: until)
        } compose: { sources, computesState in
            guard let newest = sources.values.max(by: { $0.number < $1.number }),
                let body = try? XMLFragment(parsing: Array("<note>\(newest.document)</note>".utf8))
            else { return CategoryBridge.Composition() }
            let id = PublicationID(category: .note, container: ContainerID(computesState ? 2 : 200)!, instance: 1)
            return CategoryBridge.Composition(instances: [id: body], nextTimedMoment: timedAt)
        }
    }

    private func held(_ body: [UInt8], tag: String? = nil, expires: Int? = nil) -> CategoryBridge.Held {
        var request = SIPRequest(.publish, uri: SIPURI(Self.bob)!)
        request.body = body
        if let tag { request.headers.set(.sipIfMatch, tag) }
        if let expires { request.headers.set(.expires, String(expires)) }
        return CategoryBridge.Held(request: request, transaction: nil, until: Self.start + .seconds(20))
    }

    private func isPublish(_ action: CategoryBridge.Action) -> Bool { if case .publish = action { true } else { false } }

    private func acknowledged(_ actions: [CategoryBridge.Action]) -> [String] {
        actions.compactMap { if case .acknowledge(let change) = $0 { change.tag.value } else { nil } }
    }

    /// A bridge with one accepted publication, tag `t0-0`.
    private func published() -> CategoryBridge {
        let bridge = makeBridge()
        _ = bridge.receive(held([1]), environment())
        _ = bridge.receiveAnswer(.accepted(nil, computesState: false), environment())
        return bridge
    }

    @Test("free: a PUBLISH is published at the home server, and acknowledged once that has all instances")
    func accepted() {
        let bridge = makeBridge()
        let actions = bridge.receive(held([1]), environment())
        #expect(actions.count == 2 && actions[0] == .keep && isPublish(actions[1]))
        #expect(bridge.current != nil && bridge.publications.sources.isEmpty)
        let answer = bridge.receiveAnswer(.accepted(nil, computesState: false), environment())
        #expect(acknowledged(answer) == ["t0-0"] && answer.contains(.published))
        #expect(bridge.current == nil && bridge.publications.sources.count == 1)
    }

    @Test("publishing: a second PUBLISH is queued until the first is acknowledged")
    func queued() {
        let bridge = makeBridge()
        _ = bridge.receive(held([1]), environment())
        #expect(bridge.receive(held([2]), environment(after: 1)).isEmpty)
        #expect(bridge.queue.count == 1)
        let actions = bridge.receiveAnswer(.accepted(nil, computesState: false), environment(after: 2))
        #expect(acknowledged(actions) == ["t0-0"] && actions.contains(where: isPublish) && bridge.queue.isEmpty)
    }

    @Test("a PUBLISH that breaks a rule, or cannot be read, is refused without a request")
    func malformed() {
        let bridge = makeBridge()
        let bad = held([0])
        #expect(bridge.receive(bad, environment()) == [.refuse(bad, .request(.badRequest("unreadable")))])
        let unknown = held([], tag: "gone")
        #expect(bridge.receive(unknown, environment()) == [.refuse(unknown, .request(.badRequest("refused")))])
        #expect(bridge.isIdle)
    }

    @Test("publishing: a refusal of the home server refuses the PUBLISH and leaves the publications")
    func refused() {
        let bridge = published()
        let before = bridge.publications
        let second = held([2], tag: "t0-0")
        _ = bridge.receive(second, environment(after: 1))
        let actions = bridge.receiveAnswer(.refused(status: 403), environment(after: 1))
        #expect(actions.contains(.refused(status: 403)) && actions.contains(.refuse(second, .homeServer(status: 403))))
        #expect(bridge.publications == before && bridge.current == nil)
    }

    @Test("publishing: a home server that pauses, or does not answer, refuses the PUBLISH with the pause")
    func unavailable() {
        let bridge = makeBridge()
        let first = held([1])
        _ = bridge.receive(first, environment())
        let actions = bridge.receiveAnswer(.unavailable(retryAfter: 30), environment())
        #expect(actions == [.keep, .refuse(first, .paused(retryAfter: 30))])
        #expect(bridge.publications.sources.isEmpty)
    }

    @Test("publishing: other versions are taken over and published again")
    func conflict() {
        let bridge = makeBridge()
        _ = bridge.receive(held([1]), environment())
        let actions = bridge.receiveAnswer(.conflict(nil), environment())
        #expect(actions.starts(with: [.keep, .conflict(stale: 0)]) && actions.contains(where: isPublish))
        #expect(bridge.attempt == 2 && bridge.current != nil)
    }

    @Test("publishing: the end of the wait refuses the PUBLISH and the queued ones")
    func timeout() {
        let bridge = makeBridge()
        let (first, second) = (held([1]), held([2]))
        _ = bridge.receive(first, environment())
        _ = bridge.receive(second, environment())
        #expect(bridge.nextDeadline == Self.start + .seconds(20))
        let actions = bridge.advance(environment(after: 20))
        #expect(actions.starts(with: [.refuse(first, .timeout), .refuse(second, .timeout)]))
        #expect(bridge.current == nil && bridge.queue.isEmpty)
    }

    @Test("publishing: a removal is acknowledged even if the home server refuses it")
    func removal() {
        let bridge = published()
        _ = bridge.receive(held([], tag: "t0-0", expires: 0), environment(after: 1))
        let actions = bridge.receiveAnswer(.refused(status: 403), environment(after: 1))
        #expect(acknowledged(actions).count == 1)
        #expect(bridge.publications.sources.isEmpty)
    }

    @Test("a domain that takes no publications refuses without a request")
    func notRoutable() {
        let bridge = makeBridge()
        let first = held([1])
        let actions = bridge.receive(first, environment(isRoutable: false))
        #expect(actions.contains(.refuse(first, .homeServer(status: 404))) && !actions.contains(where: isPublish))
        #expect(bridge.isIdle)
    }

    @Test("not stored: the stored publications return, and the PUBLISH in progress is processed again")
    func reloaded() {
        let bridge = makeBridge()
        let before = bridge.publications
        _ = bridge.receive(held([1]), environment())
        _ = bridge.receiveAnswer(.accepted(nil, computesState: false), environment())
        let second = held([2])
        _ = bridge.receive(second, environment(after: 1))
        _ = bridge.reload(before, environment(after: 1))
        #expect(bridge.publications == before && bridge.current?.held == second && bridge.queue.isEmpty)
    }

    @Test("free: expired publications are removed, with their instances")
    func lapse() {
        let bridge = published()
        #expect(bridge.nextDeadline == Self.start + .seconds(100))
        let actions = bridge.advance(environment(after: 100))
        #expect(actions.first == .keep && actions.contains(where: isPublish))
        #expect(bridge.publications.sources.isEmpty)
    }

    @Test("a timed element composes the instances again")
    func timed() {
        let bridge = makeBridge()
        _ = bridge.receive(held([1]), environment(timedAt: Self.start + .seconds(3)))
        _ = bridge.receiveAnswer(.accepted(nil, computesState: false), environment(timedAt: Self.start + .seconds(3)))
        #expect(bridge.nextDeadline == Self.start + .seconds(3))
        _ = bridge.advance(environment(after: 3))
        #expect(bridge.nextTimedMoment == nil)
    }

    @Test("a home server that computes states gets the other form, once")
    func computesState() {
        let bridge = makeBridge()
        _ = bridge.receive(held([1]), environment())
        let actions = bridge.receiveAnswer(.accepted(nil, computesState: true), environment())
        #expect(actions.contains(.computesState) && actions.contains(where: isPublish) && bridge.homeComputesState)
        #expect(!bridge.receiveAnswer(.accepted(nil, computesState: true), environment()).contains(.computesState))
    }

    @Test("shutdown: all requests are refused; withdrawn publications are removed at the home server")
    func shutdown() {
        let bridge = published()
        let (second, third) = (held([2]), held([3]))
        _ = bridge.receive(second, environment(after: 1))
        _ = bridge.receive(third, environment(after: 1))
        #expect(bridge.refuseAll(.shutdown, environment(after: 1)) == [.refuse(third, .shutdown), .refuse(second, .shutdown)])
        _ = bridge.receiveAnswer(.unavailable(retryAfter: nil), environment(after: 1))
        _ = bridge.withdraw(environment(after: 1))
        #expect(bridge.publications.sources.isEmpty && bridge.client.requestedPublications.isEmpty)
    }

    @Test("a new configuration composes the sources again; one that changes nothing sends nothing")
    func reconfigured() {
        let bridge = published()
        #expect(bridge.reconfigure(isSamePlace: true, renew: { $0 }, environment(after: 1)).isEmpty)
        let actions = bridge.reconfigure(
            isSamePlace: true,
            renew: { source in
                var source = source
                source.document = [9]
                return source
            }, environment(after: 1))
        #expect(actions.contains(where: isPublish))
    }

    @Test("free: answers, timers and shutdown without a request change nothing")
    func ignored() {
        let bridge = published()
        let before = bridge.publications
        #expect(bridge.refuseAll(.shutdown, environment(after: 1)).isEmpty)
        #expect(bridge.advance(environment(after: 1)).isEmpty)
        bridge.resume(environment(after: 1))
        #expect(bridge.publications == before && bridge.current == nil)
    }
}
