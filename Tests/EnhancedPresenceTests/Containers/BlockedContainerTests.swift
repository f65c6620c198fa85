import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct BlockedContainerTests {
    private static let alice = WatcherIdentity(uri: "sip:alice@contoso.com", network: .sameEnterprise)
    private static let carol = WatcherIdentity(uri: "sip:carol@contoso.com", network: .sameEnterprise)
    private static let names: [CategoryName] = [.state, .note, .calendarData, .services]

    private func presentity() throws -> EnhancedPresentity {
        try Fixture.presentity(
            Self.names.map { Fixture.publication($0, 200) },
            members: [200: [ContainerMember(.sameEnterprise)], 32_000: [ContainerMember(.user, value: "alice@contoso.com")]])
    }

    @Test("MS-PRES 4.4.2: a member of 32000 sees somebody offline though the publisher put nothing there, all others what they saw [R093]")
    func filled() throws {
        var bob = try presentity()
        let others = bob.view(of: Self.names, for: Self.carol).document
        #expect(bob.publishBlockedDefaults(at: Fixture.time(1)).categories.isSuperset(of: Self.names))
        let text = String(decoding: bob.view(of: Self.names, for: Self.alice).document.encoded(), as: UTF8.self)
        #expect(text.contains("<availability>18500</availability>") && !text.contains("here"))
        #expect(bob.view(of: Self.names, for: Self.carol).document == others)
        #expect(bob.publishBlockedDefaults(at: Fixture.time(2)).isEmpty)
    }

    @Test("MS-PRES 3.2.5.2: own endpoints are told what every container holds of a changed category, not only of the one that changed")
    func notified() throws {
        var bob = try presentity()
        let change = bob.publishBlockedDefaults(at: Fixture.time(1))
        let notified = bob.roamingData(after: change, at: Fixture.time(1)).categories?.categories ?? []
        for name in Self.names {
            #expect(Set(notified.filter { $0.name == name }.map(\.container)) == [Fixture.container(200), Fixture.container(32_000)])
        }
    }
}
