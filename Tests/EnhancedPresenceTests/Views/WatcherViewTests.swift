import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct WatcherViewTests {
    private static let alice = WatcherIdentity(uri: "sip:alice@contoso.com", network: .sameEnterprise)
    private static let mallory = WatcherIdentity(uri: "sip:mallory@fabrikam.com", network: .federated)
    private static let colleagues: [Int: [ContainerMember]] = [200: [ContainerMember(.sameEnterprise)]]

    @Test("MS-PRES 2.2.2.1 a watcher sees name, instance, publishTime and body, nothing else [R168, R169]")
    func attributes() throws {
        let presentity = try Fixture.presentity(
            [Fixture.publication(.note, 200, 3, type: .time, expires: 60)], members: Self.colleagues)
        let elements = presentity.view(of: [.note], for: Self.alice).document.categories
        #expect(
            elements == [
                CategoryElement(name: .note, instance: 3, publishTime: Fixture.start, body: Fixture.body("here").map(CategoryBody.raw))
            ])
    }

    @Test("MS-PRES 4.5 each requested category appears at least once, with the presentity's uri [R165, R166]")
    func markers() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 200)], members: Self.colleagues)
        let document = presentity.view(of: [.state, .note, .contactCard], for: Self.alice).document
        #expect(document.uri == "sip:bob@contoso.com")
        #expect(document.categories.map(\.name) == [.state, .note, .contactCard])
        #expect(document.categories.map(\.isEmptyMarker) == [true, false, true])
    }

    @Test("MS-PRES 4.6 an instance with an empty body is shown, without content [R167]")
    func emptyBody() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 200, text: nil)], members: Self.colleagues)
        #expect(
            presentity.view(of: [.note], for: Self.alice).document.categories == [
                CategoryElement(name: .note, instance: 0, publishTime: Fixture.start)
            ])
    }

    @Test("MS-PRES 3.4.5.1.3 private and repeated categories are left out [R091]")
    func privateCategories() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.legacyInterop, 0), Fixture.publication(.note, 0)])
        let view = presentity.view(of: [.legacyInterop, .note, .routing, .note], for: Self.alice)
        #expect(view.document.categories.map(\.name) == [.note])
    }

    @Test("MS-PRES 1.3.1.3.4 who is blocked sees the bytes that it would see if nothing were published [R081]")
    func blocked() throws {
        let presentity = try Fixture.presentity(
            [Fixture.publication(.note, 200), Fixture.publication(.state, 200)], members: Self.colleagues)
        let silent = EnhancedPresentity(uri: Fixture.bob)
        let names: [CategoryName] = [.state, .note, .services]
        let seen = presentity.view(of: names, for: Self.mallory).document.encoded()
        #expect(seen == silent.view(of: names, for: Self.mallory).document.encoded())
        // Each name once, and nothing in it.
        let text = String(decoding: seen, as: UTF8.self)
        for name in names { #expect(text.contains("<category name=\"\(name.rawValue)\"/>"), "\(text)") }
        #expect(text.split(separator: "<category ").count == names.count + 1)
    }

    @Test("MS-PRES 3.2.5.3 a change in the resolved container is seen, elsewhere not [R087, R089]")
    func changes() throws {
        var presentity = try Fixture.presentity(
            [Fixture.publication(.note, 200), Fixture.publication(.note, 100), Fixture.publication(.state, 200)],
            members: [200: [ContainerMember(.sameEnterprise)], 100: [ContainerMember(.federated)]])
        let names: [CategoryName] = [.state, .note]
        let alice = presentity.view(of: names, for: Self.alice)
        let mallory = presentity.view(of: names, for: Self.mallory)
        _ = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 200, version: 1, text: "new")), by: Fixture.laptop, at: Fixture.time(1))
        let after = presentity.view(of: names, for: Self.alice)
        #expect(after.changes(since: alice) == [.note])
        #expect(after.document(of: [.note]).categories.map(\.name) == [.note])
        #expect(presentity.view(of: names, for: Self.mallory).changes(since: mallory).isEmpty)
    }

    @Test("MS-PRES 3.2.5.3 several changed categories go into one notification, each with all its instances [R088, R178]")
    func together() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)], members: Self.colleagues)
        let names: [CategoryName] = [.state, .note, .contactCard]
        let before = presentity.view(of: names, for: Self.alice)
        _ = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 200, 5), Fixture.publication(.state, 200)), by: Fixture.laptop, at: Fixture.time(1))
        let after = presentity.view(of: names, for: Self.alice)
        let changed = after.changes(since: before)
        #expect(changed == [.state, .note])
        #expect(
            after.document(of: changed).categories.map { [$0.name.rawValue, "\($0.instance ?? 99)"] } == [
                ["state", "0"], ["note", "0"], ["note", "5"],
            ])
    }

    @Test("MS-PRES 1.3.1.3.9 the first instance in a higher container, and the removal of the last, move the watcher [R085]")
    func moves() throws {
        var presentity = try Fixture.presentity(
            [Fixture.publication(.note, 200)], members: [200: [ContainerMember(.sameEnterprise)], 300: [ContainerMember(.sameEnterprise)]])
        let first = presentity.view(of: [.note], for: Self.alice)
        _ = try presentity.publish(Fixture.request(Fixture.publication(.note, 300)), by: Fixture.laptop, at: Fixture.time(1))
        let second = presentity.view(of: [.note], for: Self.alice)
        #expect(second.changes(since: first) == [.note])
        #expect(second.categories.first?.resolution.description == "container 300 (sameEnterprise)")
        _ = try presentity.publish(
            Fixture.request(Fixture.publication(.note, 300, version: 1, expires: 0)), by: Fixture.laptop, at: Fixture.time(2))
        let third = presentity.view(of: [.note], for: Self.alice)
        #expect(third.changes(since: second) == [.note])
        #expect(third.changes(since: first).isEmpty)
    }

    @Test("MS-PRES 1.3.1.3.10 membership, deregistration and expiry move the watcher too [R086]")
    func otherCauses() throws {
        var presentity = try Fixture.presentity(
            [
                Fixture.publication(.note, 200), Fixture.publication(.state, 200, 1, type: .endpoint),
                Fixture.publication(.services, 200, 1, type: .time, expires: 5),
            ], members: Self.colleagues)
        let names: [CategoryName] = [.note, .state, .services]
        var before = presentity.view(of: names, for: Self.alice)
        func changed() -> Set<CategoryName> {
            let after = presentity.view(of: names, for: Self.alice)
            defer { before = after }
            return after.changes(since: before)
        }
        _ = presentity.endpointEnded("6B29FC40-CA47-1067-B31D-00DD010662DA", isLast: false, at: Fixture.time(1))
        #expect(changed() == [.state])
        _ = presentity.expire(at: Fixture.time(5))
        #expect(changed() == [.services])
        _ = try presentity.setContainerMembers(
            Fixture.members(200, version: 1, ContainerMemberChange(.remove, ContainerMember(.sameEnterprise))), by: Fixture.laptop)
        #expect(changed() == [.note])
        #expect(before.document.categories.map(\.isEmptyMarker) == [true, true, true])
    }

    @Test("watchers that see the same share a key")
    func key() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 200)], members: Self.colleagues)
        let carol = WatcherIdentity(uri: "sip:carol@contoso.com", network: .sameEnterprise)
        #expect(presentity.view(of: [.note], for: carol).key == presentity.view(of: [.note], for: Self.alice).key)
        #expect(presentity.view(of: [.note], for: carol).key != presentity.view(of: [.note], for: Self.mallory).key)
    }

    @Test("MS-PRES 3.7.5.1 legacyInterop is private to category watchers but makes PIDF notifications")
    func legacyInterop() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.legacyInterop, 200, 1)], members: Self.colleagues)
        #expect(presentity.legacyInterop(for: Self.alice)?.id == Fixture.id(.legacyInterop, 200, 1))
        #expect(presentity.legacyInterop(for: Self.mallory) == nil)
    }
}

@Suite struct SelfViewTests {
    @Test("MS-PRES 4.4.2 the user's endpoints see every container, private categories included [R072, R125]")
    func everything() throws {
        let presentity = try Fixture.presentity(
            [Fixture.publication(.routing, 32000), Fixture.publication(.note, 200)], members: [300: [ContainerMember(.federated)]])
        let data = presentity.roamingData(scope: [.categories, .containers], at: Fixture.start)
        #expect(data.categories?.categories.map(\.name) == [.note, .routing])
        #expect(data.containers?.containers.map(\.id.rawValue) == [32000, 300, 200, 0])
        #expect(data.containers?.containers.map(\.version) == [0, 1, 0, 0])
        #expect(data.containers?.containers.last?.members == [ContainerMember(.everyone)])
    }

    @Test("MS-PRES 3.3.5.1 parts outside the scope are absent")
    func scope() throws {
        let presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        #expect(
            presentity.roamingData(scope: [.subscribers], at: Fixture.start) == RoamingDataDocument(subscribers: SubscribersDocument()))
        #expect(presentity.roamingData(scope: [.containers], at: Fixture.start).categories == nil)
    }

    @Test("MS-PRES 2.2.2.3.3 a change of publications is a categories part only")
    func notification() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        let change = try presentity.publish(Fixture.request(Fixture.publication(.note, 200, 1)), by: Fixture.laptop, at: Fixture.time(1))
        let data = presentity.roamingData(after: change, at: Fixture.time(1))
        #expect(data.containers == nil)
        #expect(data.categories?.categories.map(\.instance) == [0, 1])
    }

    @Test("a presentity read from its own self document is the same again")
    func restored() throws {
        let presentity = try Fixture.presentity(
            [
                Fixture.publication(.note, 200), Fixture.publication(.state, 2, 7, type: .time, expires: 60),
                Fixture.publication(.state, 2, 8, type: .endpoint),
            ],
            members: [300: [ContainerMember(.user, value: "alice@fabrikam.com"), ContainerMember(.federated)]])
        let data = try RoamingDataDocument(
            parsing: presentity.roamingData(scope: [.categories, .containers], at: Fixture.start).encoded())
        let restored = EnhancedPresentity(uri: Fixture.bob, categories: data.categories, containers: data.containers)
        #expect(restored.pairs == presentity.pairs)
        #expect(restored[Fixture.id(.state, 2, 7)]?.deadline == Fixture.time(60))
        #expect(restored.membership(of: Fixture.container(300)) == presentity.membership(of: Fixture.container(300)))
        let alice = WatcherIdentity(uri: "sip:alice@fabrikam.com", network: .federated)
        #expect(restored.resolve(.note, for: alice) == presentity.resolve(.note, for: alice))
    }
}
