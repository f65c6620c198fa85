import Foundation
import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// A notification of several presentities in which the part of one of them cannot be read.
@Suite struct UnreadableMemberTests {
    static let (alice, bea) = ("alice@example.org", "bea@example.org")
    static let (bob, eve) = ("bob@contoso.com", "eve@contoso.com")
    /// First half of a document.
    static let broken = "<presence xmlns=\"urn:ietf:params:xml:ns:pidf\" entity=\"sip:"

    let bench = Bench { $0.domains["example.org"]?.lists = .adHoc(service: "sip:lists@example.org") }

    // MARK: a resource list (RFC 4662)

    /// Body of a list notification with one part for each member.
    static func list(_ version: Int, isFull: Bool = true, _ members: [(uri: String, body: String)]) -> String {
        let resources = members.map {
            "<resource uri=\"sip:\($0.uri)\"><instance id=\"i\" state=\"active\" cid=\"\($0.uri)\"/></resource>"
        }
        var text =
            "--b1\r\nContent-ID: <root>\r\nContent-Type: application/rlmi+xml;charset=UTF-8\r\n\r\n"
            + "<list xmlns=\"urn:ietf:params:xml:ns:rlmi\" uri=\"sip:lists@example.org\" version=\"\(version)\" fullState=\"\(isFull)\">"
            + resources.joined() + "</list>\r\n"
        for (uri, body) in members {
            text += "--b1\r\nContent-ID: <\(uri)>\r\nContent-Type: application/pidf+xml\r\n\r\n\(body)\r\n"
        }
        return text + "--b1--\r\n"
    }

    static let listType = "multipart/related;type=\"application/rlmi+xml\";start=\"<root>\";boundary=b1"

    func notify(_ list: SIPRequest, _ body: String, cSeq: Int, status: Int = 200) throws {
        bench.notify(list, "active;expires=3600", cSeq: cSeq, type: Self.listType, body: body, from: Bench.simple)
        _ = try bench.nextResponse(status, at: Bench.simple)
    }

    /// A batch watcher that was notified of both members as busy and open: its list upstream, and the answer to the watcher.
    func watching() throws -> (list: SIPRequest, answer: SIPResponse) {
        bench.send(bench.batch("ulla@contoso.com", .subscribe(Self.alice, Self.bea)), from: Bench.enterprise)
        let list = try bench.nextRequest(.subscribe, at: Bench.simple)
        grant(list)
        try notify(list, Self.list(1, [(Self.alice, Bench.pidf(Self.alice, activity: "busy")), (Self.bea, Bench.pidf(Self.bea))]), cSeq: 1)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        _ = try seen()
        return (list, answer)
    }

    func watchList() throws -> SIPRequest { try watching().list }

    func grant(_ subscribe: SIPRequest) {
        bench.answer(subscribe, 200, from: Bench.simple, headers: [(.expires, "3600"), (.require, "eventlist")])
    }

    /// Takes the SUBSCRIBEs to the remote domain, accepted; their number.
    func refreshes() throws -> Int {
        var count = 0
        while !bench.isQuiet(at: Bench.simple) {
            guard case .request(let request) = try bench.next(at: Bench.simple) else { continue }
            guard request.method == .subscribe else {
                bench.answer(request, 200, from: Bench.simple)
                continue
            }
            grant(request)
            count += 1
        }
        return count
    }

    /// Availabilities that the watcher was notified of, by presentity; the last one of each.
    func seen() throws -> [String: String] {
        bench.pass(.seconds(6))
        var result: [String: String] = [:]
        for text in try bench.takeNotifies().map(\.text) {
            for part in text.components(separatedBy: "<categories ").dropFirst() {
                guard let member = [Self.alice, Self.bea].first(where: { part.contains("uri=\"sip:\($0)\"") }),
                    let number = part.components(separatedBy: "<availability>").dropFirst().first?.prefix(while: \.isNumber)
                else { continue }
                result[member] = String(number)
            }
        }
        return result
    }

    func row(_ presentity: String) throws -> SubscriptionReport {
        try #require(bench.gateway.subscriptions(at: bench.now).rows.first { $0.presentity == "sip:\(presentity)" })
    }

    func subscription(_ presentity: String) throws -> UpstreamReport { try #require(try row(presentity).leg) }

    @Test("RFC 4662 5: a part that cannot be read makes its member unverified, one refresh asks for the list, and the others are taken")
    func oneMember() throws {
        let list = try watchList()
        let since = DateTime(nanosecondsSince1970: bench.now.nanosecondsSince1970)
        try notify(
            list, Self.list(2, isFull: false, [(Self.alice, Self.broken), (Self.bea, Bench.pidf(Self.bea, basic: "closed"))]), cSeq: 2)
        #expect(try subscription(Self.alice).unverifiedSince == since && subscription(Self.alice).unreadable?.isEmpty == false)
        #expect(try subscription(Self.bea).unverifiedSince == nil && subscription(Self.bea).unreadable == nil)
        #expect(
            try subscription(Self.alice).staleAt == DateTime(nanosecondsSince1970: since.nanosecondsSince1970 + 100_000_000_000)
                && row(Self.alice).knowledge == .stale)
        #expect(bench.gateway.counters.documentsUnreadable == 1 && bench.gateway.counts.unverifiedUpstreams == 1)
        #expect(bench.gateway.partnerReports.first { $0.name == "example.org" }?.unverified == 1)
        let entries = bench.gateway.journal(ofCallID: list.headers.callID ?? "").filter { $0.event == .unreadable }
        #expect(entries.map(\.presentity) == ["sip:\(Self.alice)"])
        #expect(try refreshes() == 1)
        #expect(try seen() == [Self.bea: "18500"])
        #expect(try subscription(Self.alice).unverifiedSince == since)
        try notify(
            list, Self.list(3, [(Self.alice, Bench.pidf(Self.alice)), (Self.bea, Bench.pidf(Self.bea, basic: "closed"))]), cSeq: 3)
        #expect(
            try subscription(Self.alice).unverifiedSince == nil && subscription(Self.alice).unreadable == nil
                && subscription(Self.alice).staleAt == nil)
        #expect(bench.gateway.counts.unverifiedUpstreams == 0)
        #expect(try seen() == [Self.alice: "3500"])
        bench.pass(.seconds(200))
        #expect(bench.isQuiet(at: Bench.simple) && bench.isQuiet(at: Bench.enterprise))
    }

    @Test(
        "a member that stays unreadable: three refreshes at once, then one in 30 s, and its watcher sees what when-lost says",
        arguments: [LostPresence.stale, .offline, .pending])
    func staysUnreadable(_ choice: LostPresence) throws {
        bench.reconfigure { $0.domains["example.org"]?.whenLost = choice }
        let list = try watchList()
        func unreadable(_ cSeq: Int) throws -> Int {
            try notify(list, Self.list(cSeq, [(Self.alice, Self.broken), (Self.bea, Bench.pidf(Self.bea))]), cSeq: cSeq)
            return try refreshes()
        }
        #expect(try (2...8).map { try unreadable($0) } == [1, 1, 1, 0, 0, 0, 0])
        #expect(bench.gateway.counters.documentsUnreadable == 7)
        #expect(bench.gateway.journal(ofCallID: list.headers.callID ?? "").count { $0.event == .unreadable } == 1)
        #expect(try seen() == (choice == .stale ? [:] : [Self.alice: "18500"]))
        bench.pass(.seconds(23))
        for cSeq in 9...11 {
            #expect(try refreshes() == 0)
            bench.pass(.seconds(2))
            #expect(try refreshes() == 1)
            #expect(try unreadable(cSeq) == 0)
            bench.pass(.seconds(28))
        }
        #expect(try seen() == (choice == .stale ? [Self.alice: "18500"] : [:]))
        #expect(
            try row(Self.alice).knowledge == .offline && row(Self.bea).knowledge == .known && subscription(Self.bea).unverifiedSince == nil)
        bench.drop(at: Bench.simple) { _ in true }
        try notify(list, Self.list(12, [(Self.alice, Bench.pidf(Self.alice)), (Self.bea, Bench.pidf(Self.bea))]), cSeq: 12)
        #expect(try seen() == [Self.alice: "3500"])
        #expect(try subscription(Self.alice).unverifiedSince == nil && bench.gateway.counts.unverifiedUpstreams == 0)
    }

    @Test("a message of which nothing can be read is 400 and makes every member unverified, each until its own part is read")
    func nothing() throws {
        let list = try watchList()
        bench.notify(list, "active;expires=3600", cSeq: 2, type: Self.listType, body: "--b", from: Bench.simple)
        bench.drop(at: Bench.simple) { if case .response(let answer) = $0 { answer.status == .badRequest } else { false } }
        #expect(try refreshes() == 1)
        #expect(try subscription(Self.alice).unreadable != nil && subscription(Self.bea).unreadable != nil)
        #expect(bench.gateway.counters.documentsUnreadable == 1 && bench.gateway.counts.unverifiedUpstreams == 1)
        try notify(list, Self.list(2, isFull: false, [(Self.bea, Bench.pidf(Self.bea))]), cSeq: 3)
        #expect(
            try subscription(Self.alice).unreadable != nil && subscription(Self.bea).unreadable == nil
                && subscription(Self.bea).unverifiedSince == nil)
        #expect(bench.gateway.counts.unverifiedUpstreams == 1)
        try notify(list, Self.list(3, [(Self.alice, Bench.pidf(Self.alice)), (Self.bea, Bench.pidf(Self.bea))]), cSeq: 4)
        #expect(bench.gateway.counts.unverifiedUpstreams == 0)
    }

    @Test("RFC 5367 4: a list that takes the place of another one keeps its member unverified until a part is read")
    func replaced() throws {
        let (list, answer) = try watching()
        try notify(list, Self.list(2, isFull: false, [(Self.alice, Self.broken)]), cSeq: 2)
        #expect(try refreshes() == 1)
        let before = try subscription(Self.alice)
        bench.send(bench.change(answer, cSeq: 2, .subscribe("cleo@example.org")), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(.seconds(1))
        let other = try bench.nextRequest(.subscribe, at: Bench.simple)
        let after = try subscription(Self.alice)
        #expect(other.headers.callID == after.callID && after.callID != before.callID)
        #expect(after.unreadable == before.unreadable && after.unverifiedSince == before.unverifiedSince && after.staleAt == before.staleAt)
        #expect(try subscription(Self.bea).unreadable == nil)
    }

    @Test("RFC 4662 5.1: of a list whose meta-information cannot be read the parts are taken by the presentities that they name")
    func metaInformation() throws {
        let list = try watchList()
        let body = Self.list(2, [(Self.bea, Bench.pidf(Self.bea, basic: "closed"))]).replacingOccurrences(of: "<list ", with: "<list<")
        try notify(list, body, cSeq: 2)
        #expect(try subscription(Self.alice).unreadable != nil && subscription(Self.bea).unreadable == nil)
        #expect(try refreshes() == 1)
        #expect(try seen() == [Self.bea: "18500"])
        try notify(
            list, Self.list(3, [(Self.alice, Bench.pidf(Self.alice)), (Self.bea, Bench.pidf(Self.bea, basic: "closed"))]), cSeq: 3)
        #expect(try subscription(Self.alice).unreadable == nil)
        #expect(try seen() == [Self.alice: "3500"])
    }

    @Test("RFC 4662 5.5: an inner list that cannot be read makes the members that it had unverified")
    func innerList() throws {
        let list = try watchList()
        func nested(_ version: Int, _ inner: String) -> String {
            Self.list(version, [("team@example.org", inner), (Self.bea, Bench.pidf(Self.bea))])
                .replacingOccurrences(
                    of: "Content-ID: <team@example.org>\r\nContent-Type: application/pidf+xml",
                    with: "Content-ID: <team@example.org>\r\nContent-Type: \(Self.listType.replacingOccurrences(of: "b1", with: "b2"))")
        }
        let inner = Self.list(1, [(Self.alice, Bench.pidf(Self.alice, activity: "busy"))]).replacingOccurrences(of: "--b1", with: "--b2")
        try notify(list, nested(2, inner), cSeq: 2)
        #expect(try subscription(Self.alice).unreadable == nil)
        try notify(list, nested(3, inner.replacingOccurrences(of: "<list ", with: "<list<")), cSeq: 3)
        #expect(try subscription(Self.alice).unreadable != nil && subscription(Self.bea).unreadable == nil)
        #expect(try refreshes() == 1)
        try notify(list, nested(4, inner.replacingOccurrences(of: "version=\"1\"", with: "version=\"2\"")), cSeq: 4)
        #expect(try subscription(Self.alice).unreadable == nil && bench.gateway.counts.unverifiedUpstreams == 0)
    }

    // MARK: a batch (MS-PRES 3.4.5.1.1)

    /// Two watchers' presentities in one batch at the pool, both open.
    func watchBatch() throws -> (bench: Bench, dialog: SIPRequest) {
        let bench = Bench.trusted()
        try bench.watch(Self.bob)
        try bench.watch(Self.eve)
        let first = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(first, [(Self.bob, Bench.state(3_500))])
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [(Self.eve, Bench.state(3_500))])
        #expect(try bench.notified().count == 2)
        return (bench, first)
    }

    static func report(_ presentity: String, on bench: Bench) throws -> UpstreamReport {
        try #require(bench.gateway.subscriptions(at: bench.now).rows.first { $0.presentity == "sip:\(presentity)" }?.leg)
    }

    /// A list with bob's state, and a part that cannot be read.
    static func batch(_ unreadable: String) -> String {
        let part =
            "--b1\r\nContent-Transfer-Encoding: binary\r\nContent-Type: application/msrtc-event-categories+xml\r\n\r\n\(unreadable)\r\n"
        return Bench.list([(bob, Bench.state(18_500))]).replacingOccurrences(of: "--b1--", with: part + "--b1--")
    }

    @Test(
        "MS-PRES 2.2.2.4.2: an unreadable part of a batch concerns the presentity that its start tag names, or else all that are not mentioned",
        arguments: [true, false], [SIPMethod.notify, .benotify])
    func batchMember(isNamed: Bool, method: SIPMethod) throws {
        let (bench, dialog) = try watchBatch()
        let whole = Bench.categories(Self.eve, Bench.state(18_500))
        let body = Self.batch(isNamed ? String(whole.dropLast(20)) : "<categories")
        bench.notify(dialog, "active;expires=3600", cSeq: 2, type: Bench.listType, body: body, from: Bench.enterprise, method: method)
        if method == .notify { _ = try bench.nextResponse(200, at: Bench.enterprise) }
        #expect(try Self.report(Self.eve, on: bench).unreadable != nil && Self.report(Self.eve, on: bench).unverifiedSince != nil)
        #expect(try Self.report(Self.bob, on: bench).unreadable == nil && Self.report(Self.bob, on: bench).unverifiedSince == nil)
        #expect(bench.gateway.counters.documentsUnreadable == 1 && bench.gateway.counts.unverifiedUpstreams == 1)
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.enterprise) && refresh.headers.toTag != nil && refresh.headers.expires != 0)
        #expect(try bench.notified() == ["\(Self.bob) active closed"])
        bench.grant(refresh, [(Self.bob, Bench.state(18_500)), (Self.eve, Bench.state(18_500))])
        #expect(try Self.report(Self.eve, on: bench).unreadable == nil && bench.gateway.counts.unverifiedUpstreams == 0)
        #expect(try bench.notified() == ["\(Self.eve) active closed"])
        bench.pass(.seconds(200))
        #expect(try bench.notified().isEmpty && bench.isQuiet(at: Bench.enterprise))
    }

    @Test("a batch whose answers stay unreadable for one presentity is refreshed three times at once, then once in 30 s")
    func batchStaysUnreadable() throws {
        let (bench, dialog) = try watchBatch()
        let body = Self.batch(String(Bench.categories(Self.eve, Bench.state(18_500)).dropLast(20)))
        bench.notify(dialog, "active;expires=3600", cSeq: 2, type: Bench.listType, body: body, from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        func answers() throws -> Int {
            var count = 0
            while !bench.isQuiet(at: Bench.enterprise) {
                let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
                bench.answer(
                    refresh, 200, from: Bench.enterprise,
                    headers: [
                        (.expires, "3600"), (.event, "presence"), ("subscription-state", "active;expires=3600"),
                        (.msPiggybackCSeq, "\(refresh.headers.cSeq?.number ?? 0)"), (.contentType, Bench.listType),
                    ], body: body)
                count += 1
            }
            return count
        }
        #expect(try answers() == 3)
        #expect(try bench.notified() == ["\(Self.bob) active closed"])
        bench.pass(.seconds(29))
        #expect(try answers() == 0)
        bench.pass(.seconds(2))
        for _ in 1...3 {
            #expect(try answers() == 1)
            #expect(try Self.report(Self.eve, on: bench).unreadable != nil && Self.report(Self.bob, on: bench).unreadable == nil)
            #expect(try bench.notified().isEmpty)
            bench.pass(.seconds(30))
        }
        #expect(try bench.notified() == ["\(Self.eve) active closed"])
    }

    @Test("an unreadable part of an unknown presentity: the answer to the refresh ends the doubt of presentities that it does not mention")
    func notMentioned() throws {
        let (bench, dialog) = try watchBatch()
        bench.notify(
            dialog, "active;expires=3600", cSeq: 2, type: Bench.listType, body: Self.batch("<categories"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try Self.report(Self.eve, on: bench).unreadable != nil)
        bench.grant(try bench.nextRequest(.subscribe, at: Bench.enterprise), [(Self.bob, Bench.state(18_500))])
        #expect(try Self.report(Self.eve, on: bench).unreadable == nil && bench.gateway.counts.unverifiedUpstreams == 0)
        bench.pass(.seconds(29))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }
}
