import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing
import UserDirectory

/// Searches in the directory over SIP (MS-PRES 2.2.1, 3.1).
@Suite struct DirectorySearchServiceTests {
    let bench: Bench
    let rob: SignedInEndpoint

    init() throws {
        bench = Bench(
            directory: try Fabrikam.directory(
                Fabrikam.rob, Fabrikam.user("ann", [.givenName: "Ann", .displayName: "Ann Arbor"]),
                Fabrikam.user("anna", [.givenName: "Anna"]),
                Fabrikam.user("annika", [.givenName: "Annika"], hidden: true),
                Fabrikam.user("annette", [.givenName: "Annette"], enabled: false))
        ) { $0.limits.directorySearchResults = 2 }
        rob = SignedInEndpoint(bench, "rob@fabrikam.com", connection: 1)
    }

    func search(
        _ value: String, of attribute: String = "givenName", maximum: UInt32 = 50, body: String? = nil, extra: String = "",
        from: String? = nil
    ) {
        let request = DirectorySearchRequest(filters: [.init(attribute, value)], maxResults: maximum)
        rob.send(
            "SERVICE", "sip:fabrikam.com", to: "fabrikam.com", from: from, extra: extra, type: "application/SOAP+xml",
            body: body ?? String(decoding: request.encoded(), as: UTF8.self))
    }

    func found(_ response: SIPResponse) throws -> DirectorySearchResponse { try DirectorySearchResponse(parsing: response.body) }

    @Test("MS-PRES 3.1.5: a SERVICE to the domain is answered with the users found, in application/SOAP+xml [R350, R353]")
    func search() throws {
        search("Ann")
        let response = try rob.response(200)
        #expect(response.headers.contentType?.essence == "application/soap+xml")
        let found = try found(response)
        #expect(found.rows.map(\.uri) == ["sip:ann@fabrikam.com", "sip:anna@fabrikam.com"])
        #expect(found.rows.first?.displayName == "Ann Arbor")
        #expect(!found.moreAvailable)
        #expect(response.text.contains("<m:returned>2</m:returned>"))
    }

    @Test("MS-PRES 3.1.5.2: the lower of maxResults and the administrator's limit counts, and more are announced [R352]")
    func limits() throws {
        for (attribute, value, maximum, returned, isMore) in [
            ("givenName", "Ann", 1, 1, true), ("displayName", "", 50, 2, true), ("givenName", "Ann", 2, 2, false),
            ("givenName", "Ann", 0, 0, true),
        ] {
            search(value, of: attribute, maximum: UInt32(maximum))
            let found = try found(rob.response(200))
            #expect(found.rows.count == returned && found.moreAvailable == isMore, "\(value) \(maximum)")
        }
    }

    @Test("MS-PRES 1.3.2: hidden and disabled users are not found [R356]")
    func visibility() throws {
        search("Anni")
        #expect(try found(rob.response(200)).rows.isEmpty)
        search("Annet")
        #expect(try found(rob.response(200)).rows.isEmpty)
    }

    @Test("MS-PRES 3.1.5.4: each fault has its SIP status and its SOAP code [R355]")
    func faults() throws {
        func refused(_ status: Int, _ code: String, _ location: SourceLocation = #_sourceLocation) throws {
            let response = try rob.response(status, location)
            #expect(response.headers.contentType?.essence == "application/soap+xml", sourceLocation: location)
            #expect(response.text.contains("code>\(code)</"), sourceLocation: location)
        }
        search("Ann", body: "<SOAP-ENV:Envelope")
        try refused(400, "Client.BadCall")
        search("Ann", body: " ")
        try refused(400, "Client.BadCall")
        rob.send("SERVICE", "sip:fabrikam.com", to: "fabrikam.com")
        try refused(400, "Client.BadCall")
        search("Ann", extra: "Require: eventlist\r\n")
        try refused(400, "Client.BadCall")
        search("Ann", from: "nobody@fabrikam.com")
        try refused(403, "Client.NotAuthorized.UserSearch")
        search("Ann", from: "annette@fabrikam.com")
        try refused(403, "Client.NotAuthorized.UserSearch")
        search("Ann", from: "ulla@contoso.com")
        try refused(403, "Client.NotAuthorized.UserSearch")
        bench.use(.unavailable)
        search("Ann")
        try refused(503, "Server.Unavailable.Busy")
        bench.use(.none)
        search("Ann")
        try refused(500, "Server.UnknownError")
    }

    /// A search with this many conditions that no user fulfils.
    private func search(conditions: Int) {
        let request = DirectorySearchRequest(filters: (0..<conditions).map { .init("anr", "x\($0)") }, maxResults: 50)
        search("", body: String(decoding: request.encoded(), as: UTF8.self))
    }

    @Test("MS-PRES 3.1.5.4: more conditions than the administrator allows are 400 Client.BadCall, and nothing is searched")
    func conditions() throws {
        search(conditions: 16)
        #expect(try found(rob.response(200)).rows.isEmpty)
        search(conditions: 1_000)
        let refused = try rob.response(400)
        #expect(refused.text.contains("code>Client.BadCall</"))
        #expect(bench.gateway.counters.directorySearches == 1)
    }

    @Test(
        "MS-PRES 3.1.5.4: a user who searches too often in a second is 503 Server.Unavailable.Busy; others are not, nor is the next second")
    func tooOften() throws {
        for attempt in 0..<12 {
            search("Ann")
            let response = try rob.response(attempt < 10 ? 200 : 503)
            guard attempt >= 10 else { continue }
            #expect(response.text.contains("code>Server.Unavailable.Busy</"))
            #expect(response.headers.first(.retryAfter) == "1")
        }
        let ann = SignedInEndpoint(bench, "ann@fabrikam.com", connection: 2)
        let request = DirectorySearchRequest(filters: [.init("givenName", "Ann")], maxResults: 1)
        ann.send(
            "SERVICE", "sip:fabrikam.com", to: "fabrikam.com", type: "application/SOAP+xml",
            body: String(decoding: request.encoded(), as: UTF8.self))
        _ = try ann.response(200)
        bench.pass(.seconds(1))
        search("Ann")
        _ = try rob.response(200)
        #expect(bench.gateway.counters.directorySearches == 12)
    }

    @Test("a domain that is not hosted here is not searched")
    func otherDomain() throws {
        rob.send(
            "SERVICE", "sip:contoso.com", to: "contoso.com", type: "application/SOAP+xml",
            body: String(decoding: DirectorySearchRequest(filters: [], maxResults: 1).encoded(), as: UTF8.self))
        _ = try rob.response(404)
    }

    @Test("MS-PRES 2.2.2.2.3, 2.2.1: a stale publish is application/msrtc-fault+xml, a refused search application/SOAP+xml [R246]")
    func types() throws {
        rob.publish(SignedInEndpoint.note("here", expire: "static", version: 7))
        #expect(try rob.response(409).headers.contentType?.essence == "application/msrtc-fault+xml")
        search("Ann", from: "nobody@fabrikam.com")
        #expect(try rob.response(403).headers.first(.contentType) == "application/SOAP+xml")
    }
}
