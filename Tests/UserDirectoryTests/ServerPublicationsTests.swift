import PresenceDocuments
import Testing
import UserDirectory

@Suite struct ServerPublicationsTests {
    @Test("MS-PRES 3.2.6.2: the server publishes card, offline state and properties in the containers of the table [R325]")
    func table() throws {
        let bob = try user("sip:bob@contoso.com", [.displayName: "Bob Baker", .email: "bob@contoso.com"])
        let publications = bob.serverPublications
        let cards = publications.filter { $0.category == .contactCard }
        #expect(cards.map(\.container.rawValue) == [0, 100, 200, 300, 400, 32_000])
        for card in cards {
            let document = try ContactCardDocument(parsing: card.body)
            #expect(document.identities.displayName == "Bob Baker")
            #expect(document.identities.email == "bob@contoso.com")
        }
        let interop = publications.filter { $0.category == .legacyInterop }
        #expect(interop.map(\.container.rawValue) == [32_000])
        #expect(try interop.map { try LegacyInteropDocument(parsing: $0.body).availability } == [18_500])
        let properties = publications.filter { $0.category == .userProperties }
        #expect(properties.map(\.container.rawValue) == [1])
        #expect(publications.allSatisfy { $0.instance == 0 })
        #expect(publications.count == 8)
    }

    @Test("the card is the same in every container, so that a blocked watcher learns nothing from it")
    func sameCards() throws {
        let bob = try user("sip:bob@contoso.com", [.displayName: "Bob & <Baker>", .email: "bob@contoso.com", .workPhone: "+15550100"])
        #expect(Set(bob.serverPublications.filter { $0.category == .contactCard }.map(\.body)).count == 1)
    }

    @Test("MS-PRES 2.2.2.7.4: userProperties holds what the directory knows and nothing else")
    func properties() throws {
        let bob = try user(
            "sip:bob@contoso.com",
            [
                .lineURI: "tel:+15550100;ext=0100", .fax: "+15550199", .street: "1 Main Street", .city: "Springfield", .state: "Oregon",
                .country: "US", .postalCode: "97477", .webPage: "https://people.contoso.com/bob", .title: "Engineer",
            ])
        let body = try #require(bob.serverPublications.first { $0.category == .userProperties }?.body)
        #expect(
            try UserPropertiesDocument(parsing: body)
                == UserPropertiesDocument(
                    lines: [.init("tel:+15550100;ext=0100", type: "Uc")], telephonyMode: "Uc", facsimileTelephoneNumber: "+15550199",
                    streetAddress: "1 Main Street", city: "Springfield", state: "Oregon", countryCode: "US", postalCode: "97477",
                    webPage: "https://people.contoso.com/bob"))
        let bare = try #require(try user("sip:bob@contoso.com").serverPublications.first { $0.category == .userProperties }?.body)
        #expect(try UserPropertiesDocument(parsing: bare) == UserPropertiesDocument())
    }

    @Test("without a name in the directory the card shows the user part of the SIP URI, and no mail address")
    func bareCard() throws {
        let body = try #require(try user("sip:bob@contoso.com").serverPublications.first?.body)
        let card = try ContactCardDocument(parsing: body)
        #expect(card.identities.displayName == "bob")
        #expect(card.identities.email == nil)
    }
}
