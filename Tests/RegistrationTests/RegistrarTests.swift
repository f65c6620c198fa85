import Registration
import SIPCore
import SIPEvents
import Testing

/// The table of bindings under a clock that the test moves.
@Suite struct RegistrarTests {
    static let start = Instant(secondsSince1970: 1_700_000_000)
    static let user = "sip:bob@contoso.com"
    static let policy = Registrar.Policy(
        expiry: ExpiryPolicy(minimum: 60, standard: 7_200, maximum: 86_400), bindingsPerUser: 2, bindings: 3,
        connectionGrace: .seconds(20))

    static func source(_ connection: UInt64? = nil) -> MessageSource {
        MessageSource(
            InboundMessage(
                bytes: [], local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.30", 40_000),
                connection: connection.map(ConnectionID.init)))
    }

    static func request(
        epid: String? = nil, contact: String? = "<sip:192.0.2.30:40000;transport=tcp>", expires: Int? = nil, callID: String? = nil,
        cSeq: Int = 1, extra: [(SIPHeaderName, String)] = [], model: RegistrationRequest.Model = .enterprise
    ) throws(RegistrationRefusal) -> RegistrationRequest {
        var request = SIPRequest(.register, requestURI: "sip:contoso.com")
        request.headers.append(.from, "<\(user)>;tag=1" + (epid.map { ";epid=\($0)" } ?? ""))
        request.headers.append(.to, "<\(user)>")
        request.headers.append(.callID, callID ?? "call-\(epid ?? "none")")
        request.headers.append(.cSeq, "\(cSeq) REGISTER")
        if let contact { request.headers.append(.contact, contact) }
        if let expires { request.headers.append(.expires, String(expires)) }
        for (name, value) in extra { request.headers.append(name, value) }
        return try RegistrationRequest(request, model: model)
    }

    // MARK: form

    @Test("MS-SIPREGE 3.2.5.1: a REGISTER without an endpoint's identity is 400 with ErrorId 4010")
    func noIdentity() {
        let refusal = #expect(throws: RegistrationRefusal.self) { try Self.request() }
        #expect(refusal?.status == .badRequest && refusal?.errorID == 4010)
        #expect(throws: Never.self) { try Self.request(model: .simple) }
    }

    @Test("MS-SIPRE 2.2.1: an epid of 16 characters is taken, of 17 it is 400 with ErrorId 4012")
    func longEPID() {
        #expect(throws: Never.self) { try Self.request(epid: "0123456789abcdef") }
        let refusal = #expect(throws: RegistrationRefusal.self) { try Self.request(epid: "0123456789abcdef0") }
        #expect(refusal?.status == .badRequest && refusal?.errorID == 4012)
    }

    @Test("MS-SIPRE 3.3.5.2: epid and +sip.instance must name one endpoint, else 400")
    func twoIdentities() throws {
        func contact(_ uuid: String) -> String { "<sip:192.0.2.30>;+sip.instance=\"<urn:uuid:\(uuid)>\"" }
        #expect(throws: Never.self) {
            try Self.request(epid: "84d3db8c23", contact: contact("221EF77E-3A68-5570-86ED-6EA5BD4B7FF8"))
        }
        for uuid in ["b7d9fc43-19d7-5311-9e00-c6c5b1d81bfb", "nonsense"] {
            let refusal = #expect(throws: RegistrationRefusal.self) { try Self.request(epid: "84d3db8c23", contact: contact(uuid)) }
            #expect(refusal?.status == .badRequest)
        }
    }

    @Test("MS-SIPREGE 3.2.5.1: an Event other than registration is 489 with ErrorId 4055, two are 400")
    func event() {
        #expect(throws: Never.self) { try Self.request(epid: "1", extra: [(.event, "registration")]) }
        let refusal = #expect(throws: RegistrationRefusal.self) { try Self.request(epid: "1", extra: [(.event, "presence")]) }
        #expect(refusal?.status == .badEvent && refusal?.errorID == 4055)
        let two = #expect(throws: RegistrationRefusal.self) {
            try Self.request(epid: "1", extra: [(.event, "registration"), (.event, "registration")])
        }
        #expect(two?.status == .badRequest)
    }

    @Test("MS-SIPREGE 2.2.1.5: msrtc-event-categories without gruu-10 is 421 with ErrorId 2057 and says what is missing")
    func categoriesWithoutGRUU() throws {
        let refusal = #expect(throws: RegistrationRefusal.self) {
            try Self.request(epid: "1", extra: [(.supported, "adhoclist, msrtc-event-categories")])
        }
        #expect(refusal?.status == .extensionRequired && refusal?.errorID == 2057 && refusal?.required == ["gruu-10"])
        let good = try Self.request(epid: "1", extra: [(.supported, "gruu-10"), (.supported, "msrtc-event-categories")])
        #expect(good.speaksCategories)
    }

    @Test("MS-CONMGMT 2.2.1: one ms-keep-alive is understood, two are 400")
    func keepAlive() throws {
        #expect(try Self.request(epid: "1", extra: [(.msKeepAlive, "UAC;hop-hop=yes")]).asksKeepAlive)
        #expect(try !Self.request(epid: "1").asksKeepAlive)
        #expect(throws: RegistrationRefusal.self) {
            try Self.request(epid: "1", extra: [(.msKeepAlive, "UAC;hop-hop=yes"), (.msKeepAlive, "UAC;hop-hop=yes")])
        }
    }

    @Test("RFC 3261 10.2.2: Contact * stands alone with Expires 0", arguments: [nil, 60])
    func wildcard(expires: Int?) throws {
        #expect(try Self.request(epid: "1", contact: "*", expires: 0).operation == .removeAll)
        #expect(throws: RegistrationRefusal.self) { try Self.request(epid: "1", contact: "*", expires: expires) }
        #expect(throws: RegistrationRefusal.self) {
            try Self.request(epid: "1", contact: "*", expires: 0, extra: [(.contact, "<sip:192.0.2.9>")])
        }
    }

    @Test("a Contact that cannot be read, or two of one endpoint, are 400", arguments: ["<sip:", "<tel:+1>", "<sip:a@b>, <sip:c@d>"])
    func badContacts(contact: String) {
        let refusal = #expect(throws: RegistrationRefusal.self) { try Self.request(epid: "1", contact: contact) }
        #expect(refusal?.status == .badRequest)
    }

    // MARK: life

    @Test("a binding is added, refreshed, asked for and removed; another endpoint of the user stays")
    func life() throws {
        var registrar = Registrar(policy: Self.policy)
        let added = try registrar.register(Self.request(epid: "1"), user: Self.user, from: Self.source(), at: Self.start)
        #expect(added.action == .added && added.expires == 7_200 && added.bindings.count == 1 && added.ended.isEmpty)
        _ = try registrar.register(Self.request(epid: "2"), user: Self.user, from: Self.source(), at: Self.start)
        let refreshed = try registrar.register(
            Self.request(epid: "1", expires: 600, cSeq: 2), user: Self.user, from: Self.source(), at: Self.start)
        #expect(refreshed.action == .refreshed && refreshed.expires == 600 && !refreshed.isNewClient)
        #expect(refreshed.bindings.map(\.endpoint) == [EndpointID(epid: "1"), EndpointID(epid: "2")])
        let asked = try registrar.register(
            Self.request(epid: "1", contact: nil, cSeq: 3), user: Self.user, from: Self.source(), at: Self.start)
        #expect(asked.action == nil && asked.bindings.count == 2)
        let removed = try registrar.register(
            Self.request(epid: "1", expires: 0, cSeq: 4), user: Self.user, from: Self.source(), at: Self.start)
        #expect(removed.ended.map(\.isLast) == [false] && removed.bindings.map(\.endpoint) == [EndpointID(epid: "2")])
        #expect(registrar.binding(of: Self.user, endpoint: EndpointID(epid: "1")) == nil)
        let last = try registrar.register(
            Self.request(epid: "2", contact: "*", expires: 0, cSeq: 2), user: Self.user, from: Self.source(), at: Self.start)
        #expect(last.ended.map(\.isLast) == [true] && registrar.count == 0 && registrar.nextDeadline == nil)
    }

    @Test("a binding ends at its expiry, and one that was refreshed does not")
    func expiry() throws {
        var registrar = Registrar(policy: Self.policy)
        _ = try registrar.register(Self.request(epid: "1", expires: 100), user: Self.user, from: Self.source(), at: Self.start)
        _ = try registrar.register(Self.request(epid: "2", expires: 100), user: Self.user, from: Self.source(), at: Self.start)
        _ = try registrar.register(
            Self.request(epid: "2", expires: 100, cSeq: 2), user: Self.user, from: Self.source(), at: Self.start + .seconds(50))
        #expect(registrar.nextDeadline == Self.start + .seconds(100))
        #expect(registrar.advance(to: Self.start + .seconds(99)).isEmpty)
        let first = registrar.advance(to: Self.start + .seconds(100))
        #expect(first.map(\.binding.endpoint) == [EndpointID(epid: "1")] && first.map(\.isLast) == [false])
        let second = registrar.advance(to: Self.start + .seconds(150))
        #expect(second.map(\.binding.endpoint) == [EndpointID(epid: "2")] && second.map(\.isLast) == [true])
    }

    @Test("a closed connection ends its bindings after the grace, unless the endpoint registers again")
    func connectionLoss() throws {
        var registrar = Registrar(policy: Self.policy)
        _ = try registrar.register(Self.request(epid: "1"), user: Self.user, from: Self.source(7), at: Self.start)
        _ = try registrar.register(Self.request(epid: "2"), user: Self.user, from: Self.source(7), at: Self.start)
        registrar.connectionClosed(ConnectionID(rawValue: 7), at: Self.start + .seconds(10))
        let again = try registrar.register(
            Self.request(epid: "2", callID: "anew"), user: Self.user, from: Self.source(8), at: Self.start + .seconds(15))
        #expect(again.isNewClient)
        let ended = registrar.advance(to: Self.start + .seconds(30))
        #expect(ended.map(\.binding.endpoint) == [EndpointID(epid: "1")])
        #expect(registrar.advance(to: Self.start + .seconds(300)).isEmpty)
        // The connection it left behind no longer concerns it.
        registrar.connectionClosed(ConnectionID(rawValue: 7), at: Self.start + .seconds(310))
        #expect(registrar.nextDeadline == Self.start + .seconds(15 + 7_200))
    }

    @Test("RFC 3261 10.3: too short an interval is 423 with Min-Expires, an old CSeq is 500, and nothing changes")
    func refusals() throws {
        var registrar = Registrar(policy: Self.policy)
        _ = try registrar.register(Self.request(epid: "1", cSeq: 5), user: Self.user, from: Self.source(), at: Self.start)
        let before = registrar.bindings(of: Self.user)
        let brief = #expect(throws: RegistrationRefusal.self) {
            try registrar.register(Self.request(epid: "1", expires: 59, cSeq: 6), user: Self.user, from: Self.source(), at: Self.start)
        }
        #expect(brief?.status == .intervalTooBrief && brief?.minimumExpires == 60)
        let old = #expect(throws: RegistrationRefusal.self) {
            try registrar.register(Self.request(epid: "1", expires: 0, cSeq: 5), user: Self.user, from: Self.source(), at: Self.start)
        }
        #expect(old?.status == .serverInternalError)
        #expect(registrar.bindings(of: Self.user) == before)
    }

    @Test("a user has a bounded number of endpoints (403), the shard of bindings (503); refreshing stays possible")
    func limits() throws {
        var registrar = Registrar(policy: Self.policy)
        for epid in ["1", "2"] {
            _ = try registrar.register(Self.request(epid: epid), user: Self.user, from: Self.source(), at: Self.start)
        }
        let full = #expect(throws: RegistrationRefusal.self) {
            try registrar.register(Self.request(epid: "3"), user: Self.user, from: Self.source(), at: Self.start)
        }
        #expect(full?.status == .forbidden)
        _ = try registrar.register(Self.request(epid: "3"), user: "sip:ann@contoso.com", from: Self.source(), at: Self.start)
        let crowded = #expect(throws: RegistrationRefusal.self) {
            try registrar.register(Self.request(epid: "4"), user: "sip:ann@contoso.com", from: Self.source(), at: Self.start)
        }
        #expect(crowded?.status == .serviceUnavailable)
        #expect(
            try registrar.register(Self.request(epid: "1", cSeq: 2), user: Self.user, from: Self.source(), at: Self.start).action
                == .refreshed)
        #expect(registrar.count == 3)
    }

    @Test("RFC 3261 10.3: without an endpoint's identity equivalent Contacts are one binding")
    func simpleBindings() throws {
        var registrar = Registrar(policy: Self.policy)
        func register(_ contact: String, cSeq: Int, expires: Int? = nil) throws -> Registrar.Outcome {
            try registrar.register(
                Self.request(contact: contact, expires: expires, cSeq: cSeq, model: .simple), user: Self.user, from: Self.source(),
                at: Self.start)
        }
        #expect(try register("<sip:bob@192.0.2.30:5070>", cSeq: 1).action == .added)
        #expect(try register("<sip:bob@192.0.2.30:5070;x=y>", cSeq: 2).action == .refreshed)
        #expect(try register("<sip:bob@192.0.2.31>;expires=90", cSeq: 3).expires == 90)
        #expect(registrar.bindings(of: Self.user).count == 2)
        #expect(try register("<sip:bob@192.0.2.30:5070>", cSeq: 4, expires: 0).ended.count == 1)
    }

    @Test(
        "RFC 3261 10.3: the Contacts of a request are processed in order, so the last of one binding decides",
        arguments: [
            ("<sip:a@192.0.2.30>;expires=60, <sip:a@192.0.2.30>;expires=0", [], 0, nil),
            ("<sip:a@192.0.2.30>;expires=60, <sip:a@192.0.2.30>;expires=120", [120], 120, .added),
            ("<sip:a@192.0.2.30>;expires=120, <sip:a@192.0.2.30>;expires=60", [60], 60, .added),
            ("<sip:a@192.0.2.30>;expires=0, <sip:a@192.0.2.30>;expires=60", [60], 60, .added),
            ("<sip:a@192.0.2.30>;expires=90, <sip:b@192.0.2.30>;expires=60, <sip:a@192.0.2.30>;expires=0", [60], 60, .added),
            ("<sip:a@192.0.2.30>;expires=60, <sip:a@192.0.2.30>;expires=70, <sip:a@192.0.2.30>;expires=80", [80], 80, .added),
        ] as [(String, [Int], Int, Registrar.Action?)])
    func contactsInOrder(contact: String, intervals: [Int], expires: Int, action: Registrar.Action?) throws {
        var registrar = Registrar(policy: Self.policy)
        let outcome = try registrar.register(
            Self.request(contact: contact, model: .simple), user: Self.user, from: Self.source(), at: Self.start)
        #expect(outcome.bindings.map { ($0.expiry - Self.start).seconds } == intervals)
        #expect(outcome.bindings == registrar.bindings(of: Self.user) && registrar.count == intervals.count)
        #expect(outcome.expires == expires && outcome.action == action)
    }

    @Test("RFC 3261 10.3: a binding that a request refreshes before it ends it has ended, with the others of the request refreshed")
    func refreshedThenEnded() throws {
        var registrar = Registrar(policy: Self.policy)
        func register(_ contact: String, cSeq: Int) throws -> Registrar.Outcome {
            try registrar.register(
                Self.request(contact: contact, cSeq: cSeq, model: .simple), user: Self.user, from: Self.source(), at: Self.start)
        }
        _ = try register("<sip:a@192.0.2.30>, <sip:b@192.0.2.30>", cSeq: 1)
        let outcome = try register("<sip:a@192.0.2.30>;expires=90, <sip:a@192.0.2.30>;expires=0, <sip:b@192.0.2.30>", cSeq: 2)
        #expect(outcome.ended.map(\.binding.contact.uri.user) == ["a"] && outcome.action == .refreshed && outcome.expires == 7_200)
        #expect(outcome.bindings.map(\.contact.uri.user) == ["b"])
    }
}
