import PresenceGateway
import SIPCore
import Testing

/// RFC 6665 on both legs of one bridge; see docs/event-framework.md.
@Suite struct DialogHygieneTests {
    private static let type = "application/msrtc-event-categories+xml"

    /// A PIDF watcher of an enterprise user, accepted by the remote domain; the test sends the state.
    private func bridge(
        _ bench: Bench, expires: Int = 3_600, granted: Int = 3_600
    ) throws -> (accepted: SIPResponse, far: SIPRequest) {
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: expires, via: Bench.simple), from: Bench.simple)
        let accepted = try bench.nextResponse(200, at: Bench.simple)
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(far, 200, from: Bench.enterprise, headers: [(.expires, String(granted))])
        return (accepted, far)
    }

    /// The same, with a state that the watcher was told.
    private func live(_ bench: Bench, expires: Int = 3_600, granted: Int = 3_600) throws -> (accepted: SIPResponse, far: SIPRequest) {
        let (accepted, far) = try bridge(bench, expires: expires, granted: granted)
        notify(bench, far, 3_500, cSeq: 1, state: "active;expires=\(granted)")
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        return (accepted, far)
    }

    private func notify(
        _ bench: Bench, _ far: SIPRequest, _ availability: Int, cSeq: Int, state: String = "active;expires=3600", tag: String? = nil
    ) {
        bench.notify(
            far, state, cSeq: cSeq, type: Self.type, body: Bench.categories("bob@contoso.com", Bench.state(availability)),
            from: Bench.enterprise, tag: tag)
        bench.swallowAnswer(at: Bench.enterprise)
    }

    private func lines(
        _ far: SIPRequest, cSeq: Int, tag: String, event: String = "presence", contact: String? = "<sip:192.0.2.10>", extra: String = "",
        expires: Int = 3_600
    )
        -> String
    {
        "NOTIFY \(far.headers.contact?.uri.description ?? "") SIP/2.0\r\nVia: SIP/2.0/UDP 192.0.2.10:5060;branch=z9hG4bKx\(cSeq)\(tag)\(event.utf8.count)\r\n"
            + "Max-Forwards: 70\r\nFrom: <sip:bob@contoso.com>;tag=\(tag)\r\nTo: \(far.headers.first(.from) ?? "")\r\n"
            + "Call-ID: \(far.headers.callID ?? "")\r\nCSeq: \(cSeq) NOTIFY\r\n" + (contact.map { "Contact: \($0)\r\n" } ?? "")
            + "Event: \(event)\r\nSubscription-State: active;expires=\(expires)\r\n\(extra)Content-Length: 0\r\n\r\n"
    }

    // MARK: the upstream subscription's NOTIFYs

    @Test("RFC 6665 4.1.3, 4.2.1: a NOTIFY that belongs to nothing is 481, of another event 489, of another id 481, without Contact 400")
    func strayNotify() throws {
        let bench = Bench()
        let (_, far) = try bridge(bench)
        let tag = "far\(far.headers.fromTag ?? "")"
        let cases: [(String, Int)] = [
            (lines(far, cSeq: 1, tag: tag, event: "presence.winfo"), 489), (lines(far, cSeq: 2, tag: tag, event: "presence;id=7"), 481),
            (lines(far, cSeq: 3, tag: tag, contact: nil), 400),
            (lines(far, cSeq: 4, tag: tag).replacingOccurrences(of: "Call-ID: ", with: "Call-ID: x"), 481),
        ]
        for (text, status) in cases {
            bench.send(text, from: Bench.enterprise)
            _ = try bench.nextResponse(status, at: Bench.enterprise)
        }
        bench.send(lines(far, cSeq: 5, tag: tag), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
    }

    @Test("RFC 3856 6.9, RFC 6665 4.4.1: of a forked SUBSCRIBE the first dialog that notifies is kept, the others get 481")
    func forked() throws {
        let bench = Bench()
        let (_, far) = try bridge(bench)
        // The 200 came from one branch; the other one notifies first, by its own route.
        bench.send(
            lines(far, cSeq: 1, tag: "other", contact: "<sip:192.0.2.10;branch=2>", extra: "Record-Route: <sip:192.0.2.10;lr>\r\n"),
            from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.send(lines(far, cSeq: 1, tag: "far\(far.headers.fromTag ?? "")"), from: Bench.enterprise)
        _ = try bench.nextResponse(481, at: Bench.enterprise)
        bench.send(lines(far, cSeq: 9, tag: "third"), from: Bench.enterprise)
        _ = try bench.nextResponse(481, at: Bench.enterprise)
        bench.clear()
        bench.pass(.seconds(2_700))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.expires != 0 && refresh.headers.toTag == "other")
        #expect(refresh.requestURI == "sip:192.0.2.10;branch=2")
        #expect(refresh.headers.routes.map(\.uri.description) == ["sip:192.0.2.10;lr"])
    }

    @Test("RFC 3261 12.2.2 a NOTIFY that was overtaken is 500, and its older state is never shown")
    func overtaken() throws {
        let bench = Bench { $0.timing.notifySpacing = .zero }
        let (_, far) = try live(bench)
        notify(bench, far, 15_500, cSeq: 3)
        let newer = try bench.nextRequest(.notify, at: Bench.simple)
        bench.answer(newer, 200, from: Bench.simple)
        bench.notify(
            far, "active;expires=3600", cSeq: 2, type: Self.type, body: Bench.categories("bob@contoso.com", Bench.state(3_500)),
            from: Bench.enterprise)
        _ = try bench.nextResponse(500, at: Bench.enterprise)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    // MARK: target and route

    @Test("RFC 6665 4.4.1, RFC 3261 12.2.1.2: a new Contact in NOTIFY and in the 200 moves the next request, strict routers are obeyed")
    func targetRefresh() throws {
        let bench = Bench()
        let (_, far) = try bridge(bench, granted: 1_200)
        let tag = "far\(far.headers.fromTag ?? "")"
        bench.send(
            lines(
                far, cSeq: 1, tag: tag, contact: "<sip:one.contoso.com>", extra: "Record-Route: <sip:192.0.2.10:5060>\r\n", expires: 1_200),
            from: Bench.enterprise)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), 200, from: Bench.simple)
        bench.send(lines(far, cSeq: 2, tag: tag, contact: "<sip:two.contoso.com>", expires: 1_200), from: Bench.enterprise)
        bench.clear()
        bench.pass(.seconds(900))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(refresh.headers.expires != 0)
        #expect(refresh.requestURI == "sip:192.0.2.10:5060")
        #expect(refresh.headers.routes.map(\.uri.description) == ["sip:two.contoso.com"])
        bench.answer(refresh, 200, from: Bench.enterprise, headers: [(.expires, "1200"), (.contact, "<sip:three.contoso.com>")])
        bench.send(lines(far, cSeq: 3, tag: tag, contact: "<sip:three.contoso.com>", expires: 1_200), from: Bench.enterprise)
        bench.clear()
        bench.pass(.seconds(900))
        #expect(try bench.nextRequest(.subscribe, at: Bench.enterprise).headers.routes.map(\.uri.description) == ["sip:three.contoso.com"])
    }

    @Test("RFC 6665 4.2.1, RFC 3261 12.1.1: a SUBSCRIBE needs a Contact that can be used, and Max-Forwards")
    func badSubscribe() throws {
        let bench = Bench()
        let good = bench.subscribe("ann@example.org", to: "bob@contoso.com", via: Bench.simple)
        for (old, new, status) in [
            ("Contact: <sip:192.0.2.20:5060>\r\n", "", 400), ("Contact: <sip:192.0.2.20:5060>", "Contact: <mailto:ann@example.org>", 400),
            ("Contact: <sip:192.0.2.20:5060>", "Contact: *", 400), ("Max-Forwards: 70", "Max-Forwards: 0", 483),
        ] {
            let text = good.replacingOccurrences(of: old, with: new)
                .replacingOccurrences(of: "branch=z9hG4bK", with: "branch=z9hG4bK\(bench.number())")
                .replacingOccurrences(of: "Call-ID: call", with: "Call-ID: \(bench.number())call")
            bench.send(text, from: Bench.simple)
            _ = try bench.nextResponse(status, at: Bench.simple)
        }
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
    }

    // MARK: expiry of two sides

    @Test("each side has its own range: the watcher gets its side's, the far side is asked for its own and may insist")
    func negotiation() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.expires = .init(minimum: 60, standard: 600, maximum: 43_200)
            $0.domains["example.org"]?.expires = .init(minimum: 120, standard: 300, maximum: 900)
        }
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 60, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(423, at: Bench.simple).headers.minExpires == 120)
        bench.send(bench.subscribe("ann@example.org", to: "bob@contoso.com", expires: 86_400, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.expires == 900)
        let brief = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(brief.headers.expires == 600)
        bench.answer(brief, 423, from: Bench.enterprise, headers: [(.minExpires, "1200")])
        let far = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(far.headers.expires == 1_200)
        bench.answer(far, 200, from: Bench.enterprise, headers: [(.expires, "1200")])
        notify(bench, far, 3_500, cSeq: 1, state: "active;expires=1200")
        #expect(try bench.nextRequest(.notify, at: Bench.simple).headers.subscriptionState?.expires == 900)
    }

    @Test("a far grant that outlives the watcher's subscription ends with it, by an unsubscription")
    func upstreamGrantOutlives() throws {
        let bench = Bench()
        let (_, far) = try live(bench, expires: 600, granted: 28_800)
        bench.clear()
        bench.pass(.seconds(600))
        let last = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(last.headers.subscriptionState?.reason == .timeout)
        bench.answer(last, 200, from: Bench.simple)
        let goodbye = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(goodbye.headers.expires == 0 && goodbye.headers.toTag != nil && goodbye.headers.callID == far.headers.callID)
        bench.answer(goodbye, 200, from: Bench.enterprise, headers: [(.expires, "0")])
        bench.notify(far, "terminated;reason=timeout", cSeq: 2, from: Bench.enterprise)
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
        bench.pass(.seconds(60))
        #expect(bench.gateway.counts.timers == 0 && bench.gateway.counts.transactions == 0)
    }

    @Test("a shorter far grant is refreshed as long as the watcher lives, and nobody asks after that")
    func upstreamGrantIsShort() throws {
        let bench = Bench()
        let (accepted, far) = try live(bench, expires: 600, granted: 120)
        bench.clear()
        var refreshes = 0
        var cSeq = 2
        for _ in 0..<20 {
            bench.pass(.seconds(30))
            while !bench.isQuiet(at: Bench.enterprise) {
                guard case .request(let request) = try bench.next(at: Bench.enterprise), request.method == .subscribe else { continue }
                if request.headers.expires == 0 { continue }
                refreshes += 1
                bench.answer(request, 200, from: Bench.enterprise, headers: [(.expires, "120")])
                notify(bench, far, 3_500, cSeq: cSeq, state: "active;expires=120")
                cSeq += 1
            }
        }
        #expect((4...8).contains(refreshes))
        #expect(accepted.headers.expires == 600)
        #expect(bench.gateway.counts.watcherDialogs <= 1)
        bench.pass(.seconds(200))
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
    }

    @Test("the watcher's expiry does not depend on a far side that has died")
    func nearExpiresAlone() throws {
        let bench = Bench()
        let (_, far) = try live(bench, expires: 300)
        lose(bench, far)
        bench.pass(.seconds(101))
        let offline = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(offline.headers.subscriptionState?.expires == 200 && offline.text.contains("<basic>closed</basic>"))
        bench.answer(offline, 200, from: Bench.simple)
        bench.pass(.seconds(198))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(1))
        #expect(try bench.nextRequest(.notify, at: Bench.simple).headers.subscriptionState?.reason == .timeout)
        bench.pass(.seconds(120))
        #expect(bench.gateway.counts.watcherDialogs == 0 && bench.gateway.counts.upstreamSubscriptions == 0)
        #expect(bench.gateway.counts.timers == 0)
    }

    // MARK: a subscription dies

    /// The remote domain ends a live bridge and asks to wait.
    private func lose(_ bench: Bench, _ far: SIPRequest, cSeq: Int = 2) {
        bench.notify(far, "terminated;reason=probation;retry-after=50", cSeq: cSeq, from: Bench.enterprise)
        bench.swallowAnswer(at: Bench.enterprise)
    }

    private func comeBack(_ bench: Bench, availability: Int) throws {
        for _ in 0..<100 where bench.isQuiet(at: Bench.enterprise) { bench.pass(.seconds(1)) }
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        bench.answer(anew, 200, from: Bench.enterprise, headers: [(.expires, "3600")])
        notify(bench, anew, availability, cSeq: 1)
    }

    @Test("RFC 6665 4.1.3 when-lost pending: the watcher is pending at once, without a document, and active with the first news")
    func lostPending() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.whenLost = .pending; $0.timing.notifySpacing = .zero
        }
        let (_, far) = try live(bench)
        lose(bench, far)
        let pending = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(pending.headers.subscriptionState?.state == .pending && pending.body.isEmpty)
        bench.answer(pending, 200, from: Bench.simple)
        bench.pass(.seconds(10))
        #expect(bench.isQuiet(at: Bench.simple))
        try comeBack(bench, availability: 3_500)
        let active = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(active.headers.subscriptionState?.state == .active && active.text.contains("<basic>open</basic>"))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("when-lost stale: the last state stands for a while, then the presentity is offline; what comes back is told")
    func lostStale() throws {
        let bench = Bench {
            $0.timing.staleAfter = .seconds(30); $0.timing.notifySpacing = .zero
        }
        let (_, far) = try live(bench)
        lose(bench, far)
        bench.pass(.seconds(29))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(1))
        let offline = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(offline.headers.subscriptionState?.state == .active && offline.text.contains("<basic>closed</basic>"))
        bench.answer(offline, 200, from: Bench.simple)
        try comeBack(bench, availability: 3_500)
        #expect(try bench.nextRequest(.notify, at: Bench.simple).text.contains("<basic>open</basic>"))
    }

    @Test("when-lost offline: the presentity is offline at once")
    func lostOffline() throws {
        let bench = Bench {
            $0.domains["contoso.com"]?.whenLost = .offline; $0.timing.notifySpacing = .zero
        }
        let (_, far) = try live(bench)
        lose(bench, far)
        let offline = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(offline.headers.subscriptionState?.state == .active && offline.text.contains("<basic>closed</basic>"))
    }

    @Test("RFC 6665 4.1.3 a far side that only moves its subscriptions is lost to nobody", arguments: LostPresence.allCases)
    func moved(whenLost: LostPresence) throws {
        let bench = Bench { $0.domains["contoso.com"]?.whenLost = whenLost }
        let (_, far) = try live(bench)
        bench.clear()
        bench.notify(far, "terminated;reason=deactivated", cSeq: 2, from: Bench.enterprise)
        bench.swallowAnswer(at: Bench.enterprise)
        bench.pass(.milliseconds(1))
        let anew = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(anew.headers.callID != far.headers.callID && anew.headers.toTag == nil)
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("what was never known stays pending while the far side is asked again with growing pauses, never in step with others")
    func neverKnown() throws {
        let bench = Bench()
        for number in 0..<8 {
            bench.send(bench.subscribe("ann\(number)@example.org", to: "bob@contoso.com", via: Bench.simple), from: Bench.simple)
            _ = try bench.nextResponse(200, at: Bench.simple)
            bench.answer(try bench.nextRequest(.subscribe, at: Bench.enterprise), 503, from: Bench.enterprise)
        }
        let refused = bench.now
        bench.pass(.seconds(1))
        for _ in 0..<8 {
            let notified = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(notified.headers.subscriptionState?.state == .pending)
            bench.answer(notified, 200, from: Bench.simple)
        }
        // When each of them is asked for again, three times over.
        var asked: [String: [Instant]] = [:]
        while bench.now - refused < .seconds(45) {
            bench.pass(.milliseconds(10))
            while !bench.isQuiet(at: Bench.enterprise) {
                let again = try bench.nextRequest(.subscribe, at: Bench.enterprise)
                asked[again.headers.from?.uri.user ?? "", default: []].append(bench.now)
                bench.answer(again, 503, from: Bench.enterprise)
            }
        }
        #expect(asked.count == 8)
        for (watcher, moments) in asked {
            let pauses = zip([refused] + moments, moments).map { $1 - $0 }
            #expect(pauses.count == 3 && zip(pauses, pauses.dropFirst()).allSatisfy { $0 < $1 }, "\(watcher): \(pauses)")
        }
        for round in 0..<3 { #expect(Set(asked.values.compactMap { $0.dropFirst(round).first }).count > 4) }
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("RFC 6665 4.2.2 a watcher that is gone ends the far leg", arguments: [481, 404, 489])
    func nearDies(status: Int) throws {
        let bench = Bench { $0.timing.notifySpacing = .zero }
        let (_, far) = try live(bench)
        bench.clear()
        notify(bench, far, 15_500, cSeq: 2)
        bench.answer(try bench.nextRequest(.notify, at: Bench.simple), status, from: Bench.simple)
        let goodbye = try bench.nextRequest(.subscribe, at: Bench.enterprise)
        #expect(goodbye.headers.expires == 0)
        #expect(bench.gateway.counts.watcherDialogs == 0)
    }

    @Test("RFC 6665 4.2.1.2 a refresh while the far side rests is answered and notified as ever")
    func refreshWhileResting() throws {
        let bench = Bench()
        let (accepted, far) = try live(bench)
        lose(bench, far)
        bench.clear()
        bench.send(bench.inDialog(accepted, cSeq: 2, expires: 1_800, via: Bench.simple), from: Bench.simple)
        #expect(try bench.nextResponse(200, at: Bench.simple).headers.expires == 1_800)
        let notified = try bench.nextRequest(.notify, at: Bench.simple)
        #expect(notified.headers.subscriptionState?.expires == 1_800 && notified.text.contains("<basic>open</basic>"))
        #expect(bench.isQuiet(at: Bench.enterprise))
    }
}

extension Bench {
    /// Forgets the answers that wait at a peer, and nothing else.
    func swallowAnswer(at peer: TransportAddress) {
        drop(at: peer) { if case .response = $0 { true } else { false } }
    }
}
