import FederationRouting
import PresenceGateway
import SIPCore
import Testing

/// What a blocked watcher is shown, case by case (MS-PRES 1.3.1.3.4, 4.4.2); ``PoliteBlockingTests`` compares whole lives.
@Suite struct BlockedLookTests {
    static let rob = "rob@fabrikam.com"
    static let ulla = "ulla@contoso.com"
    static let body = Bench.batchBody([Bench.Action(resources: [rob], categories: ["state", "note"])])

    static func userBound(_ publication: Bench.Publication) -> Bench.Publication {
        var publication = publication
        publication.expireType = "user"
        return publication
    }

    /// The document that a poll gets.
    static func poll(_ bench: Bench, _ watcher: String = ulla, _ presentity: String = rob) throws -> String {
        bench.send(bench.categorySubscribe(watcher, to: presentity, expires: 0), from: Bench.enterprise)
        let text = try bench.nextResponse(200, at: Bench.enterprise).text
        return String(try #require(text.split(separator: "<categories").last).prefix { $0 != "\r\n" })
    }

    @Test(
        "MS-PRES 1.3.1.3.4: one blocked before it saw anything is sent nothing at the block, and a user who never published afterwards [R081, R093]"
    )
    func neverShown() throws {
        let bench = Bench()
        try bench.setMembers(Self.rob, 400, "user:friend@contoso.com")
        bench.send(bench.categorySubscribe(Self.ulla, to: Self.rob), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        try bench.publish(Self.rob, .state(3_500, in: 400), .note("secret", in: 400))
        try bench.setMembers(Self.rob, 32_000, "user:\(Self.ulla)")
        try bench.publish(Self.rob, .state(18_500, in: 32_000), .note("not here", in: 32_000))
        #expect(bench.isQuiet(at: Bench.enterprise))
        let silent = try Self.poll(bench, Self.ulla, "sue@fabrikam.com").replacingOccurrences(of: "sue@", with: "rob@")
        #expect(try Self.poll(bench) == silent)
        #expect(silent.contains("<category name=\"state\"/>"))
    }

    @Test(
        "MS-PRES 1.3.1.3.4: one who saw presence is notified once, of a sign-off at the moment of the block, and polls that ever after [R081, R093]"
    )
    func shown() throws {
        func play(_ end: (Bench, ConnectionID) throws -> Void) throws -> (notified: [String], polled: [String]) {
            let bench = Bench()
            let connection = ConnectionID(rawValue: 9)
            let machine = Bench.Publication.state(3_500, in: 2).body.replacingOccurrences(of: "aggregateState", with: "machineState")
            try bench.setMembers(Self.rob, 400, "user:\(Self.ulla)")
            bench.service(
                Self.rob,
                body: Bench.publishBody(
                    Self.rob,
                    [
                        .init(name: "state", body: machine, container: 2, instance: 7, expireType: "endpoint"), .note("hello", in: 400),
                    ]), via: TransportAddress(.tcp, "192.0.2.30", 5060), connection: connection)
            _ = try bench.nextResponse(200, at: TransportAddress(.tcp, "192.0.2.30", 5060))
            bench.send(bench.categorySubscribe(Self.ulla, to: Self.rob), from: Bench.enterprise)
            #expect(try bench.nextResponse(200, at: Bench.enterprise).text.contains(">3500<"))
            bench.pass(.seconds(30))
            try end(bench, connection)
            let notified = try bench.takeNotifies(at: Bench.enterprise).map(\.text)
            var polled = [try Self.poll(bench)]
            bench.pass(.seconds(60))
            polled.append(try Self.poll(bench))
            return (notified, polled)
        }
        let away = try play { bench, connection in
            bench.gateway.receive(.closed(connection), at: bench.now)
            bench.sort()
        }
        let blocked = try play { bench, _ in
            try bench.setMembers(Self.rob, 32_000, "user:\(Self.ulla)")
            try bench.publish(Self.rob, .state(6_500, in: 400, version: 0), .note("secret", in: 400, version: 1))
        }
        #expect(blocked.notified == away.notified && blocked.notified.count == 1)
        #expect(blocked.polled == away.polled)
        #expect(away.notified[0].contains("18500") && away.notified[0].contains("lastActive"))
        #expect(blocked.polled[1].contains(">hello<") && !blocked.polled[1].contains("secret"))
    }

    @Test("an availability that would outlast a sign-off is 18500 to a blocked watcher, in every format")
    func outlasting() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .state(3_500), .legacyInterop(3_500))
        _ = try Self.poll(bench)
        bench.send(bench.subscribe("dan@example.org", to: Self.rob, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).last?.text.contains("open") == true)
        try bench.setMembers(Self.rob, 32_000, "user:\(Self.ulla)", "user:dan@example.org")
        #expect(try Self.poll(bench).contains("<availability>18500<"))
        #expect(try bench.takeNotifies(at: Bench.simple).last?.text.contains("closed") == true)
    }

    @Test("one who is unblocked sees the user again; blocked anew before it looked, it sees the first sign-off still")
    func again() throws {
        let bench = Bench()
        try bench.publish(Self.rob, .note("first"))
        #expect(try Self.poll(bench).contains(">first<"))
        try bench.setMembers(Self.rob, 32_000, "user:\(Self.ulla)")
        try bench.publish(Self.rob, .note("second", version: 1))
        try bench.setMembers(Self.rob, 32_000, version: 1, "-user:\(Self.ulla)")
        try bench.setMembers(Self.rob, 32_000, version: 2, "user:\(Self.ulla)")
        #expect(try Self.poll(bench).contains(">first<"))
        try bench.setMembers(Self.rob, 32_000, version: 3, "-user:\(Self.ulla)")
        #expect(try Self.poll(bench).contains(">second<"))
        try bench.publish(Self.rob, .note("third", version: 2))
        try bench.setMembers(Self.rob, 32_000, version: 4, "user:\(Self.ulla)")
        try bench.publish(Self.rob, .note("fourth", version: 3))
        #expect(try Self.poll(bench).contains(">third<"))
    }

    @Test("a restart, a reload and a new class of the watcher's domain keep the look of a block")
    func kept() throws {
        let store = MemoryStore()
        let bench = Bench(store: store)
        try bench.publish(Self.rob, .note("first"))
        #expect(try Self.poll(bench).contains(">first<"))
        try bench.setMembers(Self.rob, 32_000, "user:\(Self.ulla)", "user:eve@contoso.com", "publicCloud")
        let seen = (shown: try Self.poll(bench), never: try Self.poll(bench, "eve@contoso.com"))
        try bench.publish(Self.rob, .note("second", version: 1))
        #expect(try Self.poll(bench, "otto@contoso.com").contains(">second<"))
        try bench.restart()
        #expect(try Self.poll(bench) == seen.shown)
        #expect(try Self.poll(bench, "eve@contoso.com") == seen.never)
        bench.reconfigure { $0.domains["contoso.com"]?.federation.network = .publicCloud }
        try bench.publish(Self.rob, .note("third", version: 2))
        #expect(try Self.poll(bench) == seen.shown)
        #expect(try Self.poll(bench, "otto@contoso.com").contains(">second<"), "blocked by its class, as it was then")
        #expect(try Self.poll(bench, "new@contoso.com") == seen.never)
        try bench.restart(after: .seconds(60)) { $0.domains["contoso.com"]?.federation.network = .publicCloud }
        #expect(try Self.poll(bench, "otto@contoso.com").contains(">second<"))
    }

    @Test("a category that container 32000 alone decides about shows nothing of what is in there")
    func byCategory() throws {
        let bench = Bench()
        try bench.setMembers(Self.rob, 400, "user:\(Self.ulla)")
        try bench.setMembers(Self.rob, 32_000, "domain:contoso.com")
        try bench.publish(Self.rob, .note("for her", in: 400), .state(6_500, in: 32_000), .state(3_500, in: 100))
        let seen = try Self.poll(bench)
        #expect(seen.contains(">for her<") && seen.contains("<category name=\"state\"/>"))
    }
}
