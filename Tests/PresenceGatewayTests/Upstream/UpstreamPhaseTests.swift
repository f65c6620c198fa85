import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents
import Testing

@testable import PresenceGateway

/// Every transition of the phases of ``UpstreamSubscription``, ``UpstreamResource`` and ``UpstreamList``.
@Suite struct UpstreamPhaseTests {
    private let start = Instant(secondsSince1970: 1_700_000_000)

    /// A gateway keeps the subscription's watcher alive.
    private struct World {
        let bench: Bench
        let subscription: UpstreamSubscription
    }

    /// The upstream subscription of a watcher, before its first response.
    private func watched() throws -> World {
        let bench = Bench()
        try bench.watch("rob@contoso.com")
        return World(bench: bench, subscription: try #require(bench.gateway.flows.upstream.upstreams.values.first))
    }

    /// A subscription to the same presentity that was not sent yet.
    private func unsent(_ world: World) -> UpstreamSubscription {
        let made = world.bench.gateway.flows.upstream.makeUpstream(
            at: world.subscription.address, world.subscription.order(poll: nil), form: nil, at: start)
        for (watcher, resource) in world.subscription.sinks { made.join(resource, of: watcher) }
        return made
    }

    @Test("live: a pause delays the first SUBSCRIBE, and a later end counts")
    func rests() throws {
        let world = try watched()
        let subscription = unsent(world)
        subscription.rest(until: start + .seconds(5))
        subscription.rest(until: start + .seconds(3))
        #expect(subscription.phase == .rests(until: start + .seconds(5)) && subscription.isResting)
        #expect(subscription.begin(at: start).isEmpty && subscription.takeTurn(at: start + .seconds(9)) == nil)
        #expect(!subscription.isRested(at: start + .seconds(4)) && subscription.isRested(at: start + .seconds(5)))
        subscription.wakeUp()
        #expect(subscription.phase == .live)
        #expect(!subscription.begin(at: start).isEmpty && subscription.begin(at: start).isEmpty)
    }

    @Test("live: a turn after a restart is taken at its time, or before it by another cause")
    func starts() throws {
        let world = try watched()
        let subscription = unsent(world)
        #expect(subscription.start(inTurn: start + .seconds(1)) && !subscription.start(inTurn: start + .seconds(2)))
        #expect(subscription.takeTurn(at: start) == nil && subscription.takeTurn(at: start + .seconds(1)) == .start)
        #expect(!subscription.begin(at: start).isEmpty && subscription.phase == .live)
        #expect(!subscription.start(inTurn: start))
    }

    @Test("live: the move to another server is due once")
    func moves() throws {
        let world = try watched()
        world.subscription.move(inTurn: start)
        #expect(world.subscription.phase.deadline == start)
        #expect(world.subscription.takeTurn(at: start) == .move && world.subscription.takeTurn(at: start) == nil)
    }

    @Test("live: a restored subscription without watchers is unsubscribed in its turn, and so is a move or start without them")
    func leaves() throws {
        let world = try watched()
        let order = world.subscription.order(poll: nil)
        for number in 0..<3 {
            let subscription = world.bench.gateway.flows.upstream.makeUpstream(at: world.subscription.address, order, form: nil, at: start)
            switch number {
            case 0: subscription.leave(inTurn: start)
            case 1: subscription.move(inTurn: start)
            default: subscription.start(inTurn: start)
            }
            #expect(subscription.takeTurn(at: start) == .leave && subscription.phase == .live)
        }
    }

    @Test("a subscription that waits ignores other waits")
    func ignored() throws {
        let world = try watched()
        let subscription = unsent(world)
        subscription.start(inTurn: start)
        subscription.rest(until: start + .seconds(9))
        subscription.move(inTurn: start + .seconds(9))
        subscription.leave(inTurn: start + .seconds(9))
        subscription.wakeUp()
        #expect(subscription.phase == .starts(start))
    }

    @Test("a batch is open under its key until it is closed, and its limit only falls")
    func batch() throws {
        let world = try watched()
        let subscription = unsent(world)
        let key = UpstreamBatchKey(subscription.order(poll: nil), pool: subscription.target)
        #expect(subscription.close() == nil)
        subscription.open(as: key)
        #expect(subscription.close() == key && subscription.close() == nil)
        subscription.limit(to: 5)
        subscription.limit(to: 7)
        #expect(subscription.batch.capacity == 5)
    }

    // MARK: presentities

    private func resource() -> UpstreamResource {
        let uri = SIPURI(user: "rob", host: "contoso.com")
        return UpstreamResource(uri: uri, key: uri.aorKey)
    }

    @Test("authorization: a new dialog forgets active, and keeps pending")
    func authorization() {
        let resource = resource()
        resource.authorize(.active)
        resource.reset()
        #expect(resource.authorization == .unheard)
        resource.authorize(.pending)
        resource.reset()
        #expect(resource.authorization == .pending)
        let other = self.resource()
        other.adopt(resource)
        #expect(other.authorization == .pending)
        other.authorize(.active)
        other.adopt(resource)
        #expect(other.authorization == .active)
    }

    @Test("freshness: from an earlier process over the refreshed dialog to the current one, and back with a new dialog")
    func freshness() {
        let resource = UpstreamResource(restoring: SIPURI(user: "rob", host: "contoso.com"), staleAt: start)
        resource.reset()
        #expect(resource.freshness == .ofEarlierProcess && resource.staleAt == start)
        resource.refreshed()
        #expect(resource.freshness == .ofEarlierDialog)
        resource.confirm()
        resource.refreshed()
        #expect(resource.freshness == .current && resource.staleAt == nil)
        resource.reset()
        #expect(resource.freshness == .ofEarlierDialog)
    }

    @Test("staleAt: the first limit counts and ends once; a confirmation removes it")
    func stale() {
        let resource = resource()
        resource.expireState(at: start + .seconds(5))
        resource.expireState(at: start + .seconds(9))
        #expect(!resource.endStaleState(at: start + .seconds(4)))
        #expect(resource.endStaleState(at: start + .seconds(5)) && !resource.endStaleState(at: start + .seconds(5)))
        resource.expireState(at: start)
        resource.confirmNothing()
        #expect(resource.staleAt == nil)
    }

    @Test("unreadable: the full state is requested at once three times in a row, unless a request is outstanding")
    func unreadable() {
        let resource = resource()
        #expect(!resource.becameReadable())
        #expect(!resource.couldNotRead("a", isAsking: true, at: start))
        let asked = (0..<4).map { _ in resource.couldNotRead("b", isAsking: false, at: start + .seconds(1)) }
        #expect(asked == [true, true, true, false])
        #expect(resource.unreadable?.since == start && resource.unreadable?.problem == "b" && resource.unreadable?.isExhausted == true)
        let successor = self.resource()
        resource.expireState(at: start)
        successor.succeed(resource)
        #expect(successor.unreadable == resource.unreadable && successor.staleAt == start)
        #expect(resource.becameReadable() && resource.unreadable == nil)
    }

    @Test("batch: an accepted SUBSCRIBE sets the subscribed categories, a refused one leaves them")
    func membership() {
        let resource = resource()
        resource.resume(asked: [.note])
        #expect(resource.change == .unsubscribe)
        resource.offer(.unsubscribe)
        #expect(resource.change == nil)
        resource.settle(isAccepted: false)
        #expect(resource.asked == [.note] && resource.offered == nil)
        resource.offer(.unsubscribe)
        resource.settle(isAccepted: true)
        #expect(resource.asked == nil && resource.change == nil)
        resource.settle(isAccepted: true)
        #expect(resource.asked == nil)
    }

    // MARK: lists

    @Test("list: the full state is requested once more in a dialog, if members are without a state then")
    func completion() {
        let list = UpstreamList(isKept: true)
        #expect(!list.advance(at: start) { true })
        list.planCompletion(at: start + .seconds(5))
        list.planCompletion(at: start + .seconds(9))
        #expect(list.asksAgainAt == start + .seconds(5) && !list.advance(at: start + .seconds(4)) { true })
        #expect(!list.advance(at: start + .seconds(5)) { false } && list.completion == .open)
        list.planCompletion(at: start + .seconds(6))
        #expect(list.advance(at: start + .seconds(6)) { true } && list.completion == .asked)
        list.planCompletion(at: start + .seconds(7))
        #expect(list.completion == .asked && list.asksAgainAt == nil)
        list.heard()
        list.reset()
        #expect(list.completion == .open && !list.isHeard)
    }

    @Test("list: a successor holds its predecessor until it is heard, and the predecessor is replaced")
    func succession() throws {
        let world = try watched()
        let old = world.bench.gateway.flows.upstream.makeUpstream(
            at: .list(SIPURI(host: "contoso.com")), world.subscription.order(poll: nil), form: .pidf, list: UpstreamList(isKept: false),
            at: start)
        let list = UpstreamList(replacing: old)
        #expect(old.list?.isReplaced == true && !list.isReplaced && !list.isKept)
        #expect(list.releasePredecessor() === old && list.releasePredecessor() == nil)
    }
}
