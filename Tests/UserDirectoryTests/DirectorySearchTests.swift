import PresenceDocuments
import SIPCore
import Testing
import UserDirectory

@Suite struct DirectorySearchTests {
    let users: UserDirectory

    init() throws {
        var ann = try user(
            "sip:ann@contoso.com",
            [
                .displayName: "Ann Arbor", .givenName: "Ann", .surname: "Arbor", .email: "ann.arbor@contoso.com", .title: "Engineer",
                .office: "7/110", .workPhone: "+1 555 0100", .company: "Contoso", .city: "Springfield", .state: "Oregon", .country: "US",
            ])
        ann.secondaryURIs = ["sip:arbor@contoso.com"]
        ann.otherEmails = ["ann@lab.contoso.com"]
        users = try directory(
            ann, user("sip:anna@contoso.com", [.displayName: "Anna Brown", .givenName: "Anna", .title: "Engineer"]),
            user("sip:annika@contoso.com", [.givenName: "Annika"], hidden: true),
            user("sip:annette@contoso.com", [.givenName: "Annette"], enabled: false),
            user("sip:ann@fabrikam.com", [.givenName: "Ann"]), user("sip:zoe@contoso.com", [.displayName: "Zoë Ångström"]))
    }

    func found(_ filters: [DirectorySearchFilter], for requester: String = "sip:zoe@contoso.com", limit: Int = 100) -> [String] {
        users.search(filters, in: "contoso.com", for: requester, limit: limit).users.map(\.uri.description)
    }

    @Test("MS-PRES 3.1.5.2: a filter holds for values that begin with its text, without regard to case")
    func prefix() {
        #expect(found([.init("givenName", "ann")]) == ["sip:ann@contoso.com", "sip:anna@contoso.com"])
        #expect(found([.init("GIVENNAME", "ANNA")]) == ["sip:anna@contoso.com"])
        #expect(found([.init("displayName", "zoË å")]) == ["sip:zoe@contoso.com"])
        #expect(found([.init("givenName", "nn")]).isEmpty)
        #expect(found([.init("givenName", "anna brown and more")]).isEmpty)
    }

    @Test("MS-PRES 3.1.5.2: all filters are ANDed, and an unknown attribute holds for nobody [R351]")
    func conjunction() {
        #expect(found([.init("title", "Eng"), .init("givenName", "Ann")]) == ["sip:ann@contoso.com", "sip:anna@contoso.com"])
        #expect(found([.init("title", "Eng"), .init("sn", "Arbor")]) == ["sip:ann@contoso.com"])
        #expect(found([.init("title", "Clerk"), .init("givenName", "Ann")]).isEmpty)
        #expect(found([.init("givenName", "Ann"), .init("shoeSize", "4")]).isEmpty)
    }

    @Test("MS-PRES 3.1.5.2: no more rows than the limit, and whether there are more [R352]", arguments: [0, 1, 2, 3])
    func limit(_ limit: Int) {
        let matches = users.search([.init("givenName", "Ann")], in: "contoso.com", for: "sip:zoe@contoso.com", limit: limit)
        #expect(matches.users.count == min(limit, 2))
        #expect(matches.moreAvailable == (limit < 2))
    }

    @Test("MS-PRES 8.3: msRTCURI finds by primary and secondary SIP address, msRTCMail by mail and proxy addresses [R354]")
    func macros() {
        #expect(found([.init("msRTCURI", "sip:ann@")]) == ["sip:ann@contoso.com"])
        #expect(found([.init("msRTCURI", "sip:arbor")]) == ["sip:ann@contoso.com"])
        #expect(found([.init("msRTCURI", "arbor")]) == ["sip:ann@contoso.com"])
        #expect(found([.init("msRTCMail", "ann.arbor")]) == ["sip:ann@contoso.com"])
        #expect(found([.init("msRTCMail", "ann@lab")]) == ["sip:ann@contoso.com"])
        #expect(found([.init("msRTCMail", "sip:ann")]).isEmpty)
        #expect(found([.init("mail", "ann@lab")]).isEmpty)
    }

    @Test("MS-PRES 1.3.2: anr looks at every name")
    func ambiguousNames() {
        for text in ["Arbor", "ann.arbor@", "Ann A", "arbor@contoso"] {
            #expect(found([.init("anr", text)]) == ["sip:ann@contoso.com"], "\(text)")
        }
    }

    @Test("MS-PRES 1.3.2: hidden users are found by themselves only, disabled ones by nobody, others' domains not at all [R356]")
    func visibility() {
        #expect(!found([.init("givenName", "Ann")]).contains("sip:annika@contoso.com"))
        #expect(found([.init("givenName", "Annika")], for: "sip:annika@contoso.com") == ["sip:annika@contoso.com"])
        #expect(found([.init("givenName", "Annette")], for: "sip:annette@contoso.com").isEmpty)
        #expect(!found([.init("givenName", "Ann")]).contains("sip:ann@fabrikam.com"))
    }

    /// Half of the users are engineers at Contoso, half are clerks at Fabrikam.
    private func staff(_ count: Int) throws -> UserDirectory {
        try UserDirectory(
            (0..<count).map { number in
                try user(
                    "sip:user\(number)@contoso.com",
                    [
                        .displayName: "User \(number)", .title: number % 2 == 0 ? "Engineer" : "Clerk",
                        .company: number % 2 == 0 ? "Contoso" : "Fabrikam",
                    ])
            })
    }

    @Test("the work of a search grows with the logarithm of the users, and linearly with its conditions")
    func growth() throws {
        var miss: [Int] = []
        for count in [500, 1_000, 2_000, 4_000] {
            let users = try staff(count)
            func work(_ filters: [DirectorySearchFilter]) -> Int {
                users.search(filters, in: "contoso.com", for: "sip:user1@contoso.com", limit: 100).comparisons
            }
            miss.append(work([.init("displayName", "zebra")]))
            let one = work([.init("anr", "zebra"), .init("title", "Eng")])
            let many = work((0..<16).map { _ in .init("anr", "zebra") })
            #expect(many <= 16 * one, "\(count) users")
            #expect(work([.init("displayName", "User 49"), .init("title", "Eng")]) < count)
        }
        for (small, large) in zip(miss, miss.dropFirst()) { #expect(large <= small + 4, "twice the users cost one more step") }
    }

    @Test("a search that would look at too much is broken off, and says that there may be more")
    func brokenOff() throws {
        let users = try staff(1_000)
        let filters: [DirectorySearchFilter] = [.init("title", "Engineer"), .init("company", "Fabrikam")]
        func search(_ filters: [DirectorySearchFilter], most: Int) -> DirectoryMatches {
            users.search(filters, in: "contoso.com", for: "sip:user1@contoso.com", limit: 10, mostComparisons: most)
        }
        for most in [100, 700] {
            let broken = search(filters, most: most)
            #expect(broken.users.isEmpty && broken.moreAvailable)
            #expect(broken.comparisons <= most + 60)
        }
        #expect(!search(filters, most: 10_000).moreAvailable)
        let found = search([.init("title", "Engineer")], most: 100)
        #expect(found.users.count == 10 && found.moreAvailable, "what is found on the way is returned")
        #expect(search([], most: 100).users.count == 10)
    }

    @Test("a search by index finds the users that a look at each of them finds")
    func sameAsLooking() {
        let values: [(attribute: String, of: (DirectoryUser) -> [String])] = [
            ("displayName", { [$0.displayName] }), ("givenName", { $0[.givenName].map { [$0] } ?? [] }),
            ("msRTCURI", { user in ([user.uri.description] + user.secondaryURIs).flatMap { [$0, String($0.dropFirst(4))] } }),
        ]
        for text in ["", "a", "an", "ANN", "ann ", "b", "zo", "zoë", "ZOË Å", "zz", "sip:ann", "sip:", "ä", "\u{212A}"] {
            for (attribute, values) in values {
                let looked = users.users.filter { user in
                    user.isEnabled && !user.isHidden && user.domain == "contoso.com"
                        && values(user).contains { $0.lowercased().hasPrefix(text.lowercased()) }
                }
                #expect(found([.init(attribute, text)]) == looked.map(\.uri.description), "\(attribute) \(text)")
            }
        }
    }

    @Test("MS-PRES 8.2: a row has ten attributes, empty where the directory knows nothing [R353]")
    func rows() throws {
        let rows = users.search([.init("title", "Eng")], in: "contoso.com", for: "sip:zoe@contoso.com", limit: 10).rows
        #expect(
            rows == [
                DirectorySearchRow(
                    uri: "sip:ann@contoso.com", displayName: "Ann Arbor", title: "Engineer", office: "7/110", phone: "+1 555 0100",
                    company: "Contoso", city: "Springfield", state: "Oregon", country: "US", email: "ann.arbor@contoso.com"),
                DirectorySearchRow(uri: "sip:anna@contoso.com", displayName: "Anna Brown", title: "Engineer"),
            ])
        let written = DirectorySearchResponse(rows: Array(rows.suffix(1))).encoded()
        let text = String(decoding: written, as: UTF8.self)
        for name in ["uri", "displayName", "title", "office", "phone", "company", "city", "state", "country", "email"] {
            #expect(text.contains("m:\(name)=\""), "\(name)")
        }
    }
}
