import PresenceDocuments
import SIPCore
import SIPSecurity
import Testing
import UserDirectory

@Suite struct DirectoryUserTests {
    @Test("a user is known by his address of record, host without case")
    func key() throws {
        let bob = try user("sip:Bob@Contoso.COM")
        #expect(bob.key == "sip:Bob@contoso.com")
        #expect(bob.domain == "contoso.com")
        #expect(bob.displayName == "Bob")
        #expect(bob.account == "Bob")
    }

    @Test(
        "MS-PRES 8.3: what is no SIP URI of a user is refused by name",
        arguments: [
            "", "bob", "bob@contoso.com", "sip:contoso.com", "sip:@contoso.com", "tel:+15550100", "sip:bob@contoso.com;gruu",
            "sip:bob@contoso.com:5061", "sip:bob:secret@contoso.com", "sip:bob@contoso.com?subject=x", "mailto:bob@contoso.com",
        ])
    func badURI(_ uri: String) {
        let error = #expect(throws: DirectoryProblem.self) { try DirectoryUser(uri) }
        #expect(error?.field == "uri")
        #expect(error?.value == uri)
    }

    @Test("MS-PRES 8.3: a SIP URI has at most 454 octets")
    func longURI() throws {
        let name = String(repeating: "b", count: 454 - "sip:@contoso.com".utf8.count)
        #expect(try DirectoryUser("sip:\(name)@contoso.com").uri.description.utf8.count == 454)
        #expect(throws: DirectoryProblem.self) { try DirectoryUser("sip:b\(name)@contoso.com") }
    }

    @Test(
        "a text that breaks its field's rule is refused, and the old one stays",
        arguments: [
            (DirectoryField.displayName, "Bob\u{7}"), (.displayName, ""), (.title, String(repeating: "x", count: 1_025)),
            (.email, "bob"), (.email, "a@b@c"), (.email, "b ob@contoso.com"), (.country, "USA"), (.country, "1x"), (.workPhone, "none"),
            (.lineURI, "+15550100"), (.account, "bob@contoso.com"), (.account, "a b"), (.office, "7\u{FFFF}"),
        ])
    func badText(_ field: DirectoryField, _ text: String) throws {
        let good: [DirectoryField: String] = [
            .email: "bob@contoso.com", .country: "US", .workPhone: "+15550100", .lineURI: "tel:+15550100", .account: "bob",
        ]
        var bob = try user("sip:bob@contoso.com", [field: good[field] ?? "before"])
        let error = #expect(throws: DirectoryProblem.self) { try bob.set(field, text) }
        #expect(error?.field == field.rawValue)
        #expect(bob[field] == good[field] ?? "before")
    }

    @Test("the number shown is the first of work, mobile, other and home")
    func phone() throws {
        var bob = try user("sip:bob@contoso.com", [.homePhone: "1", .otherPhone: "2", .mobilePhone: "3", .workPhone: "4"])
        for (field, shown) in [(DirectoryField.workPhone, "4"), (.mobilePhone, "3"), (.otherPhone, "2"), (.homePhone, "1")] {
            #expect(bob.phone == shown)
            try bob.set(field, nil)
        }
        #expect(bob.phone == nil)
    }
}

@Suite struct UserDirectoryTests {
    @Test("a disabled user is in the directory, but does not exist")
    func disabled() throws {
        let users = try directory(user("sip:bob@contoso.com"), user("sip:carol@contoso.com", enabled: false))
        #expect(users.count == 2)
        #expect(users.enabledUser("sip:bob@contoso.com") != nil)
        #expect(users["sip:carol@contoso.com"] != nil)
        #expect(users.enabledUser("sip:carol@contoso.com") == nil)
        #expect(users["sip:dan@contoso.com"] == nil)
    }

    @Test("one URI in two spellings is refused, and so are more users than the limit")
    func bounds() throws {
        #expect(throws: UserDirectoryError.duplicate(uri: "sip:bob@CONTOSO.com")) {
            try directory(user("sip:bob@contoso.com"), user("sip:bob@CONTOSO.com"))
        }
        #expect(throws: UserDirectoryError.tooMany(count: 2, limit: 1)) {
            try UserDirectory([user("sip:bob@contoso.com"), user("sip:carol@contoso.com")], limit: 1)
        }
    }

    @Test("who signs in is found by his account name and domain, case aside; not when he is disabled or has no password")
    func accounts() throws {
        var bob = try user("sip:bob@contoso.com", [.account: "BBaker"])
        bob.verifiers = try CredentialVerifiers(user: "BBaker", realm: "contoso.com", password: "correct horse")
        var carol = try user("sip:carol@contoso.com", enabled: false)
        carol.verifiers = try CredentialVerifiers(user: "carol", realm: "contoso.com", password: "correct horse")
        let users = try directory(bob, carol, user("sip:dan@contoso.com"), user("sip:bbaker@fabrikam.com"))
        #expect(users.account(LoginName(user: "bbaker", domain: "contoso.com"))?.identity == "sip:bob@contoso.com")
        for (name, domain) in [("bob", "contoso.com"), ("bbaker", "fabrikam.com"), ("carol", "contoso.com"), ("dan", "contoso.com")] {
            #expect(users.account(LoginName(user: name, domain: domain)) == nil, "\(name)@\(domain)")
        }
        #expect(throws: UserDirectoryError.duplicateAccount(uri: "sip:dan@contoso.com", account: "BOB")) {
            try directory(user("sip:bob@contoso.com"), user("sip:dan@contoso.com", [.account: "BOB"]))
        }
    }
}
