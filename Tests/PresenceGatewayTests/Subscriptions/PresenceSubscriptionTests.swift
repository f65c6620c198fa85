import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents
import Testing

@testable import PresenceGateway

/// The watched presentities of one dialog, and their inputs.
@Suite struct PresenceSubscriptionTests {
    private let now = Instant(secondsSince1970: 1_700_000_000)
    private let bench = Bench()

    private func wanted(_ user: String) throws -> CategoryRequest.Resource {
        let uri = try #require(SIPURI("sip:\(user)@example.org"))
        return .init(uri: uri, key: uri.aorKey, categories: [.note], context: nil)
    }

    private func batch(_ users: [String]) throws -> PresenceSubscription {
        PresenceSubscription(
            bench.gateway.flows.presenceSubscriptions, format: .categories, isPartial: false, isBatch: true, list: nil,
            opening: .init(wanted: try users.map(wanted), loopMarkers: ""))
    }

    private func rejection(_ resource: WatchedResource, _ state: String = "terminated") -> WatcherDialog.RejectedResource {
        .init(uri: resource.uri, state: state)
    }

    @Test("MS-PRES 3.4.5.1.3.1 a rejected presentity is not watched, and its entry waits for a notification")
    func rejects() throws {
        let batch = try batch(["ann", "bob"])
        let ann = try #require(batch.resources.first)
        batch.reject(ann, as: rejection(ann), limit: 10)
        #expect(batch.resources.map(\.key) == ["sip:bob@example.org"] && batch.hasPendingInstanceStates && batch.hasDueChange(at: now))
        #expect(batch.noteRejectedNotified { _ in true }.map(\.uri) == [ann.uri])
        #expect(!batch.hasPendingInstanceStates && batch.rejected.map(\.isNotified) == [true])
    }

    @Test("beyond the limit the oldest rejection is dropped, and a presentity has one only")
    func limit() throws {
        let batch = try batch(["ann", "bob", "eve"])
        let (ann, bob, eve) = (batch.resources[0], batch.resources[1], batch.resources[2])
        for resource in [ann, bob] { batch.reject(resource, as: rejection(resource), limit: 2) }
        batch.reject(bob, as: rejection(bob, "resubscribe"), limit: 2)
        #expect(batch.rejected.map(\.state) == ["terminated", "resubscribe"])
        batch.reject(eve, as: rejection(eve), limit: 2)
        #expect(batch.rejected.map(\.uri) == [bob.uri, eve.uri])
    }

    @Test("a presentity that is added again is not rejected any more; those that are not kept are removed with their rejections")
    func changes() throws {
        let batch = try batch(["ann", "bob"])
        let ann = batch.resources[0]
        batch.reject(ann, as: rejection(ann), limit: 10)
        batch.add(ann)
        #expect(batch.rejected.isEmpty && batch.resources.count == 2)
        #expect(batch.keepOnly(["sip:ann@example.org"]).map(\.key) == ["sip:bob@example.org"])
        #expect(batch.resources.map(\.key) == ["sip:ann@example.org"])
        #expect(batch.removeAll().count == 1 && batch.resources.isEmpty)
    }

    @Test("RFC 3261 12.2 after a failed commit the stored presentities are watched: added ones leave, removed ones return")
    func reloads() throws {
        let batch = try batch(["ann"])
        let before = batch.resources
        let bob = WatchedResource(try wanted("bob"))
        _ = batch.keepOnly([])
        batch.add(bob)
        batch.changes.add(bob)
        #expect(batch.reload(before, []).map(\.key) == ["sip:bob@example.org"])
        #expect(batch.resources.map(\.key) == ["sip:ann@example.org"] && batch.changes.isEmpty && !bob.isWaiting)
    }

    @Test("the presentities of the first SUBSCRIBE are taken once")
    func opening() throws {
        let batch = try batch(["ann"])
        #expect(batch.wanted.count == 1 && batch.takeOpening() != nil && batch.takeOpening() == nil && batch.wanted.isEmpty)
    }

    @Test("after a lost notification every presentity is a change, without spacing")
    func forgets() throws {
        let batch = try batch(["ann"])
        let ann = batch.resources[0]
        ann.deliver(digest: 7)
        ann.space(until: now + .seconds(60))
        #expect(ann.isNotified && !batch.hasDueChange(at: now))
        batch.forgetNotified()
        #expect(!ann.isNotified && ann.isWaiting && batch.hasDueChange(at: now))
        batch.dropChanges()
        #expect(!ann.isWaiting && !batch.hasDueChange(at: now))
    }

    @Test("RFC 4662 5.2 each notification of a list has the next version; a restored list ends its wait for all entries at once")
    func list() throws {
        let uri = try #require(SIPURI("sip:ann@example.org"))
        let ann = WatchedResource(
            restored: uri, key: uri.aorKey, categories: [.note], entity: uri, remembered: ["*": 7], version: 3)
        let list = PresenceSubscription(
            bench.gateway.flows.presenceSubscriptions, format: .xpidf, isPartial: false, isBatch: false,
            list: ListSubscription(uri: "sip:lists@example.com", written: [:]),
            resources: [ann], rejected: [])
        list.listNotified(spacedUntil: now + .seconds(5))
        #expect(list.list?.version == 1 && list.list?.spacedUntil == now + .seconds(5))
        #expect(ann.isRestored && ann.isNotified && ann.nextPartialVersion() == 4)
        list.endResume()
        #expect(!ann.isRestored && ann.isWaiting)
    }

    @Test("new state, another record and other categories drop the view of a presentity; a delivered view without a copy does too")
    func views() throws {
        let resource = WatchedResource(try wanted("ann"))
        let view = RenderedPresence.document(DocumentView([1]))
        resource.keep(view, isOwn: true)
        #expect(resource.rendered != nil && resource.isRenderedOwn)
        let changes: [() -> Void] = [
            { resource.show(.offline) }, { resource.place(at: "other") }, { resource.request([.state]) }, { resource.dropRendered() },
            { resource.deliver(digest: 1) },
        ]
        for change in changes {
            resource.keep(view)
            change()
            #expect(resource.rendered == nil)
        }
        #expect(resource.source == .offline && resource.hostedKey == "other" && resource.categories == [.state])
    }

    @Test("a change of authorization is not notified yet")
    func authorization() throws {
        let resource = WatchedResource(try wanted("ann"))
        resource.authorize(isPending: true)
        resource.notePendingNotified()
        #expect(resource.isPending && resource.isPendingNotified)
        resource.authorize(isPending: true)
        #expect(resource.isPendingNotified)
        resource.authorize(isPending: false)
        #expect(!resource.isPending && !resource.isPendingNotified)
    }
}
