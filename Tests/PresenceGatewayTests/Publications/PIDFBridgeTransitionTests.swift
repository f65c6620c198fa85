import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents
import Testing
import XMLCore

@testable import PresenceGateway

/// Every transition of ``PIDFBridge``, without a gateway.
@Suite struct PIDFBridgeTransitionTests {
    private static let start = Instant(secondsSince1970: 1_700_000_000)
    private static let alice = "sip:alice@example.org"
    private static let endpoint = "00000000-0000-0000-0000-000000000001"

    private func makeBridge() -> PIDFBridge {
        PIDFBridge(
            key: "alice@example.org", uri: SIPURI(Self.alice)!, enhanced: EnhancedPresentity(uri: Self.alice),
            client: PublicationClient(expires: 3_600), dialogContext: DialogContext(callID: "c"))
    }

    /// The document has one octet for each note.
    private func environment(
        after seconds: Int = 0, connected: Set<String> = [endpoint], isRoutable: Bool = true
    ) -> PIDFBridge.Environment {
        PIDFBridge.Environment(
            now: Self.start + .seconds(seconds), connected: connected, network: .federated, isRoutable: isRoutable,
            retryPause: .seconds(300)
        ) { elements in elements.filter { $0.name == .note }.map { UInt8(truncatingIfNeeded: $0.instance ?? 0) } }
    }

    private func request(
        _ instance: UInt32, version: UInt32 = 0, expires: UInt32? = nil, type: ExpireType = .static, in container: UInt32 = 0
    ) -> PIDFBridge.Request {
        let publication = CategoryPublication(
            categoryName: .note, instance: instance, container: ContainerID(Int(container))!, version: version, expireType: type,
            expires: expires)
        return PIDFBridge.Request(
            request: SIPRequest(.service, uri: SIPURI(Self.alice)!), transaction: nil,
            document: CategoryPublishDocument(uri: Self.alice, publications: [publication]),
            sender: PublishingEndpoint(from: Self.alice, to: Self.alice, endpointID: Self.endpoint, isRegistered: true),
            endpoint: Self.endpoint, until: Self.start + .seconds(20))
    }

    private let ok = SIPResponse(.ok)

    private func publish(_ bridge: PIDFBridge, _ request: PIDFBridge.Request, _ environment: PIDFBridge.Environment) throws
        -> [PIDFBridge.Action]
    {
        try bridge.publish(request, environment) { _, _ in ok }
    }

    /// A bridge with an accepted publication.
    private func settled() throws -> PIDFBridge {
        let bridge = makeBridge()
        _ = try publish(bridge, request(1), environment())
        _ = bridge.receiveAnswer(status: 200, tag: EntityTag("e1"), expires: 3_600, environment())
        return bridge
    }

    @Test("settled: another document is published, and the request is held")
    func held() throws {
        let bridge = makeBridge()
        let actions = try publish(bridge, request(1), environment())
        #expect(actions == [.keep, .publish(ifMatch: nil, body: [1], expires: 3_600, attempt: 1), .keep])
        #expect(bridge.held.count == 1 && !bridge.isSettled && bridge.enhanced != bridge.accepted)
    }

    @Test("settled: an unchanged document is acknowledged at once")
    func acknowledged() throws {
        let bridge = try settled()
        // Container 32000 is for blocked watchers only.
        let actions = try publish(bridge, request(9, in: 32_000), environment())
        #expect(actions == [.keep, .accept(ok, nil)])
        #expect(bridge.held.isEmpty && bridge.accepted == bridge.enhanced)
    }

    @Test("held: another request waits for the outstanding response, and then follows")
    func queued() throws {
        let bridge = makeBridge()
        _ = try publish(bridge, request(1), environment())
        #expect(try publish(bridge, request(2), environment()) == [.keep])
        #expect(bridge.held.count == 2)
        let actions = bridge.receiveAnswer(status: 200, tag: EntityTag("e1"), expires: 3_600, environment())
        #expect(actions.starts(with: [.published, .answer(ok, nil)]))
        #expect(bridge.held.count == 1)
    }

    @Test("held: published, the 200 follows and the instances are acknowledged")
    func published() throws {
        let bridge = try settled()
        #expect(bridge.isSettled && bridge.held.isEmpty && bridge.accepted == bridge.enhanced)
    }

    @Test("held: silence answers the requests, and the document is repeated after a pause")
    func postponed() throws {
        let bridge = makeBridge()
        _ = try publish(bridge, request(1), environment())
        let actions = bridge.publishFailed(environment(after: 5))
        #expect(actions == [.postponed(until: Self.start + .seconds(35)), .answer(ok, nil), .keep])
        #expect(!bridge.isSettled && bridge.held.isEmpty)
        let again = bridge.advance(environment(after: 35))
        #expect(again == [.publish(ifMatch: nil, body: [1], expires: 3_600, attempt: 2), .keep])
    }

    @Test("held: the end of the wait answers the requests")
    func waited() throws {
        let bridge = makeBridge()
        _ = try publish(bridge, request(1), environment())
        #expect(bridge.nextDeadline == Self.start + .seconds(20))
        #expect(bridge.advance(environment(after: 20)) == [.answer(ok, nil)])
        #expect(bridge.promiseHeld().isEmpty)
    }

    @Test("held: a refusal undoes the change and refuses the requests")
    func refused() throws {
        let bridge = try settled()
        let before = bridge.enhanced
        let second = request(2)
        _ = try publish(bridge, second, environment())
        let actions = bridge.receiveAnswer(status: 403, tag: nil, expires: nil, environment())
        #expect(actions == [.refused(status: 403), .refuse(second.request, nil, .compositor(status: 403)), .keep])
        #expect(bridge.enhanced == before && bridge.held.isEmpty)
    }

    @Test("retried: a refusal without a held request is tried again after the pause")
    func retried() throws {
        let bridge = makeBridge()
        _ = try publish(bridge, request(1), environment())
        _ = bridge.advance(environment(after: 20))
        let actions = bridge.receiveAnswer(status: 403, tag: nil, expires: nil, environment(after: 21))
        #expect(actions == [.refused(status: 403), .keep])
        #expect(bridge.retryAt == Self.start + .seconds(321))
        #expect(bridge.advance(environment(after: 320)).isEmpty)
        #expect(
            bridge.advance(environment(after: 321)) == [.publish(ifMatch: nil, body: [1], expires: 3_600, attempt: 2), .keep])
        #expect(bridge.retryAt == nil)
    }

    @Test("a domain that takes no publications refuses without a request")
    func notRoutable() throws {
        let bridge = makeBridge()
        let first = request(1)
        let actions = try publish(bridge, first, environment(isRoutable: false))
        #expect(actions.contains(.refused(status: 404)) && actions.contains(.refuse(first.request, nil, .compositor(status: 404))))
        #expect(!actions.contains { if case .publish = $0 { true } else { false } })
        #expect(bridge.isIdle)
    }

    @Test("held: a publication that is not stored is undone, and the compositor keeps the one before")
    func notStored() throws {
        let bridge = try settled()
        let before = bridge.enhanced
        let second = request(2)
        _ = try publish(bridge, second, environment())
        let actions = bridge.notStored(environment())
        #expect(actions.first == .refuse(second.request, nil, .notStored))
        #expect(bridge.enhanced == before && bridge.isSettled)
    }

    @Test("settled: a change that is acknowledged without a request and not stored is replaced by the stored instances")
    func reloaded() throws {
        let bridge = try settled()
        let stored = bridge.enhanced
        _ = try publish(bridge, request(9, in: 32_000), environment())
        #expect(!bridge.isIdle && bridge.reload(stored, environment()).isEmpty)
        #expect(bridge.accepted == stored && bridge.enhanced == stored)
    }

    @Test("settled: stored instances that the compositor does not have are published")
    func reloadedOtherwise() throws {
        let bridge = try settled()
        let other = try settled()
        _ = try publish(other, request(2), environment())
        _ = try publish(bridge, request(9, in: 32_000), environment())
        let actions = bridge.reload(other.enhanced, environment())
        #expect(actions == [.publish(ifMatch: EntityTag("e1"), body: [1, 2], expires: 3_600, attempt: 2), .keep])
    }

    @Test("held: after a failed commit of an earlier acknowledged change, the refusal of the held one restores the stored instances")
    func reloadedBeneath() throws {
        let bridge = try settled()
        let stored = bridge.enhanced
        _ = try publish(bridge, request(9, in: 32_000), environment())
        let second = request(2)
        _ = try publish(bridge, second, environment())
        #expect(bridge.reload(stored, environment()).isEmpty)
        #expect(bridge.notStored(environment()).first == .refuse(second.request, nil, .notStored))
        #expect(bridge.enhanced == stored && bridge.accepted == stored)
    }

    @Test("a failed commit of what the compositor did changes no instances")
    func notReloaded() throws {
        let bridge = try settled()
        let enhanced = bridge.enhanced
        _ = try publish(bridge, request(9, in: 32_000), environment())
        let changed = bridge.enhanced
        bridge.changeStored()
        #expect(bridge.reload(enhanced, environment()).isEmpty && bridge.enhanced == changed)
    }

    @Test("all instances withdrawn: the publication is removed, and the bridge is idle")
    func withdrawn() throws {
        let bridge = try settled()
        let actions = bridge.withdraw(leaving: EnhancedPresentity(uri: Self.alice), environment())
        #expect(actions == [.publish(ifMatch: EntityTag("e1"), body: nil, expires: 0, attempt: 2), .keep])
        #expect(!bridge.isIdle)
        #expect(bridge.receiveAnswer(status: 200, tag: nil, expires: nil, environment()) == [.keep])
        #expect(bridge.isIdle)
    }

    @Test("an endpoint that does not return takes its instances with it; one that returns keeps them")
    func leaving() throws {
        let bridge = makeBridge()
        _ = try publish(bridge, request(1, type: .endpoint), environment())
        _ = bridge.receiveAnswer(status: 200, tag: EntityTag("e1"), expires: 3_600, environment())
        bridge.endpointsLeft([Self.endpoint], returnBy: Self.start + .seconds(10))
        #expect(bridge.nextDeadline == Self.start + .seconds(10))
        #expect(bridge.advance(environment(after: 9, connected: [])).isEmpty)
        _ = try publish(bridge, request(2, type: .endpoint), environment(after: 9))
        #expect(bridge.leaving.isEmpty)
        bridge.endpointsLeft([Self.endpoint], returnBy: Self.start + .seconds(10))
        #expect(bridge.advance(environment(after: 10, connected: [])).first == .keep)
        #expect(!bridge.isPublished && bridge.leaving.isEmpty)
    }

    @Test("inputs without a request outstanding or held change nothing")
    func ignored() throws {
        let bridge = try settled()
        #expect(bridge.receiveAnswer(status: 403, tag: nil, expires: nil, environment()).isEmpty)
        #expect(bridge.publishFailed(environment()).isEmpty)
        #expect(bridge.promiseHeld().isEmpty)
        #expect(bridge.advance(environment(after: 1)).isEmpty)
        #expect(bridge.isSettled)
    }

    @Test("each request has the next CSeq, and forgets the redirections of the one before")
    func numbers() {
        let bridge = makeBridge()
        #expect(bridge.beginRequest().cSeq == 1)
        bridge.noteRedirections(["sip:a"])
        #expect(bridge.nextNumber() == 2 && bridge.dialogContext.redirections == ["sip:a"])
        #expect(bridge.beginRequest().redirections.isEmpty)
        bridge.follow("mark", maxForwards: 12)
        #expect(bridge.dialogContext.hopMarks == "mark" && bridge.dialogContext.maxForwards == 12)
    }
}
