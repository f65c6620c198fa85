import EnhancedPresence
import PresenceDocuments
import Testing
import XMLCore

@Suite struct PublishChecksTests {
    @Test("MS-PRES 3.2.5.4 From and To that differ are 403 [R004]")
    func fromAndTo() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let endpoint = PublishingEndpoint(from: "sip:alice@contoso.com", to: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.note, 200)), by: endpoint)?.status == 403)
    }

    @Test("MS-PRES 3.2.5.4 a uri that is not the To URI is 400 [R005]")
    func uri() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let request = CategoryPublishDocument(uri: "sip:carol@contoso.com", publications: [Fixture.publication(.note, 200)])
        #expect(presentity.refusal(of: request)?.status == 400)
    }

    @Test(
        "MS-PRES 3.2.5.4 the same uri in another spelling is the same",
        arguments: [
            "SIP:bob@CONTOSO.com", "bob@contoso.com", "sip:bob@contoso.com;transport=tls", "<sip:bob@contoso.com>",
        ])
    func spelling(_ uri: String) {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let request = CategoryPublishDocument(uri: uri, publications: [Fixture.publication(.note, 200)])
        #expect(presentity.refusal(of: request) == nil)
    }

    @Test("MS-PRES 3.2.5.4 expireType time without expires is 400 [R007]")
    func timeWithoutExpires() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.state, 2, 7, type: .time)))?.status == 400)
    }

    @Test("MS-PRES 2.2.2.2.1 expires other than 0 with another type than time is 400 [R008]")
    func expiresWithoutTime() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.state, 2, 7, type: .static, expires: 60)))?.status == 400)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.state, 2, 7, type: .static, expires: 0))) == nil)
    }

    @Test("MS-PRES 3.2.5.4 one key twice in a request is 400 [R009]")
    func duplicate() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let twice = Fixture.request(Fixture.publication(.note, 200), Fixture.publication(.note, 200, text: "there"))
        #expect(presentity.refusal(of: twice)?.status == 400)
        let different = Fixture.request(
            Fixture.publication(.note, 200), Fixture.publication(.note, 200, 1), Fixture.publication(.note, 300))
        #expect(presentity.refusal(of: different) == nil)
    }

    @Test("MS-PRES 3.2.5.4 an unregistered category is 403, case included, unless every name is allowed [R010]")
    func unregistered() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication("State", 2)))?.status == 403)
        var policy = presentity.policy
        policy.registeredCategories = nil
        presentity.use(policy)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication("State", 2))) == nil)
    }

    @Test("MS-PRES 3.2.5.4 a read-only place is 403 with diagnostic 2003, also for a deletion [R011, R327]")
    func readOnly() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let refusal = presentity.refusal(of: Fixture.request(Fixture.publication(.userProperties, 1)))
        #expect(refusal?.status == 403)
        #expect(refusal?.diagnostic?.id == 2003)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.userProperties, 1, expires: 0)))?.status == 403)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.userProperties, 2))) == nil)
    }

    @Test("MS-PRES 3.2.5.4 expireType endpoint from an endpoint that is not registered is 488 [R012]")
    func endpoint() {
        var presentity = EnhancedPresentity(uri: Fixture.bob)
        let request = Fixture.request(Fixture.publication(.state, 2, 7, type: .endpoint))
        var endpoint = Fixture.laptop
        endpoint.isRegistered = false
        #expect(presentity.refusal(of: request, by: endpoint)?.status == 488)
        endpoint.isRegistered = true
        endpoint.endpointID = nil
        #expect(presentity.refusal(of: request, by: endpoint)?.status == 488)
        #expect(presentity.refusal(of: request) == nil)
    }

    @Test("MS-PRES 3.2.5.4 a publication or a category beyond its quota is 413 [R013, R014]")
    func quota() throws {
        let size = try #require(Fixture.body("here")).source.count
        var presentity = EnhancedPresentity(
            uri: Fixture.bob, policy: EnhancedPresencePolicy(publicationByteLimit: size, categoryByteLimit: 2 * size))
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.note, 100, text: "here!")))?.status == 413)
        let two = Fixture.request(Fixture.publication(.note, 100), Fixture.publication(.note, 200))
        #expect(presentity.refusal(of: two) == nil)
        let third = presentity.refusal(of: Fixture.request(Fixture.publication(.note, 300)))
        #expect(third?.status == 413)
        #expect(third?.diagnostic?.id == 2010)
        let moved = Fixture.request(Fixture.publication(.note, 100, version: 1, expires: 0), Fixture.publication(.note, 300))
        #expect(presentity.refusal(of: moved) == nil)
    }

    @Test("a presentity holds a bounded number of instances")
    func instances() {
        var presentity = EnhancedPresentity(uri: Fixture.bob, policy: EnhancedPresencePolicy(instanceLimit: 2))
        let two = Fixture.request(Fixture.publication(.note, 1), Fixture.publication(.note, 2))
        #expect(presentity.refusal(of: two) == nil)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.note, 3)))?.status == 413)
        #expect(presentity.refusal(of: Fixture.request(Fixture.publication(.note, 2, version: 1, text: "new"))) == nil)
    }

    @Test("a refused request changes nothing [R029]")
    func unchanged() throws {
        var presentity = try Fixture.presentity([Fixture.publication(.note, 200)])
        let before = presentity
        for request in [
            Fixture.request(Fixture.publication(.note, 300), Fixture.publication("nonsense", 1)),
            Fixture.request(Fixture.publication(.note, 300), Fixture.publication(.note, 200)),
            Fixture.request(Fixture.publication(.note, 300), Fixture.publication(.state, 2, 7, type: .time)),
        ] {
            #expect(presentity.refusal(of: request) != nil)
            #expect(presentity == before)
        }
    }
}
