import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// One notification per watcher and presentity in the spacing, and what is not held back by it (RFC 3856 6.10).
@Suite struct FlowControlTests {
    static let spacing = TimeSpan.seconds(5)

    static func bench(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench {
            $0.timing.notifySpacing = spacing
            change(&$0)
        }
    }

    /// A PIDF watcher of a hosted user; its first NOTIFY is answered.
    static func watch(_ bench: Bench, _ presentity: String = "rob@fabrikam.com") throws -> SIPResponse {
        bench.send(bench.subscribe("dan@example.org", to: presentity, via: Bench.simple), from: Bench.simple)
        let response = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        return response
    }

    @Test("RFC 3856 6.10 changes within the spacing become one notification at its end, with the newest state")
    func coalesced() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        _ = try Self.watch(bench)
        for (version, text) in ["one", "two", "three"].enumerated() {
            bench.pass(.seconds(1))
            try bench.publish("rob@fabrikam.com", .legacyInterop(6_500 + version, version: version + 1))
            try bench.publish("rob@fabrikam.com", .note(text, version: version))
            #expect(bench.isQuiet(at: Bench.simple))
        }
        bench.pass(.milliseconds(1_999))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.milliseconds(1))
        let notified = try bench.takeNotifies(at: Bench.simple)
        #expect(notified.count == 1 && notified.allSatisfy { $0.text.contains("busy") })
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("every change is either notified or counted as suppressed: 8 changes, 3 notifications, 5 suppressed")
    func suppressed() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        _ = try Self.watch(bench)
        bench.pass(.seconds(60))
        var notified = 0
        // At 0, 1, 2, 3 s, and at 6, 7, 8, 9 s; due at 0, 5 and 10 s.
        for change in 1...8 {
            try bench.publish("rob@fabrikam.com", .note("change \(change)", version: change - 1))
            if change % 4 == 0 { bench.pass(.milliseconds(change == 4 ? 3_000 : 1_000)) } else { bench.pass(.seconds(1)) }
            notified += try bench.takeNotifies(at: Bench.simple).count
        }
        bench.pass(.seconds(60))
        notified += try bench.takeNotifies(at: Bench.simple).count
        #expect(notified == 3)
        #expect(bench.gateway.counters.notificationsSuppressed == 5)
    }

    @Test("a change that is taken back while it waits is two suppressed ones")
    func suppressedTwice() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        _ = try Self.watch(bench)
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500, version: 2))
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.simple))
        #expect(bench.gateway.counters.notificationsSuppressed == 2)
    }

    @Test("RFC 3856 6.10 what changed long after the last notification is told at once")
    func atOnce() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        _ = try Self.watch(bench)
        bench.pass(Self.spacing)
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
        bench.pass(.seconds(1))
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500, version: 2))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(4))
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
    }

    @Test("RFC 3856 6.10 a change that is taken back within the spacing is not told, and starts no spacing")
    func takenBack() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        _ = try Self.watch(bench)
        bench.pass(.seconds(1))
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        bench.pass(.seconds(1))
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500, version: 2))
        bench.pass(.seconds(4))
        #expect(bench.isQuiet(at: Bench.simple))
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 3))
        #expect(try bench.takeNotifies(at: Bench.simple).count == 1)
    }

    @Test("RFC 6665 4.2.1.2 the NOTIFY after a refresh is not delayed, and carries what was held back")
    func refresh() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        let response = try Self.watch(bench)
        bench.pass(.seconds(1))
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        bench.send(bench.inDialog(response, cSeq: 2, expires: 600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let notified = try bench.takeNotifies(at: Bench.simple)
        #expect(notified.count == 1 && notified.allSatisfy { $0.text.contains("busy") })
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 3856 6.10 an end is not delayed")
    func end() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        let response = try Self.watch(bench)
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        bench.send(bench.inDialog(response, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let last = try bench.takeNotifies(at: Bench.simple)
        #expect(last.map { $0.headers.subscriptionState?.state } == [.terminated])
    }

    @Test("RFC 3856 6.10 the first state of a far presentity is not delayed by the pending that was told before")
    func firstState() throws {
        let bench = Self.bench()
        bench.send(bench.subscribe("dan@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
        let subscribe = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.simple)
        bench.pass(.seconds(1))
        let pending = try bench.takeNotifies(at: Bench.simple)
        #expect(pending.map { $0.headers.subscriptionState?.state } == [.pending])
        bench.answer(subscribe, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            subscribe, "active;expires=3600", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("bob@contoso.com", Bench.state(3_500)), from: Bench.enterprise)
        #expect(try bench.takeNotifies(at: Bench.simple).map { $0.headers.subscriptionState?.state } == [.active])
        // And the other way round: the piggybacked 200 of a category watcher said nothing yet.
        bench.clear()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let far = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(far, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            far, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org"), from: Bench.simple)
        #expect(try bench.takeNotifies().count == 1)
        bench.notify(
            far, "active;expires=3600", cSeq: 2, type: "application/pidf+xml", body: Bench.pidf("alice@example.org", basic: "closed"),
            from: Bench.simple)
        #expect(try bench.takeNotifies().isEmpty)
        bench.pass(Self.spacing)
        #expect(try bench.takeNotifies().count == 1)
    }

    @Test("RFC 3856 6.10 in a batch each presentity has its own spacing, and who waits longest is told first")
    func batch() throws {
        let bench = Self.bench()
        let users = ["rob@fabrikam.com", "sue@fabrikam.com", "tom@fabrikam.com"]
        for user in users { try bench.publish(user, .state(3_500)) }
        bench.send(bench.batch("ulla@fabrikam.com", Bench.Action(resources: users)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.pass(Self.spacing)
        func notified() throws -> [String] { try bench.takeNotifies().map { try CategoriesDocument(parsing: $0.body).uri } }
        try bench.publish("sue@fabrikam.com", .state(6_500, version: 1))
        #expect(try notified() == ["sip:sue@fabrikam.com"])
        bench.pass(.seconds(1))
        // Not delayed by the other's notification.
        try bench.publish("rob@fabrikam.com", .state(6_500, version: 1))
        #expect(try notified() == ["sip:rob@fabrikam.com"])
        try bench.publish("rob@fabrikam.com", .state(9_500, version: 2))
        try bench.publish("sue@fabrikam.com", .state(9_500, version: 2))
        #expect(try notified() == [])
        bench.pass(.seconds(4))
        #expect(try notified() == ["sip:sue@fabrikam.com"])
        bench.pass(.seconds(1))
        #expect(try notified() == ["sip:rob@fabrikam.com"])
    }

    @Test("MS-PRES 2.2.2.4.3 while a NOTIFY of a batch is unanswered, later changes wait in the order in which they came")
    func fairness() throws {
        let bench = Bench()
        let users = ["rob@fabrikam.com", "sue@fabrikam.com", "tom@fabrikam.com"]
        for user in users { try bench.publish(user, .state(3_500)) }
        bench.send(bench.batch("ulla@fabrikam.com", Bench.Action(resources: users)), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        try bench.publish("rob@fabrikam.com", .state(4_500, version: 1))
        let first = try bench.nextRequest(.notify, at: Bench.enterprise)
        try bench.publish("tom@fabrikam.com", .state(4_500, version: 1))
        try bench.publish("rob@fabrikam.com", .state(5_500, version: 2))
        try bench.publish("sue@fabrikam.com", .state(4_500, version: 1))
        try bench.publish("rob@fabrikam.com", .state(6_500, version: 3))
        bench.answer(first, 200, from: Bench.enterprise)
        let rest = try bench.takeNotifies()
        #expect(
            try rest.map { try CategoriesDocument(parsing: $0.body).uri } == [
                "sip:tom@fabrikam.com", "sip:rob@fabrikam.com", "sip:sue@fabrikam.com",
            ])
        #expect(rest.count > 1 && rest[1].text.contains("6500"))
    }

    @Test("MS-PRES 1.3.1.3.4 the spacing of a watcher does not show that something happened which it may not see")
    func hiddenChanges() throws {
        /// When the watcher is told that it may see the user, in milliseconds after its subscription.
        func play(hidden: [Int]) throws -> [Int] {
            let bench = Self.bench()
            try bench.setMembers("rob@fabrikam.com", 300, "user:dan@example.org")
            try bench.publish("rob@fabrikam.com", .legacyInterop(3_500, in: 300), .legacyInterop(3_500, in: 400))
            _ = try Self.watch(bench)
            let start = bench.now
            var moments: [Int] = []
            func pass(to moment: Int) throws {
                while bench.now < start + .milliseconds(moment) {
                    bench.pass(.milliseconds(100))
                    moments += try bench.takeNotifies(at: Bench.simple).map { _ in
                        Int((bench.now - start).nanoseconds / 1_000_000)
                    }
                }
            }
            for (index, moment) in hidden.enumerated() {
                try pass(to: moment)
                try bench.publish("rob@fabrikam.com", .legacyInterop(4_000 + index, in: 400, version: index + 1))
            }
            try pass(to: 7_000)
            try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, in: 300, version: 1))
            try pass(to: 8_000)
            try bench.publish("rob@fabrikam.com", .legacyInterop(15_500, in: 300, version: 2))
            try pass(to: 30_000)
            return moments
        }
        let silent = try play(hidden: [])
        #expect(silent.count == 2)
        #expect(try play(hidden: [1_000, 2_000, 4_900, 6_900]) == silent)
    }
}
