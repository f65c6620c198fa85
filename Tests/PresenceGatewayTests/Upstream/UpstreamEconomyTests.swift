import PresenceDocuments
import SIPCore
import Testing
import XMLCore

@testable import PresenceGateway

/// Upstream subscriptions ask no more and no oftener than is needed.
@Suite struct UpstreamEconomyTests {
    static let service = "sip:lists@example.org"
    let open = Bench.state(3_500)

    private func lists(store: (any GatewayStore)? = nil, _ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench(store: store) {
            $0.timing.notifySpacing = .zero
            $0.domains["example.org"]?.lists = .adHoc(service: Self.service)
            change(&$0)
        }
    }

    /// The SUBSCRIBEs that wait at the standard side; answers to our NOTIFYs of it are passed over.
    private func asked(_ bench: Bench) throws -> [SIPRequest] {
        var asked: [SIPRequest] = []
        while !bench.isQuiet(at: Bench.simple) {
            if case .request(let request) = try bench.next(at: Bench.simple), request.method == .subscribe { asked.append(request) }
        }
        return asked
    }

    private func accept(_ bench: Bench, _ request: SIPRequest, isList: Bool = true) {
        var headers: [(SIPHeaderName, String)] = [(.expires, "\(request.headers.expires ?? 3_600)")]
        if isList { headers.append((.require, "eventlist")) }
        bench.answer(request, 200, from: Bench.simple, headers: headers)
    }

    // MARK: lists

    private static let namespaces = "xmlns=\"urn:ietf:params:xml:ns:pidf\" xmlns:p=\"urn:ietf:params:xml:ns:pidf-diff\""
    private static let tuple = "<tuple id=\"t1\"><status><basic>open</basic></status></tuple>"

    private static func full(_ user: String, _ version: Int) -> String {
        "<p:pidf-full \(namespaces) entity=\"sip:\(user)\" version=\"\(version)\">\(tuple)<note>0</note></p:pidf-full>"
    }

    private static func difference(_ user: String, _ version: Int) -> String {
        "<p:pidf-diff \(namespaces) entity=\"sip:\(user)\" version=\"\(version)\"><p:replace sel=\"*/note/text()\">\(version)</p:replace>"
            + "</p:pidf-diff>"
    }

    /// A NOTIFY of the list with one part for each of these.
    private func notify(_ bench: Bench, _ list: SIPRequest, version: UInt32, isFull: Bool, cSeq: Int, _ parts: [(String, String)]) throws {
        var notification = ResourceListNotification(RLMIDocument(uri: Self.service, version: version, fullState: isFull))
        for (place, (user, document)) in parts.enumerated() {
            notification.add(
                RLMIResource(uri: "sip:\(user)", instances: [RLMIInstance(id: "1", state: .active)]), cid: "c\(place)",
                content: .document(MIMEPart(contentType: MediaType("application", "pidf-diff+xml"), body: Array(document.utf8))))
        }
        let body = notification.body(boundary: "b")
        bench.notify(
            list, "active;expires=3600", cSeq: cSeq, type: body.contentType, body: String(decoding: body.bytes, as: UTF8.self),
            from: Bench.simple)
    }

    /// A list of two that a batch watches, with the whole state of both.
    private func watchedList() throws -> (Bench, SIPRequest) {
        let bench = lists()
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("a@example.org", "b@example.org")), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let list = try #require(try asked(bench).first)
        accept(bench, list)
        try notify(
            bench, list, version: 0, isFull: true, cSeq: 1,
            [("a@example.org", Self.full("a@example.org", 1)), ("b@example.org", Self.full("b@example.org", 1))])
        return (bench, list)
    }

    @Test("RFC 5263 4.4, RFC 4662 5.2: one broken member of a list is fetched again three times, not as fast as the far side answers")
    func brokenMember() throws {
        let (bench, list) = try watchedList()
        var refreshes = 0
        for round in 1...20 {
            // Those of a are in order, those of b never.
            try notify(
                bench, list, version: UInt32(round), isFull: false, cSeq: round + 1,
                [
                    ("a@example.org", Self.difference("a@example.org", round + 1)),
                    ("b@example.org", Self.difference("b@example.org", round + 100)),
                ])
            for refresh in try asked(bench) {
                refreshes += 1
                accept(bench, refresh)
            }
        }
        #expect(refreshes == 3 && bench.gateway.counters.partialStateMissed == 20)
        // What fits is shown all the time.
        let last = try bench.takeNotifies().last { $0.text.contains("a@example.org") }
        #expect(last?.text.contains(">21<") == true)
    }

    @Test("RFC 4662 5.2: a list that is older than what is known is no sign that differences fit")
    func outdatedList() throws {
        var state = ResourceListState()
        let meta = RLMIDocument(uri: Self.service, version: 5, fullState: true)
        #expect(!state.receive(ResourceListNotification(meta)).isOutdated)
        let body = ResourceListNotification(RLMIDocument(uri: Self.service, version: 4, fullState: false)).body(boundary: "b")
        let content = try UpstreamContent(
            list: body.bytes, contentType: try #require(MediaType(body.contentType)), state: &state, isKept: false, presentities: [],
            parser: .init(), limit: 10)
        #expect(!content.isDifference && !content.needsFullState)
    }

    @Test("RFC 4662 4.5: a list that is replaced already and turns out to be none is left to its successor")
    func replacedIsNone() throws {
        let bench = lists()
        bench.send(bench.batch("ulla@fabrikam.com", .subscribe("a@example.org", "b@example.org")), from: Bench.enterprise)
        let answer = try bench.nextResponse(200, at: Bench.enterprise)
        let first = try #require(try asked(bench).first)
        bench.send(bench.change(answer, cSeq: 2, .subscribe("c@example.org")), from: Bench.enterprise)
        #expect(try asked(bench).isEmpty)
        accept(bench, first, isList: false)
        // The dialog is left, and nobody is asked for alone.
        let goodbye = try asked(bench)
        #expect(goodbye.map(\.headers.callID) == [first.headers.callID] && goodbye.map(\.headers.expires) == [0])
        bench.pass(.seconds(1))
        let second = try asked(bench)
        #expect(second.map(\.requestURI) == [Self.service] && second.first?.text.contains("c@example.org") == true)
    }

    @Test("after a restart far legs are begun in turn, each once, however many presentities it has")
    func restartPace() throws {
        let bench = lists(store: MemoryStore()) { $0.timing.restorePace = .seconds(1) }
        for watcher in ["ulla@fabrikam.com", "otto@fabrikam.com"] {
            bench.send(bench.batch(watcher, .subscribe("a@example.org", "b@example.org", "c@example.org")), from: Bench.enterprise)
        }
        for list in try asked(bench) { accept(bench, list) }
        try bench.restart()
        bench.pass(.milliseconds(1))
        #expect(try asked(bench).count == 1)
        bench.pass(.seconds(1))
        #expect(try asked(bench).count == 1)
    }

    @Test("RFC 4662 5.2: a list with more resources than are kept is reported, and not fetched for it: the full state would be no less")
    func overfullList() throws {
        let (bench, list) = try watchedList()
        for version in UInt32(1)...2 {
            var notification = ResourceListNotification(RLMIDocument(uri: Self.service, version: version, fullState: false))
            for number in 0..<600 {
                notification.add(
                    RLMIResource(uri: "sip:u\(number)-\(version)@example.org", instances: [RLMIInstance(id: "1", state: .pending)]), cid: ""
                )
            }
            let body = notification.body(boundary: "b")
            bench.notify(
                list, "active;expires=3600", cSeq: Int(version) + 1, type: body.contentType,
                body: String(decoding: body.bytes, as: UTF8.self), from: Bench.simple)
            #expect(bench.gateway.counters.limitsReached == UInt64(version) - 1)
        }
        #expect(try asked(bench).isEmpty && bench.gateway.counters.partialStateMissed == 0)
    }

    @Test("RFC 4662 5.5: an entry that is active without its state grants nothing while the list as a whole is pending")
    func pendingList() throws {
        let (bench, list) = try watchedList()
        _ = try bench.takeNotifies()
        bench.notify(list, "pending;expires=3600", cSeq: 2, from: Bench.simple)
        #expect(try !bench.takeNotifies().isEmpty)
        func active(_ state: String, version: UInt32) throws -> [SIPRequest] {
            var notification = ResourceListNotification(RLMIDocument(uri: Self.service, version: version, fullState: false))
            notification.add(RLMIResource(uri: "sip:a@example.org", instances: [RLMIInstance(id: "1", state: .active)]), cid: "")
            let body = notification.body(boundary: "b")
            bench.notify(
                list, "\(state);expires=3600", cSeq: Int(version) + 2, type: body.contentType,
                body: String(decoding: body.bytes, as: UTF8.self), from: Bench.simple)
            return try bench.takeNotifies()
        }
        #expect(try active("pending", version: 1).isEmpty)
        #expect(try active("active", version: 2).contains { $0.text.contains("a@example.org") && $0.text.contains("<availability>") })
    }

    // MARK: batches

    @Test("RFC 6665 4.1.2.3: a watcher who leaves with all his presentities makes one goodbye, and no change before it")
    func leaving() throws {
        let bench = Bench.trusted { $0.listServer = SIPURI("sip:\(ListWatcherTests.server)") }
        let users = ["a@contoso.com", "b@contoso.com", "c@contoso.com"]
        ListWatcherTests.subscribe(bench, users)
        let answer = try bench.nextResponse(200, at: Bench.simple)
        let batch = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(Bench.actions(batch) == ["subscribe: " + users.map { "sip:\($0)" }.joined(separator: " ")])
        bench.grant(batch, users.map { ($0, open) })
        #expect(bench.isQuiet(at: Bench.enterprise))
        _ = try bench.takeNotifies(at: Bench.simple)
        bench.send(bench.inDialog(answer, cSeq: 2, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        let goodbye = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(goodbye.headers.expires == 0 && bench.isQuiet(at: Bench.enterprise))
    }

    // MARK: single subscriptions

    @Test("MS-PRES 3.4.5.1.3: changes that come before the whole state after a restart show nothing, and fetch it once")
    func fragments() throws {
        let bench = Bench(store: MemoryStore()) { $0.timing.notifySpacing = .zero }
        try bench.watch("rob@contoso.com")
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.grant(subscription, [("rob@contoso.com", open)])
        #expect(try bench.notified() == ["rob@contoso.com active open"])
        try bench.restart()
        func notify(_ content: String, cSeq: Int) throws {
            bench.notify(
                subscription, "active;expires=3600", cSeq: cSeq, type: "application/msrtc-event-categories+xml",
                body: Bench.categories("rob@contoso.com", content), from: Bench.enterprise)
        }
        try notify("<category name=\"note\"/>", cSeq: 2)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.callID == subscription.headers.callID && refresh.headers.toTag != nil)
        try notify("<category name=\"contactCard\"/>", cSeq: 3)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        #expect(try bench.notified().isEmpty && bench.isQuiet(at: Bench.enterprise))
        bench.grant(refresh, [("rob@contoso.com", Bench.state(18_500))])
        #expect(try bench.notified() == ["rob@contoso.com active closed"])
    }

    @Test("RFC 6665 4.1.2.4: a part that comes after a restart before the refresh is answered is asked for whole once more")
    func partBeforeAnswer() throws {
        let bench = Bench(store: MemoryStore()) {
            $0.timing.notifySpacing = .zero
            $0.timing.restorePace = .seconds(100)
        }
        var subscriptions: [SIPRequest] = []
        for user in ["amy@contoso.com", "rob@contoso.com"] {
            try bench.watch(user)
            subscriptions.append(try bench.nextRequest(.subscribe, at: Bench.enterprise))
            bench.grant(subscriptions[subscriptions.count - 1], [(user, open)])
            _ = try bench.notified()
        }
        try bench.restart()
        bench.drop(at: Bench.enterprise) { _ in true }
        func part(_ content: String, cSeq: Int) throws {
            bench.notify(
                subscriptions[1], "active;expires=3600", cSeq: cSeq, type: "application/msrtc-event-categories+xml",
                body: Bench.categories("rob@contoso.com", content), from: Bench.enterprise, method: .benotify)
        }
        // It is not yet the turn of the second subscription.
        try part("<category name=\"note\"/>", cSeq: 2)
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.callID == subscriptions[1].headers.callID)
        try part(Bench.state(18_500), cSeq: 3)
        bench.answer(refresh, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        let again = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(again.headers.callID == refresh.headers.callID && again.headers.toTag != nil)
        bench.answer(again, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        try part(Bench.state(18_500), cSeq: 4)
        #expect(try bench.notified() == ["rob@contoso.com active closed"])
        // What is a part from now on is a change of what is known.
        try part(Bench.state(3_500), cSeq: 5)
        #expect(bench.isQuiet(at: Bench.enterprise))
    }

    // MARK: time

    @Test("what is known of a domain's far side is forgotten when the operator changes the domain, and not when he changes another")
    func changedDomains() throws {
        let bench = Bench()
        try bench.watch("rob@contoso.com")
        bench.reconfigure { $0.domains["example.org"]?.profile = .rpidDraft }
        #expect(bench.gateway.flows.upstream.upstreams.domainCount == 1)
        bench.reconfigure { $0.domains["contoso.com"]?.upstream = .pidf }
        #expect(bench.gateway.flows.upstream.upstreams.domainCount == 0)
    }

    @Test("a timer that is set for the same moment again and again gives control back, and is reported")
    func spinning() throws {
        let bench = Bench()
        // No configuration leads there: OPTIONS with an interval of zero.
        let probes = bench.gateway.flows.border.probes
        probes.begin("contoso.com", every: .zero, isDefault: false, dueAt: bench.now)
        probes.advance("contoso.com", at: bench.now)
        bench.gateway.advance(to: bench.now)
        #expect(bench.gateway.nextDeadline == bench.now)
        #expect(bench.gateway.takeLogs().contains { $0.level == .error && $0.message.description.contains("timers") })
    }
}
