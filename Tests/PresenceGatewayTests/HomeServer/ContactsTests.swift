import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Contacts, groups and access control of a user at his endpoints (MS-SIP 3.7, MS-PRES 3.10).
@Suite struct ContactsTests {
    static let event = "vnd-microsoft-roaming-contacts"
    static let type = "application/vnd-microsoft-roaming-contacts+xml"
    let bench = Bench { $0.allowsUnifiedContactStore = true }

    func endpoint(_ epid: String = "84d3db8c23", connection: UInt64 = 1) throws -> SignedInEndpoint {
        let endpoint = SignedInEndpoint(bench, "rob@fabrikam.com", epid: epid, connection: connection)
        endpoint.register()
        _ = try endpoint.response(200)
        return endpoint
    }

    /// An endpoint with a contacts dialog.
    func subscribed(_ epid: String = "84d3db8c23", connection: UInt64 = 1, extra: String = "") throws -> SignedInEndpoint {
        let endpoint = try endpoint(epid, connection: connection)
        endpoint.subscribe(Self.event, extra: SignedInEndpoint.home + extra)
        _ = try endpoint.response(200)
        return endpoint
    }

    @Test("MS-SIP 3.7.4.1: the 200 of a contacts SUBSCRIBE carries the whole list with a version other than 0 and the group ~")
    func list() throws {
        let rob = try endpoint()
        rob.subscribe(Self.event)
        let answer = try rob.response(200)
        #expect(answer.headers.contentType?.essence == Self.type)
        #expect(answer.headers.event?.package == Self.event)
        #expect(answer.headers.msPiggybackCSeq == 1)
        let expires = try #require(answer.headers.expires)
        #expect(answer.headers.first("subscription-state") == "active;expires=\(expires)")
        #expect(
            String(decoding: answer.body, as: UTF8.self)
                == #"<contactList deltaNum="1"><group id="1" name="~" externalURI=""/></contactList>"#)
    }

    @Test("MS-SIP 3.7.4.1: without ms-piggyback-first-notify the list comes in a NOTIFY of its own")
    func withoutPiggyback() throws {
        let rob = try endpoint()
        rob.subscribe(Self.event, extra: "")
        #expect(try rob.response(200).body.isEmpty)
        let notified = try rob.request(.notify)
        #expect(notified.text.contains("<contactList deltaNum=\"1\">") && notified.headers.contentType?.essence == Self.type)
    }

    @Test("MS-SIP 3.7.5.2: every change goes to every contacts dialog as a delta, that of the asking endpoint too")
    func deltas() throws {
        let desk = try subscribed()
        let phone = try subscribed("3b09add8bc", connection: 2)
        desk.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        let answer = try desk.response(200)
        #expect(answer.headers.contentType?.essence == "application/soap+xml")
        #expect(answer.text.contains("<m:groupID>2</m:groupID>"))
        for endpoint in [desk, phone] {
            #expect(try endpoint.request(.benotify).text.contains(#"<addedGroup id="2" name="Team""#))
        }
        phone.operate(.setContact(RoamingContact(uri: "sip:dan@contoso.com", name: "Dan", groups: [2])), deltaNum: 2)
        #expect(try phone.response(200).body.isEmpty)
        for endpoint in [desk, phone] {
            let notified = try endpoint.request(.benotify)
            #expect(notified.headers.event?.package == Self.event && notified.headers.contentType?.essence == Self.type)
            let delta = try ContactDeltaDocument(parsing: notified.body)
            #expect(delta.deltaNum == 3 && delta.previousDeltaNum == 2)
            #expect(delta.change == .addedContact(RoamingContact(uri: "sip:dan@contoso.com", name: "Dan", groups: [2])))
        }
        desk.operate(.setContact(RoamingContact(uri: "sip:dan@contoso.com", name: "Dan", groups: [])), deltaNum: 3)
        desk.operate(.deleteGroup(id: 2), deltaNum: 4)
        desk.operate(.modifyGroup(RoamingGroup(id: 1, name: "Others")), deltaNum: 5)
        desk.operate(.deleteContact(uri: "sip:dan@contoso.com"), deltaNum: nil)
        var words: [String] = []
        while !phone.isQuiet {
            let change = try ContactDeltaDocument(parsing: phone.request(.benotify).body).change
            words.append(String("\(change)".prefix { $0 != "(" }))
        }
        #expect(words == ["modifiedContact", "deletedGroup", "modifiedGroup", "deletedContact"])
        phone.subscribe(Self.event)
        #expect(
            try phone.response(200).text.hasSuffix(#"<contactList deltaNum="7"><group id="1" name="Others" externalURI=""/></contactList>"#)
        )
    }

    @Test("MS-SIP 2.2.4.2: changes that could not be told one by one are told as the whole list")
    func collapsed() throws {
        let rob = try endpoint()
        rob.subscribe(Self.event, extra: "Supported: ms-piggyback-first-notify\r\n")
        _ = try rob.response(200)
        for number in 1...3 {
            rob.operate(.setContact(RoamingContact(uri: "sip:c\(number)@contoso.com")), deltaNum: UInt32(number))
        }
        let first = try rob.answers(.notify)
        #expect(first.text.contains("<addedContact uri=\"sip:c1@contoso.com\""))
        bench.answer(first, 200, from: rob.place)
        let second = try rob.answers(.notify)
        #expect(
            try ContactListDocument(parsing: second.body).contacts.map(\.uri) == ["c1@contoso.com", "c2@contoso.com", "c3@contoso.com"])
    }

    @Test("MS-SIP 3.7.4.1: a refresh carries the list again, Expires 0 ends the dialog, and then nothing is told")
    func refreshAndEnd() throws {
        let rob = try endpoint()
        rob.subscribe(Self.event)
        let dialog = try rob.response(200)
        rob.subscribe(Self.event, in: dialog)
        #expect(try rob.response(200).text.contains("<contactList"))
        rob.subscribe(Self.event, expires: 0, in: dialog)
        let ended = try rob.response(200)
        #expect(ended.headers.expires == 0 && ended.headers.first("subscription-state") == "terminated;expires=0")
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(200)
        bench.pass(.seconds(1))
        while !rob.isQuiet { #expect(try rob.request(.benotify).text.contains("terminated"), "only the last word of the old dialog") }
    }

    @Test("MS-SIP 3.7.4: a wrong operation has its status, its ms-diagnostics and a SOAP fault, changes nothing and tells nobody")
    func errors() throws {
        let rob = try subscribed()
        let cases: [(ContactOperation.Kind, UInt32, Int, UInt32?, String)] = [
            (.setContact(RoamingContact(uri: "sip:dan@contoso.com")), 9, 409, nil, "Client.BadCall.WrongDelta"),
            (.deleteContact(uri: "sip:dan@contoso.com"), 1, 404, 2001, "Client.BadCall<"),
            (.deleteGroup(id: 9), 1, 404, 2002, "Client.BadCall<"),
            (.addGroup(name: "~", externalURI: nil), 1, 400, 2015, "Client.BadCall<"),
            (.deleteGroup(id: 1), 1, 403, nil, "Client.BadCall<"),
        ]
        for (kind, deltaNum, status, errorID, code) in cases {
            rob.operate(kind, deltaNum: deltaNum)
            let answer = try rob.response(status)
            if let errorID { #expect(answer.headers.msDiagnostics?.errorID == errorID) }
            #expect(answer.text.contains("<Faultcode>\(code)"))
            #expect(answer.headers.contentType?.essence == "application/soap+xml")
        }
        rob.service("application/SOAP+xml", "<m:setContact/>")
        #expect(try rob.response(400).headers.msDiagnostics?.errorID == 4001)
        rob.service(
            "application/SOAP+xml", ContactOperation(.deleteGroup(id: 3), deltaNum: 1).text.replacing("deleteGroup", with: "shuffle"))
        _ = try rob.response(400)
        rob.send(
            "SERVICE", "sip:rob@fabrikam.com", from: "eve@fabrikam.com", type: "application/SOAP+xml",
            body: ContactOperation(.addGroup(name: "x", externalURI: nil), deltaNum: 1).text)
        _ = try rob.response(403)
        #expect(rob.isQuiet)
        rob.subscribe(Self.event)
        #expect(try rob.response(200).text.contains("<contactList deltaNum=\"1\">"))
    }

    @Test("MS-OCER: the limits of the configuration are those of the list [R248]")
    func limits() throws {
        let bench = Bench {
            $0.limits.contactsPerUser = 1
            $0.limits.groupsPerUser = 2
        }
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(200)
        rob.operate(.addGroup(name: "Board", externalURI: nil), deltaNum: 2)
        #expect(try rob.response(413).headers.msDiagnostics?.errorID == 2008)
        rob.operate(.setContact(RoamingContact(uri: "sip:dan@contoso.com")), deltaNum: 2)
        _ = try rob.response(200)
        rob.operate(.setContact(RoamingContact(uri: "sip:eve@contoso.com")), deltaNum: 3)
        #expect(try rob.response(413).headers.msDiagnostics?.errorID == 2007)
    }

    // MARK: the unified contact store

    static let ready = "Supported: ms-ucs\r\nSupported: ms-ucs-ready\r\n"
    static let rob = SIPURI("sip:rob@fabrikam.com")!

    @Test("MS-PRES 4.14.1: ms-ucs-ready is answered allowed and queues the user; where it is not permitted, disabled [R340]")
    func ready() throws {
        let rob = try endpoint()
        rob.subscribe(Self.event, extra: SignedInEndpoint.home + Self.ready)
        #expect(try rob.response(200).text.contains("<contactList deltaNum=\"1\" ucsMode=\"allowed\">"))
        #expect(bench.gateway.usersAwaitingContactMigration == ["sip:rob@fabrikam.com"])
        let other = Bench()
        let dan = SignedInEndpoint(other, "rob@fabrikam.com", connection: 1)
        dan.subscribe(Self.event, extra: SignedInEndpoint.home + Self.ready)
        #expect(try dan.response(200).text.contains("ucsMode=\"disabled\""))
        #expect(other.gateway.usersAwaitingContactMigration.isEmpty)
    }

    @Test("MS-PRES 3.10.4: while migrating a change is refused, and the list stays [R341]")
    func migrating() throws {
        let rob = try subscribed(extra: Self.ready)
        #expect(bench.gateway.beginContactMigration(of: Self.rob)?.ucsMode == .migrating)
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(403)
        #expect(rob.isQuiet)
        #expect(bench.gateway.endContactMigration(of: Self.rob, succeeded: false, at: bench.now))
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(200)
    }

    @Test(
        "MS-PRES 4.14.2: completed, every running subscription ends with diagnostic 2186, terminated;expires=0 and the mode migrated [R342]"
    )
    func migrated() throws {
        let desk = try subscribed(extra: Self.ready)
        let phone = try subscribed("3b09add8bc", connection: 2)
        #expect(!bench.gateway.endContactMigration(of: Self.rob, succeeded: true, at: bench.now))
        _ = bench.gateway.beginContactMigration(of: Self.rob)
        #expect(bench.gateway.endContactMigration(of: Self.rob, succeeded: true, at: bench.now))
        bench.sort()
        for endpoint in [desk, phone] {
            let last = try endpoint.request(.benotify)
            #expect(last.headers.first("subscription-state") == "terminated;expires=0")
            #expect(last.headers.first(.expires) == "0")
            #expect(
                last.headers.first("ms-diagnostics-public")?.hasPrefix("2186;reason=\"Contact subscription has been terminated") == true)
            #expect(last.text.contains("ucsMode=\"migrated\""))
        }
        #expect(bench.gateway.counts.homeDialogs == 0)
    }

    @Test("MS-PRES 4.14.3.1: afterwards ms-ucs is 488 with diagnostic 2165, a client without it goes on with the list [R343]")
    func afterwards() throws {
        let rob = try subscribed(extra: Self.ready)
        _ = bench.gateway.beginContactMigration(of: Self.rob)
        #expect(bench.gateway.endContactMigration(of: Self.rob, succeeded: true, at: bench.now))
        bench.sort()
        _ = try rob.request(.benotify)
        rob.subscribe(Self.event, extra: SignedInEndpoint.home + "Supported: ms-ucs\r\n")
        #expect(try rob.response(488).headers.msDiagnostics?.errorID == 2165)
        rob.subscribe(Self.event)
        #expect(try rob.response(200).text.contains("<contactList deltaNum=\"1\"><group"))
    }

    // MARK: the store

    @Test("contacts, access control, subscribers and delegates outlive the process with their versions")
    func restored() throws {
        let store = MemoryStore()
        let first = SubscribersTests(bench: Bench(store: store))
        let rob = try first.endpoint()
        rob.operate(.setContact(RoamingContact(uri: "sip:dan@contoso.com", name: "Dan")), deltaNum: 1)
        _ = try rob.response(200)
        rob.service(
            "application/SOAP+xml", SetACEOperation(entry: AccessControlEntry(scope: .all, mask: "", rights: "PA"), deltaNum: 1).text)
        _ = try rob.response(200)
        first.delegate(rob, version: 0, "sip:dan@fabrikam.com")
        _ = try rob.response(200)
        first.bench.send(first.category("<context/>"), from: Bench.enterprise)
        _ = try first.bench.nextResponse(200, at: Bench.enterprise)
        let second = Bench(store: store)
        try second.gateway.restore(at: second.now)
        let again = SignedInEndpoint(second, "rob@fabrikam.com", connection: 9)
        again.subscribe(Self.event)
        #expect(
            try again.response(200).text.contains(
                #"<contactList deltaNum="2"><group id="1" name="~" externalURI=""/><contact uri="dan@contoso.com""#))
        again.subscribe("vnd-microsoft-roaming-ACL", type: "")
        #expect(try again.response(200).text.contains(#"<ACLlist deltaNum="2"><userACL><ace type="ALL" rights="PA"/>"#))
        again.subscribeSelf(["subscribers", "delegates"])
        let own = try again.response(200).text
        #expect(own.contains("user=\"ulla@contoso.com\"") && own.contains("version=\"1\"><delegate uri=\"dan@fabrikam.com\""))
    }

    @Test("what the store cannot keep is 503, and the list is as it was")
    func notKept() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        let rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
        store.failure = StoreFailure("disk full")
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(503)
        store.failure = nil
        bench.pass(.seconds(5))
        rob.operate(.addGroup(name: "Team", externalURI: nil), deltaNum: 1)
        _ = try rob.response(200)
    }

    // MARK: the 2005 model

    @Test("MS-SIP 3.7.4.2: the access control list comes in the 200, setACE changes it, and every ACL dialog is told")
    func accessControl() throws {
        let event = "vnd-microsoft-roaming-ACL"
        let rob = try endpoint()
        rob.subscribe(event, type: "")
        let answer = try rob.response(200)
        #expect(answer.headers.contentType?.essence == "application/vnd-microsoft-roaming-acls+xml")
        #expect(answer.text.hasSuffix(#"<ACLlist deltaNum="1"><userACL/></ACLlist>"#))
        let operation = SetACEOperation(
            entry: AccessControlEntry(scope: .user, mask: "sip:dan@contoso.com", rights: "BD"), deltaNum: 1)
        rob.service("application/SOAP+xml", operation.text)
        #expect(try rob.response(200).body.isEmpty)
        #expect(try rob.request(.benotify).text.contains(#"<ace type="USER" mask="sip:dan@contoso.com" rights="BD"/>"#))
        rob.service("application/SOAP+xml", operation.text)
        #expect(try rob.response(409).text.contains("WrongDelta"))
        #expect(rob.isQuiet)
    }

    @Test("a client of the 2005 model may subscribe to watchers that wait for it: there are none")
    func pendingWatchers() throws {
        let rob = try endpoint()
        rob.subscribe("presence.wpending", type: "")
        let answer = try rob.response(200)
        #expect(answer.headers.event?.package == "presence.wpending" && (answer.headers.expires ?? 0) > 0)
        #expect(answer.headers.contentType?.essence == "text/xml+msrtc.wpending")
        rob.subscribe("presence.wpending", expires: 0, type: "", in: answer)
        #expect(try rob.response(200).headers.expires == 0)
    }
}

extension SignedInEndpoint {
    func service(_ type: String, _ body: String) { send("SERVICE", "sip:\(user)", type: type, body: body) }

    func operate(_ kind: ContactOperation.Kind, deltaNum: UInt32?) {
        service("application/SOAP+xml", ContactOperation(kind, deltaNum: deltaNum).text)
    }

    /// The next request, past the answers before it.
    func answers(_ method: SIPMethod) throws -> SIPRequest {
        while true {
            switch try bench.next(at: place) {
            case .request(let request) where request.method == method: return request
            case .request: throw Bench.Unexpected()
            case .response: continue
            }
        }
    }
}

extension ContactOperation {
    fileprivate var text: String { String(decoding: encoded(), as: UTF8.self) }
}

extension SetACEOperation {
    fileprivate var text: String { String(decoding: encoded(), as: UTF8.self) }
}
