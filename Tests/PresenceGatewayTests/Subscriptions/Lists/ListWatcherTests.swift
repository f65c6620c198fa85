import PresenceDocuments
import SIPCore
import Testing
import XMLCore

@testable import PresenceGateway

/// Watchers that bring their own lists along (RFC 5367), and what the resource list server tells them (RFC 4662).
@Suite struct ListWatcherTests {
    static let server = "lists@example.org"
    static let accept = "application/pidf+xml, application/rlmi+xml, multipart/related"
    static let required = "Supported: eventlist\r\nRequire: recipient-list-subscribe\r\n"

    static func bench(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench {
            $0.listServer = SIPURI("sip:\(server)")
            change(&$0)
        }
    }

    static func body(_ uris: [String]) -> String {
        "<resource-lists xmlns=\"urn:ietf:params:xml:ns:resource-lists\"><list>"
            + uris.map { $0.hasPrefix("<") ? $0 : "<entry uri=\"sip:\($0)\"/>" }.joined() + "</list></resource-lists>"
    }

    static func subscribe(
        _ bench: Bench, _ uris: [String], accept: String = accept, expires: Int? = 3_600, extra: String = required, body: String? = nil,
        type: String = "application/resource-lists+xml", to: String = server
    ) {
        let text = bench.subscribe(
            "dan@example.org", to: to, accept: accept, expires: expires, extra: extra, body: body ?? Self.body(uris), contentType: type,
            via: Bench.simple)
        bench.send(text, from: Bench.simple)
    }

    /// One notification, taken apart: `version`, whether whole, and `uri state reason` of every entry.
    struct Notified {
        var notification: ResourceListNotification
        var request: SIPRequest

        init(_ request: SIPRequest) throws {
            self.request = request
            let type = try #require(request.headers.contentType)
            notification = try ResourceListNotification(request.body, contentType: type, parser: XMLParser())
        }

        var meta: RLMIDocument { notification.meta }
        var entries: [String] {
            meta.resources.map { resource in
                ([resource.uri.replacingOccurrences(of: "sip:", with: "")]
                    + resource.instances.flatMap { [$0.state.name, $0.reason].compactMap(\.self) }).joined(separator: " ")
            }
        }

        /// The document of an entry.
        func document(_ uri: String) -> String? {
            guard let instance = meta.resources.first(where: { $0.uri == uri })?.instances.first,
                case .document(let part)? = notification.content(of: instance)
            else { return nil }
            return String(decoding: part.body, as: UTF8.self)
        }
    }

    static func notified(_ bench: Bench) throws -> [Notified] { try bench.takeNotifies(at: Bench.simple).map { try Notified($0) } }

    @Test("RFC 4662 4.2, 5.1, 5.2 a list is accepted with Require: eventlist and told whole, one part for each active presentity")
    func whole() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500))
        Self.subscribe(bench, ["rob@fabrikam.com", "quiet@example.com"])
        let response = try bench.nextResponse(200, at: Bench.simple)
        #expect(response.headers.hasToken(.require, "eventlist") && response.headers.expires == 3_600)
        let all = try Self.notified(bench)
        let notified = try #require(all.first)
        #expect(all.count == 1 && notified.request.headers.hasToken(.require, "eventlist"))
        #expect(notified.request.headers.subscriptionState?.state == .active)
        let type = try #require(notified.request.headers.contentType)
        #expect(type.essence == "multipart/related" && type.parameters["type"] == "application/rlmi+xml")
        let multipart = try MIMEMultipart(notified.request.body, contentType: type)
        #expect(multipart.root?.contentType?.essence == "application/rlmi+xml")
        #expect(type.parameters["start"] == multipart.root?.contentID.map { "<\($0)>" })
        #expect(notified.meta.uri == "sip:\(Self.server)" && notified.meta.version == 0 && notified.meta.fullState)
        #expect(notified.entries == ["rob@fabrikam.com active", "quiet@example.com active"])
        #expect(notified.document("sip:rob@fabrikam.com")?.contains("busy") == true)
        #expect(notified.document("sip:quiet@example.com")?.contains("closed") == true)
        let cids = notified.meta.resources.compactMap { $0.instances.first?.cid }
        #expect(Set(cids).count == 2 && Set(multipart.parts.compactMap(\.contentID)).isSuperset(of: cids))
    }

    @Test("RFC 4662 5.2 later notifications have the next version and only what changed; a refresh is told the whole list")
    func partial() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        Self.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com", "tom@fabrikam.com"])
        let response = try bench.nextResponse(200, at: Bench.simple)
        #expect(try Self.notified(bench).count == 1)
        try bench.publish("sue@fabrikam.com", .legacyInterop(6_500))
        let changed = try #require(try Self.notified(bench).first)
        #expect(changed.meta.version == 1 && !changed.meta.fullState && changed.entries == ["sue@fabrikam.com active"])
        bench.send(bench.inDialog(response, cSeq: 2, expires: 3_600, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.hasToken(.require, "eventlist"))
        let whole = try #require(try Self.notified(bench).first)
        #expect(whole.meta.version == 2 && whole.meta.fullState && whole.entries.count == 3)
        #expect(whole.document("sip:sue@fabrikam.com")?.contains("busy") == true)
        bench.send(bench.inDialog(response, cSeq: 3, expires: 0, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let last = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(last.headers.subscriptionState?.state == .terminated && last.headers.hasToken(.require, "eventlist"))
        #expect(last.headers.cSeq?.number == 4)
        bench.answer(last, 200, from: Bench.simple)
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.presentities == 2)
    }

    @Test("RFC 4662 5.5 far presentities: nothing known has no instance, pending and terminated say so, and then they are active")
    func instances() throws {
        let bench = Self.bench()
        Self.subscribe(bench, ["bob@contoso.com", "ann@contoso.com", "eve@contoso.com", "x@example.net", "y@nowhere.invalid"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        var subscriptions: [String: SIPRequest] = [:]
        while !bench.isQuiet(at: Bench.enterprise) {
            let subscribe = try bench.nextRequest(.subscribe, at: Bench.enterprise)
            subscriptions[subscribe.headers.to?.uri.user ?? ""] = subscribe
        }
        let (bob, ann, eve) = (try #require(subscriptions["bob"]), try #require(subscriptions["ann"]), try #require(subscriptions["eve"]))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.milliseconds(500))
        let first = try #require(try Self.notified(bench).first)
        #expect(first.request.headers.subscriptionState?.state == .active)
        #expect(
            first.entries.sorted() == [
                "ann@contoso.com", "bob@contoso.com", "eve@contoso.com", "x@example.net terminated rejected",
                "y@nowhere.invalid terminated noresource",
            ])

        bench.answer(eve, 403, from: Bench.enterprise)
        for subscription in [bob, ann] { bench.answer(subscription, 200, from: Bench.enterprise, headers: [(.expires, "3600")]) }
        bench.notify(ann, "pending;expires=3600", cSeq: 1, from: Bench.enterprise)
        let types = "application/msrtc-event-categories+xml"
        bench.notify(
            bob, "active;expires=3600", cSeq: 1, type: types, body: Bench.categories("bob@contoso.com", Bench.state(6_500)),
            from: Bench.enterprise)
        let later = try Self.notified(bench)
        #expect(
            later.flatMap(\.entries).sorted() == [
                "ann@contoso.com pending", "bob@contoso.com active", "eve@contoso.com terminated rejected",
            ])
        #expect(later.map(\.meta.version) == Array(1...UInt32(later.count)) && later.allSatisfy { !$0.meta.fullState })
        bench.notify(
            ann, "active;expires=3600", cSeq: 2, type: types, body: Bench.categories("ann@contoso.com", Bench.state(3_500)),
            from: Bench.enterprise)
        #expect(try Self.notified(bench).flatMap(\.entries) == ["ann@contoso.com active"])
    }

    @Test("RFC 3856 6.10, RFC 4662 4.10 changes of several presentities within the spacing are told together, first states at once")
    func batching() throws {
        let bench = Self.bench { $0.timing.notifySpacing = .seconds(5) }
        let users = ["rob@fabrikam.com", "sue@fabrikam.com", "tom@fabrikam.com"]
        for user in users { try bench.publish(user, .legacyInterop(3_500)) }
        Self.subscribe(bench, users + ["bob@contoso.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(subscription, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.pass(.milliseconds(500))
        #expect(try Self.notified(bench).count == 1)
        bench.pass(.seconds(1))
        try bench.publish("tom@fabrikam.com", .legacyInterop(6_500, version: 1))
        bench.notify(
            subscription, "active;expires=3600", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("bob@contoso.com", Bench.state(6_500)), from: Bench.enterprise)
        #expect(try Self.notified(bench).map(\.entries) == [["bob@contoso.com active"]])
        bench.pass(.seconds(2))
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        try bench.publish("tom@fabrikam.com", .legacyInterop(15_500, version: 2))
        bench.pass(.milliseconds(2_999))
        #expect(try Self.notified(bench).isEmpty)
        bench.pass(.milliseconds(1))
        let notified = try Self.notified(bench)
        #expect(notified.map(\.entries) == [["tom@fabrikam.com active", "rob@fabrikam.com active"]])
        #expect(notified.first?.document("sip:tom@fabrikam.com")?.contains("away") == true)
        bench.pass(.seconds(60))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 5367 4 URIs of the list keep their spelling, appear once, and those of inner lists count")
    func entries() throws {
        let bench = Self.bench()
        Self.subscribe(
            bench,
            [
                "rob@fabrikam.com",
                "<list name=\"more\"><entry uri=\"sip:sue@FABRIKAM.com\"/></list>",
                "sue@fabrikam.com",
            ])
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(
            try Self.notified(bench).first?.entries == ["rob@fabrikam.com active", "sue@FABRIKAM.com active"])
    }

    @Test("RFC 5367 4.1 a list may be asked for once")
    func poll() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500))
        Self.subscribe(bench, ["rob@fabrikam.com", "bob@contoso.com"], expires: 0)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let subscription = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(subscription.headers.expires == 0 && bench.isQuiet(at: Bench.simple))
        bench.answer(subscription, 200, from: Bench.enterprise, headers: [(.expires, "0")])
        bench.notify(
            subscription, "terminated;reason=timeout", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("bob@contoso.com", Bench.state(3_500)), from: Bench.enterprise)
        let notified = try #require(try Self.notified(bench).first)
        #expect(notified.request.headers.subscriptionState?.state == .terminated && notified.meta.fullState)
        #expect(notified.entries == ["rob@fabrikam.com active", "bob@contoso.com active"])
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
    }

    @Test("RFC 5263 4.4 a watcher of partial PIDF gets differences of each presentity, numbered by presentity")
    func differences() throws {
        let bench = Self.bench()
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        Self.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com"], accept: "application/pidf-diff+xml, " + Self.accept)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let first = try #require(try Self.notified(bench).first)
        #expect(first.document("sip:rob@fabrikam.com")?.contains("pidf-full") == true)
        try bench.publish("rob@fabrikam.com", .legacyInterop(6_500, version: 1))
        let second = try #require(try Self.notified(bench).first)
        #expect(second.entries == ["rob@fabrikam.com active"])
        #expect(second.document("sip:rob@fabrikam.com")?.contains("version=\"2\"") == true)
        try bench.publish("sue@fabrikam.com", .legacyInterop(6_500))
        #expect(try Self.notified(bench).first?.document("sip:sue@fabrikam.com")?.contains("version=\"2\"") == true)
    }

    @Test(
        "RFC 4662 4.2, RFC 5367 4, RFC 3261 8.2 what the list server cannot do",
        arguments: [
            ("Supported: eventlist\r\n", Self.accept, "presence", "application/resource-lists+xml", ["rob@fabrikam.com"], 421),
            ("Require: recipient-list-subscribe\r\n", Self.accept, "presence", "application/resource-lists+xml", ["rob@fabrikam.com"], 421),
            (Self.required + "Require: frobnicate\r\n", Self.accept, "presence", "application/resource-lists+xml", ["r@fabrikam.com"], 420),
            (Self.required, "application/pidf+xml", "presence", "application/resource-lists+xml", ["rob@fabrikam.com"], 406),
            (
                Self.required, "text/xml+msrtc.pidf, application/rlmi+xml, multipart/related", "presence",
                "application/resource-lists+xml", ["rob@fabrikam.com"], 406
            ),
            (Self.required, Self.accept, "dialog", "application/resource-lists+xml", ["rob@fabrikam.com"], 489),
            (Self.required, Self.accept, "presence", "application/xml", ["rob@fabrikam.com"], 415),
            (
                Self.required + "Content-Disposition: render\r\n", Self.accept, "presence", "application/resource-lists+xml",
                ["rob@fabrikam.com"], 415
            ),
            (Self.required, Self.accept, "presence", "application/resource-lists+xml", [], 400),
            (Self.required, Self.accept, "presence", "application/resource-lists+xml", ["<entry uri=\"mailto:x@example.com\"/>"], 400),
            (Self.required, Self.accept, "presence", "application/resource-lists+xml", ["<entry/>"], 400),
            (
                Self.required, Self.accept, "presence", "application/resource-lists+xml",
                ["rob@fabrikam.com", "<external anchor=\"http://xcap.example.com/x\"/>"], 400
            ),
            (
                Self.required, Self.accept, "presence", "application/resource-lists+xml",
                ["rob@fabrikam.com", "<list><entry-ref ref=\"x\"/></list>"], 400
            ),
            (
                Self.required, Self.accept, "presence", "application/resource-lists+xml",
                ["a@fabrikam.com", "b@fabrikam.com", "c@fabrikam.com", "d@fabrikam.com"], 413
            ),
        ] as [(String, String, String, String, [String], Int)])
    func refusals(extra: String, accept: String, event: String, type: String, uris: [String], status: Int) throws {
        let bench = Self.bench { $0.limits.resourcesPerBatch = 3 }
        let text = bench.subscribe(
            "dan@example.org", to: Self.server, accept: accept, extra: extra, body: Self.body(uris), contentType: type, via: Bench.simple)
        bench.send(text.replacingOccurrences(of: "Event: presence", with: "Event: \(event)"), from: Bench.simple)
        let response = try bench.nextResponse(status, at: Bench.simple)
        switch status {
        case 420: #expect(response.headers.first(.unsupported) == "frobnicate")
        case 421:
            #expect(response.headers.first(.require) == (extra.contains("eventlist") ? "recipient-list-subscribe" : "eventlist"))
        case 489: #expect(response.headers.first(.allowEvents)?.contains("presence") == true)
        case 415: #expect(response.headers.first(.accept) == "application/resource-lists+xml")
        default: break
        }
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.isQuiet(at: Bench.simple))
        #expect(bench.gateway.counters.limitsReached == (status == 413 ? 1 : 0))
    }

    @Test("RFC 5367 4 elsewhere, and without a list server, the extension is not supported; OPTIONS names it where it is")
    func elsewhere() throws {
        let bench = Self.bench()
        Self.subscribe(bench, ["rob@fabrikam.com"], to: "rob@fabrikam.com")
        #expect(try bench.nextResponse(420, at: Bench.simple).headers.first(.unsupported) == "recipient-list-subscribe")
        let options =
            "OPTIONS sip:example.org SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.20:5060;branch=z9hG4bKo1\r\nMax-Forwards: 70\r\n"
            + "From: <sip:dan@example.org>;tag=o\r\nTo: <sip:example.org>\r\nCall-ID: o1\r\nCSeq: 1 OPTIONS\r\nContent-Length: 0\r\n\r\n"
        bench.send(options, from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.hasToken(.supported, "recipient-list-subscribe"))
        let other = Bench()
        Self.subscribe(other, ["rob@fabrikam.com"])
        _ = try other.nextResponse(420, at: Bench.simple)
        other.send(options, from: Bench.simple)
        #expect(try !other.nextResponse(200, at: Bench.simple).headers.hasToken(.supported, "recipient-list-subscribe"))
    }

    @Test("RFC 5367 4 a list in a refresh is 415 and changes nothing")
    func listInRefresh() throws {
        let bench = Self.bench()
        Self.subscribe(bench, ["rob@fabrikam.com"])
        let response = try bench.nextResponse(200, at: Bench.simple)
        _ = try Self.notified(bench)
        bench.send(
            bench.inDialog(
                response, cSeq: 2, expires: 3_600, extra: Self.required, body: Self.body(["sue@fabrikam.com"]),
                contentType: "application/resource-lists+xml", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(415, at: Bench.simple)
        bench.send(bench.inDialog(response, cSeq: 3, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try Self.notified(bench).first?.entries == ["rob@fabrikam.com active"])
    }

    @Test("RFC 4662 5.2 after a restart the versions go on, and only what changed meanwhile is told")
    func restart() throws {
        let bench = Bench(store: MemoryStore()) { $0.listServer = SIPURI("sip:\(Self.server)") }
        try bench.publish("rob@fabrikam.com", .legacyInterop(3_500))
        Self.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com", "x@example.net"])
        let response = try bench.nextResponse(200, at: Bench.simple)
        #expect(try Self.notified(bench).first?.meta.version == 0)
        bench.settle()
        try bench.restart()
        #expect(bench.isQuiet(at: Bench.simple))
        try bench.publish("sue@fabrikam.com", .legacyInterop(6_500))
        let notified = try #require(try Self.notified(bench).first)
        #expect(notified.meta.version == 1 && !notified.meta.fullState && notified.entries == ["sue@fabrikam.com active"])
        #expect(notified.meta.uri == "sip:\(Self.server)")
        bench.send(bench.inDialog(response, cSeq: 2, expires: 3_600, via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        let whole = try #require(try Self.notified(bench).first)
        #expect(whole.meta.version == 2 && whole.meta.fullState)
        #expect(
            whole.entries == ["rob@fabrikam.com active", "sue@fabrikam.com active", "x@example.net terminated rejected"])
    }

    @Test("RFC 4662 5.2 after a restart the change of one presentity is notified while another one is not known again")
    func unknownAfterRestart() throws {
        let bench = Bench(store: MemoryStore()) { $0.listServer = SIPURI("sip:\(Self.server)") }
        Self.subscribe(bench, ["sue@fabrikam.com", "bob@contoso.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(upstream, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        bench.notify(
            upstream, "active;expires=3600", cSeq: 1, type: "application/msrtc-event-categories+xml",
            body: Bench.categories("bob@contoso.com", Bench.state(6_500)), from: Bench.enterprise)
        #expect(try Self.notified(bench).last?.entries.contains("bob@contoso.com active") == true)
        bench.settle()
        try bench.restart()
        // contoso.com does not respond to the refresh.
        #expect(bench.isQuiet(at: Bench.simple))
        try bench.publish("sue@fabrikam.com", .legacyInterop(6_500))
        let notified = try Self.notified(bench)
        #expect(notified.count == 1 && notified.first?.meta.fullState == false)
        #expect(notified.first?.entries == ["sue@fabrikam.com active"])
    }

    @Test("RFC 4662 5.5 a presentity with too many watchers is listed as terminated for now; the others are watched")
    func crowded() throws {
        let bench = Self.bench { $0.limits.subscriptionsPerPresentity = 1 }
        bench.send(bench.subscribe("ann@example.org", to: "rob@fabrikam.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        _ = try bench.takeNotifies(at: Bench.simple)
        Self.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com"])
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(
            try Self.notified(bench).first?.entries == ["sue@fabrikam.com active", "rob@fabrikam.com terminated probation"])
        #expect(bench.gateway.counters.limitsReached == 1)
    }

    @Test("MS-PRES 1.3.1.3.4 to a watcher of a list who is blocked, the presentity is as one that never did anything [R081, R089]")
    func blocked() throws {
        func play(isAlive: Bool, isBlocked: Bool) throws -> [String] {
            let bench = Self.bench { $0.timing.notifySpacing = .seconds(5) }
            if isAlive {
                try bench.publish("rob@fabrikam.com", .legacyInterop(18_500, in: 32_000))
                if isBlocked { try bench.setMembers("rob@fabrikam.com", 32_000, "user:dan@example.org") }
            }
            Self.subscribe(bench, ["rob@fabrikam.com", "sue@fabrikam.com"])
            _ = try bench.nextResponse(200, at: Bench.simple)
            var seen: [String] = []
            for second in 0..<20 {
                if isAlive, second.isMultiple(of: 3) {
                    try bench.publish("rob@fabrikam.com", .legacyInterop(second.isMultiple(of: 2) ? 3_500 : 6_500, version: second / 3))
                }
                if second == 7 { try bench.publish("sue@fabrikam.com", .legacyInterop(6_500)) }
                if second == 9 { try bench.publish("sue@fabrikam.com", .legacyInterop(3_500, version: 1)) }
                for notified in try Self.notified(bench) {
                    seen.append("\(second) \(notified.entries) \(notified.document("sip:rob@fabrikam.com") ?? "")")
                }
                bench.pass(.seconds(1))
            }
            return seen
        }
        let blocked = try play(isAlive: true, isBlocked: true)
        #expect(try blocked == play(isAlive: false, isBlocked: false) && blocked.count == 3)
        #expect(blocked.allSatisfy { !$0.contains("open") })
        // Who is in no container for the blocked sees all of that life.
        let open = try play(isAlive: true, isBlocked: false)
        #expect(open.count > 3 && open.contains { $0.contains("rob@fabrikam.com active") && $0.contains("busy") })
    }
}
