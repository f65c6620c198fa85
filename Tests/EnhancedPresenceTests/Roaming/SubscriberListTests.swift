import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

@Suite struct SubscriberListTests {
    private static let alice = WatcherIdentity(uri: "sip:alice@contoso.com", network: .sameEnterprise)
    private static let dan = WatcherIdentity(uri: "sip:dan@fabrikam.com", network: .federated)

    private static func acknowledge(
        _ user: String, on presentity: inout EnhancedPresentity, from: String = Fixture.bob
    ) -> EnhancedPresenceRefusal? {
        do throws(EnhancedPresenceRefusal) {
            _ = try presentity.setSubscribers(
                SetSubscribersDocument(user: user), by: PublishingEndpoint(from: from, to: Fixture.bob))
            return nil
        } catch {
            return error
        }
    }

    private static func note(
        _ watcher: WatcherIdentity, _ subscription: SubscriberList.Subscription, on presentity: inout EnhancedPresentity
    ) -> EnhancedPresenceRefusal? {
        do throws(EnhancedPresenceRefusal) {
            _ = try presentity.noteSubscriber(watcher, displayName: nil, by: subscription)
            return nil
        } catch {
            return error
        }
    }

    @Test("MS-PRES 1.3.1.4 an unknown subscriber with a context is listed unacknowledged, a known one changes nothing [R201, R202, R205]")
    func listed() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let change = try presentity.noteSubscriber(Self.alice, displayName: "Alice", by: .category(context: nil))
        #expect(change.subscribersChanged && !change.isEmpty)
        #expect(
            presentity.subscribers.document.subscribers == [
                SubscriberElement(user: "alice@contoso.com", displayName: "Alice", acknowledged: false, type: .sameEnterprise)
            ])
        let before = presentity
        let again = try presentity.noteSubscriber(Self.alice, displayName: "Another", by: .category(context: nil))
        #expect(again.isEmpty)
        #expect(presentity == before)
    }

    @Test("MS-PRES 2.2.2.6.1 without a display name the address stands in its place, and the class is the source network's [R202]")
    func names() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        _ = try presentity.noteSubscriber(Self.dan, displayName: "", by: .category(context: nil))
        #expect(
            presentity.subscribers.document.subscribers == [
                SubscriberElement(user: "dan@fabrikam.com", displayName: "dan@fabrikam.com", acknowledged: false, type: .federated)
            ])
    }

    @Test("MS-PRES 3.6.5.1 the content of a context is copied, an empty context leaves none [R203]")
    func context() throws {
        let content = try #require(SubscriptionContextDocument().fragment)
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        _ = try presentity.noteSubscriber(Self.alice, displayName: nil, by: .category(context: content))
        _ = try presentity.noteSubscriber(Self.dan, displayName: nil, by: .category(context: nil))
        let text = String(decoding: presentity.subscribers.document.encoded(), as: UTF8.self)
        #expect(text.contains("<context>" + String(decoding: content.source, as: UTF8.self) + "</context>"))
        #expect(presentity.subscribers.entries.map { $0.context == nil } == [false, true])
    }

    @Test("the user himself is not told that he watches himself")
    func himself() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let me = WatcherIdentity(uri: "bob@CONTOSO.com", network: .sameEnterprise)
        let change = try presentity.noteSubscriber(me, displayName: nil, by: .category(context: nil))
        #expect(change.isEmpty && presentity.subscribers.isEmpty)
    }

    @Test("MS-PRES 3.6.5.1 acknowledging removes exactly that category subscriber [R206, R208]")
    func acknowledged() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        for watcher in [Self.alice, Self.dan] { #expect(Self.note(watcher, .category(context: nil), on: &presentity) == nil) }
        #expect(Self.acknowledge("sip:alice@contoso.com", on: &presentity) == nil)
        #expect(presentity.subscribers.entries.map(\.address.text) == ["dan@fabrikam.com"])
    }

    @Test("MS-PRES 3.7.5.3 MSRTC and PIDF subscribers are always listed, and stay when acknowledged [R208, R210]")
    func withoutContext() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(Self.note(Self.dan, .withoutContext, on: &presentity) == nil)
        #expect(Self.acknowledge("dan@fabrikam.com", on: &presentity) == nil)
        #expect(presentity.subscribers.entries.map(\.isAcknowledged) == [true])
        let again = try presentity.noteSubscriber(Self.dan, displayName: nil, by: .withoutContext)
        #expect(again.isEmpty, "the user would be told every time")
    }

    @Test("MS-PRES 3.6.5.1 one who subscribed in both ways stays")
    func bothWays() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(Self.note(Self.dan, .category(context: nil), on: &presentity) == nil)
        #expect(Self.note(Self.dan, .withoutContext, on: &presentity) == nil)
        #expect(Self.acknowledge("dan@fabrikam.com", on: &presentity) == nil)
        #expect(presentity.subscribers.count == 1)
    }

    @Test("MS-PRES 3.6.5.1 a server may keep acknowledged entries")
    func keeping() {
        var policy = EnhancedPresencePolicy.standard
        policy.roaming.removesAcknowledgedSubscribers = false
        var presentity = EnhancedPresentity(uri: Fixture.bob, policy: policy)
        #expect(Self.note(Self.alice, .category(context: nil), on: &presentity) == nil)
        #expect(Self.acknowledge("alice@contoso.com", on: &presentity) == nil)
        #expect(presentity.subscribers.entries.map(\.isAcknowledged) == [true])
    }

    @Test("MS-PRES 3.6.5.3 an unknown subscriber is 400 with diagnostic 2000, From that differs from To 403, and nothing changes [R207]")
    func errors() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(Self.note(Self.alice, .category(context: nil), on: &presentity) == nil)
        let before = presentity
        let unknown = Self.acknowledge("carol@contoso.com", on: &presentity)
        #expect(unknown?.status == 400)
        #expect(unknown?.diagnostic?.id == 2000)
        #expect(unknown?.message == "the subscriber list has no \"carol@contoso.com\" (MS-PRES 3.6.5.3)")
        #expect(Self.acknowledge("alice@contoso.com", on: &presentity, from: "sip:eve@contoso.com")?.status == 403)
        #expect(presentity == before)
    }

    @Test("MS-PRES 3.6.5.3 a full list, a context that is too large and contexts that are too large together are 413 [R211, R212]")
    func limits() throws {
        let content = try #require(SubscriptionContextDocument().fragment)
        var policy = EnhancedPresencePolicy.standard
        policy.roaming.subscriberLimit = 1
        var full = EnhancedPresentity(uri: Fixture.bob, policy: policy)
        #expect(Self.note(Self.alice, .category(context: nil), on: &full) == nil)
        let before = full
        #expect(Self.note(Self.dan, .category(context: nil), on: &full)?.status == 413)
        #expect(Self.note(Self.dan, .withoutContext, on: &full)?.status == 413)
        #expect(full == before)
        policy.roaming.subscriberLimit = 10
        policy.roaming.totalContextByteLimit = content.source.count
        var contexts = EnhancedPresentity(uri: Fixture.bob, policy: policy)
        #expect(Self.note(Self.alice, .category(context: content), on: &contexts) == nil)
        let refusal = Self.note(Self.dan, .category(context: content), on: &contexts)
        #expect(refusal?.status == 413 && refusal?.diagnostic?.id == 2011)
        #expect(contexts.subscribers.count == 1)
        #expect(Self.acknowledge("alice@contoso.com", on: &contexts) == nil)
        #expect(Self.note(Self.dan, .category(context: content), on: &contexts) == nil, "the room of the removed one is free again")
        policy.roaming.contextByteLimit = content.source.count - 1
        var small = EnhancedPresentity(uri: Fixture.bob, policy: policy)
        #expect(Self.note(Self.alice, .category(context: content), on: &small)?.diagnostic?.id == 2011)
        #expect(small.subscribers.isEmpty)
    }

    @Test("MS-PRES 2.2.2.3.3 a change of the list is a subscribers part only, with everybody [R133, R134]")
    func notification() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)], members: [300: [ContainerMember(.federated)]])
        _ = try presentity.noteSubscriber(Self.alice, displayName: nil, by: .category(context: nil))
        let change = try presentity.noteSubscriber(Self.dan, displayName: nil, by: .category(context: nil))
        let scope: Set<RoamingScope> = [.categories, .containers, .subscribers, .delegates]
        let data = presentity.roamingData(after: change, scope: scope, at: Fixture.start)
        #expect(data == RoamingDataDocument(subscribers: presentity.subscribers.document))
        #expect(data.subscribers?.subscribers.count == 2)
        #expect(presentity.roamingData(after: change, scope: [.categories], at: Fixture.start) == RoamingDataDocument())
    }

    @Test("a list read from its stored document is the same again, and remembers who outlives an acknowledgement")
    func restored() throws {
        let content = try #require(SubscriptionContextDocument().fragment)
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        _ = try presentity.noteSubscriber(Self.alice, displayName: "Alice", by: .category(context: content))
        _ = try presentity.noteSubscriber(Self.dan, displayName: nil, by: .withoutContext)
        let stored = presentity.storedDocument.encoded()
        let data = try RoamingDataDocument(parsing: stored)
        var restored = EnhancedPresentity(
            uri: Fixture.bob, categories: data.categories, containers: data.containers, subscribers: data.subscribers,
            delegates: data.delegates)
        #expect(restored.subscribers == presentity.subscribers)
        #expect(Self.acknowledge("dan@fabrikam.com", on: &restored) == nil)
        #expect(restored.subscribers.entries.map(\.isAcknowledged) == [false, true])
        #expect(!String(decoding: restored.subscribers.document.encoded(), as: UTF8.self).contains("isthmus"))
    }
}
