import EnhancedPresence
import PresenceDocuments
import Testing

@Suite struct ContainerMembershipTests {
    private static let alice = ContainerMember(.user, value: "sip:alice@fabrikam.com")

    @Test("MS-PRES 3.5.5.2 a new container accepts version 0 and has version 1 afterwards [R070, R103]")
    func create() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let change = try presentity.setContainerMembers(
            Fixture.members(300, ContainerMemberChange(.add, Self.alice)), by: Fixture.laptop)
        #expect(change.containers == [Fixture.container(300)])
        #expect(presentity.membership(of: Fixture.container(300)).version == 1)
    }

    @Test("MS-PRES 1.3.1.8 a container that nobody created begins with its first publication, without members [R070]")
    func firstPublication() throws {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.containers(holding: .note).isEmpty)
        _ = try presentity.publish(Fixture.request(Fixture.publication(.note, 777)), by: Fixture.laptop, at: Fixture.start)
        #expect(presentity.containers(holding: .note) == [Fixture.container(777)])
        #expect(
            presentity.membership(of: Fixture.container(777)) == EnhancedPresentity(uri: Fixture.bob).membership(of: Fixture.container(777))
        )
        #expect(
            presentity.refusal(of: Fixture.members(777, version: 0, ContainerMemberChange(.add, Self.alice))) == nil,
            "its members are still those of version 0")
    }

    @Test("MS-PRES 3.5.5.2 a version that is not the stored one is 409 in the fault format [R103]")
    func stale() throws {
        var presentity = try Fixture.presentity(members: [300: [Self.alice]])
        let refusal = presentity.refusal(of: Fixture.members(300, version: 0, ContainerMemberChange(.remove, Self.alice)))
        #expect(refusal?.status == 409)
        #expect(refusal?.fault?.operations == [FaultOperation(index: 1, version: 0, currentVersion: 1)])
        #expect(presentity.refusal(of: Fixture.members(300, version: 1, ContainerMemberChange(.remove, Self.alice))) == nil)
        #expect(presentity.membership(of: Fixture.container(300)).members.isEmpty)
    }

    @Test("MS-PRES 3.5.5.2 adding twice and removing what is absent are ignored, the version moves all the same [R109, R115]")
    func ignored() throws {
        var presentity = try Fixture.presentity(members: [300: [Self.alice]])
        let request = Fixture.members(
            300, version: 1, ContainerMemberChange(.add, ContainerMember(.user, value: "alice@FABRIKAM.com")),
            ContainerMemberChange(.remove, ContainerMember(.domain, value: "example.org")),
            ContainerMemberChange(.remove, ContainerMember(.federated)))
        #expect(presentity.refusal(of: request) == nil)
        let membership = presentity.membership(of: Fixture.container(300))
        #expect(membership.members == [ContainerMember(.user, value: "alice@fabrikam.com")])
        #expect(membership.version == 2)
    }

    @Test("RFC 3261 19.1.4: stored members with lower-case escapes hold, count once, and are removed by either spelling")
    func storedEscapes() throws {
        let stored = ContainerMembership(
            version: 4, members: ["a%2fb@example.org", "a%2Fb@example.org"].map { ContainerMember(.user, value: $0) })
        #expect(stored.version == 4 && stored.members == [ContainerMember(.user, value: "a%2Fb@example.org")])
        #expect(stored.hasUser(PresenceAddress("sip:a%2fb@example.org")) && stored.hasUser(PresenceAddress("sip:a%2Fb@example.org")))
        for spelling in ["a%2fb@example.org", "sip:a%2Fb@example.org"] {
            var presentity = try Fixture.presentity(members: [32_000: [ContainerMember(.user, value: "a%2fb@example.org")]])
            let change = ContainerMemberChange(.remove, ContainerMember(.user, value: spelling))
            #expect(presentity.refusal(of: Fixture.members(32_000, version: 1, change)) == nil)
            #expect(presentity.membership(of: Fixture.container(32_000)).members.isEmpty)
        }
        #expect(PresenceAddress("50%@example.org").text == "50%@example.org", "an incomplete escape is kept")
    }

    @Test("MS-PRES 3.5.5.5 From and To that differ are 403 [R102]")
    func fromAndTo() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let endpoint = PublishingEndpoint(from: "sip:eve@contoso.com", to: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.members(300, ContainerMemberChange(.add, Self.alice)), by: endpoint)?.status == 403)
    }

    @Test("MS-PRES 3.5.5.5 container 0 and a container named twice are 400 [R071, R101]")
    func form() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.members(0, ContainerMemberChange(.add, Self.alice)))?.status == 400)
        let once = ContainerChange(id: Fixture.container(300), version: 0, changes: [ContainerMemberChange(.add, Self.alice)])
        #expect(presentity.refusal(of: SetContainerMembersDocument(containers: [once, once]))?.status == 400)
    }

    @Test(
        "MS-PRES 3.5.5.2 a value is needed for user and domain and forbidden for the others [R105, R106]",
        arguments: [
            ContainerMember(.user), ContainerMember(.user, value: ""), ContainerMember(.user, value: "alice"), ContainerMember(.domain),
            ContainerMember(.domain, value: "contoso..com"), ContainerMember(.domain, value: "con toso"),
            ContainerMember(.federated, value: "fabrikam.com"), ContainerMember(.everyone, value: "x"), ContainerMember("friends"),
        ])
    func values(_ member: ContainerMember) {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.members(300, ContainerMemberChange(.add, member)))?.status == 400)
    }

    @Test("MS-PRES 3.5.5.2 all containers of a request change or none [R110]")
    func atomic() throws {
        var presentity = try Fixture.presentity(members: [300: [Self.alice]])
        let before = presentity
        let request = SetContainerMembersDocument(containers: [
            ContainerChange(id: Fixture.container(200), version: 0, changes: [ContainerMemberChange(.add, Self.alice)]),
            ContainerChange(id: Fixture.container(300), version: 7, changes: [ContainerMemberChange(.remove, Self.alice)]),
        ])
        let refusal = presentity.refusal(of: request)
        #expect(refusal?.fault?.operations.map(\.index) == [2])
        #expect(presentity == before)
    }

    @Test("MS-PRES 3.5.5.5 too many members over all containers are 413 with diagnostic 2006 [R111]")
    func limit() {
        var presentity = EnhancedPresentity(uri: Fixture.bob, policy: EnhancedPresencePolicy(memberLimit: 2, containerLimit: 2))
        let add = ContainerMemberChange(.add, Self.alice)
        #expect(presentity.refusal(of: Fixture.members(100, add, ContainerMemberChange(.add, ContainerMember(.federated)))) == nil)
        let refusal = presentity.refusal(of: Fixture.members(200, add))
        #expect(refusal?.status == 413)
        #expect(refusal?.diagnostic?.id == 2006)
        #expect(presentity.refusal(of: Fixture.members(200, ContainerMemberChange(.remove, Self.alice))) == nil)
        #expect(presentity.refusal(of: Fixture.members(300, ContainerMemberChange(.remove, Self.alice)))?.status == 413)
    }

    @Test("MS-PRES 3.5.5.3 the notification shows the changed containers with their complete membership")
    func notification() throws {
        var presentity = try Fixture.presentity(members: [300: [Self.alice], 200: [ContainerMember(.sameEnterprise)]])
        let change = try presentity.setContainerMembers(
            Fixture.members(300, version: 1, ContainerMemberChange(.remove, Self.alice)), by: Fixture.laptop)
        let data = presentity.roamingData(after: change, at: Fixture.start)
        #expect(data.categories == nil)
        #expect(data.containers?.containers == [ContainerElement(id: Fixture.container(300), version: 2)])
        #expect(presentity.roamingData(after: change, scope: [.categories], at: Fixture.start).containers == nil)
    }

    @Test("MS-PRES 3.5.5.2 memberships and publications count their versions apart [R104]")
    func versions() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 300)], members: [300: [Self.alice]])
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.note, 300, version: 1, text: "new"))) == nil)
        #expect(presentity.membership(of: Fixture.container(300)).version == 1)
        #expect(presentity[Fixture.id(.note, 300)]?.version == 2)
    }
}

@Suite struct PresenceAddressTests {
    @Test(
        "MS-PRES 4.9.1 spellings of one address are equal [R115]",
        arguments: [
            "alice@fabrikam.com", "sip:alice@fabrikam.com", "SIP:alice@Fabrikam.COM", "sips:alice@fabrikam.com",
            " <sip:alice@fabrikam.com;transport=tcp> ", "sip:alice@fabrikam.com?subject=x", "sip:%61lice@fabrikam.com",
            "sip:alice@fabrikam.com:5060",
        ])
    func equal(_ text: String) {
        #expect(PresenceAddress(text) == PresenceAddress("alice@fabrikam.com"))
        #expect(PresenceAddress(text).domain == "fabrikam.com")
    }

    @Test("RFC 3261 19.1.4 the user part keeps its case and the escapes that it needs")
    func different() {
        #expect(PresenceAddress("sip:Alice@fabrikam.com") != PresenceAddress("sip:alice@fabrikam.com"))
        #expect(PresenceAddress("sip:a%40b@fabrikam.com").text == "a%40b@fabrikam.com")
        #expect(PresenceAddress("sip:a@[2001:db8::1]:5060").domain == "[2001:db8::1]")
    }

    @Test(
        "odd texts are read without a fault",
        arguments: ["", "@", "sip:", "sip:@", "<", "<>", "sip:a@b@c", "%", "sip:%4@x", "tel:+15550100"])
    func odd(_ text: String) {
        #expect(PresenceAddress(text) == PresenceAddress(text))
    }
}
