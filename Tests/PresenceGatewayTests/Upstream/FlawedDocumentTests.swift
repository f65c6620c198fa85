import PresenceDocuments
import PresenceGateway
import SIPCore
import Testing

/// Notified documents that break their standard, and what their watchers see.
@Suite struct FlawedDocumentTests {
    static let pidfType = "application/pidf+xml"
    let bench = Bench()

    /// A watcher of the enterprise with what the remote domain notified first.
    func watch(_ body: String = Bench.pidf("alice@example.org", activity: "busy")) throws -> SIPRequest {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "alice@example.org"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        notify(upstream, body, cSeq: 1)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return upstream
    }

    func notify(_ upstream: SIPRequest, _ body: String, cSeq: Int) {
        bench.notify(upstream, "active;expires=3600", cSeq: cSeq, type: Self.pidfType, body: body, from: Bench.simple)
    }

    static func flawed(_ body: String) -> String {
        body.replacingOccurrences(
            of: "</status>", with: "</status><contact priority=\"0.800000\">sip:alice@example.org</contact><timestamp/>")
    }

    @Test("a NOTIFY with a flawed optional part is accepted, its watcher sees the new state, and the flaws are counted and explained once")
    func passedOver() throws {
        let upstream = try watch()
        #expect(try bench.takeNotifies().last?.text.contains("<availability>6500</availability>") == true)
        for (cSeq, basic) in [(2, "closed"), (3, "open")] {
            bench.pass(.seconds(6))
            notify(upstream, Self.flawed(Bench.pidf("alice@example.org", basic: basic)), cSeq: cSeq)
            _ = try bench.nextResponse(200, at: Bench.simple)
            let number = basic == "open" ? 3_500 : 18_500
            #expect(try bench.takeNotifies().last?.text.contains("<availability>\(number)</availability>") == true)
        }
        #expect(bench.gateway.counters.documentFlaws == 4)
        let entries = bench.gateway.journal(ofCallID: upstream.headers.callID ?? "").filter { $0.event == .flawed }
        #expect(entries.count == 1 && entries.first?.rule.contains("RFC 3863 4.1.5") == true)
    }

    @Test("an unreadable NOTIFY is 400; the state is unverified from then on, and a refresh asks for it anew")
    func unreadable() throws {
        let upstream = try watch()
        _ = try bench.takeNotifies()
        bench.pass(.seconds(6))
        notify(upstream, "<presence", cSeq: 2)
        let (answer, refresh) = try (bench.nextRequestAndResponse(at: Bench.simple))
        #expect(answer.status == .badRequest && refresh.method == .subscribe && refresh.headers.expires != 0)
        #expect(bench.gateway.counters.documentsUnreadable == 1)
        #expect(bench.gateway.journal(ofCallID: upstream.headers.callID ?? "").map(\.event) == [.refused, .unreadable])
        bench.answer(refresh, 200, from: Bench.simple, headers: [(.expires, "3600")])
        notify(upstream, Bench.pidf("alice@example.org", basic: "closed"), cSeq: 3)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try bench.takeNotifies().last?.text.contains("<availability>18500</availability>") == true)
        bench.pass(.seconds(200))
        #expect(try bench.takeNotifies().isEmpty)
    }

    @Test("a far side that goes on being unreadable is asked once in 30 s, and its presentity ends as offline")
    func staysUnreadable() throws {
        let upstream = try watch()
        _ = try bench.takeNotifies()
        bench.pass(.seconds(6))
        for cSeq in 2...8 {
            notify(upstream, "<presence", cSeq: cSeq)
            while !bench.isQuiet(at: Bench.simple) {
                if case .request(let refresh) = try bench.next(at: Bench.simple) {
                    bench.answer(refresh, 200, from: Bench.simple, headers: [(.expires, "3600")])
                }
            }
        }
        #expect(bench.gateway.counters.documentsUnreadable == 7)
        bench.pass(.seconds(29))
        #expect(bench.isQuiet(at: Bench.simple))
        bench.pass(.seconds(2))
        _ = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.pass(.seconds(70))
        #expect(try bench.takeNotifies().last?.text.contains("<availability>18500</availability>") == true)
    }

    @Test("a document that cannot be read leaves its leg unverified, whatever the far side answers, until one is read")
    func unverified() throws {
        func subscription() throws -> UpstreamReport { try #require(bench.gateway.subscriptions(at: bench.now).rows.first?.leg) }
        let upstream = try watch()
        #expect(try subscription().unverifiedSince == nil)
        bench.pass(.seconds(6))
        let since = DateTime(nanosecondsSince1970: bench.now.nanosecondsSince1970)
        notify(upstream, "<presence", cSeq: 2)
        let (_, refresh) = try (bench.nextRequestAndResponse(at: Bench.simple))
        bench.answer(refresh, 200, from: Bench.simple, headers: [(.expires, "3600")])
        #expect(try subscription().unverifiedSince == since && subscription().unreadable?.isEmpty == false)
        #expect(bench.gateway.counts.unverifiedUpstreams == 1)
        notify(upstream, Bench.pidf("alice@example.org", basic: "closed"), cSeq: 3)
        _ = try bench.nextResponse(200, at: Bench.simple)
        #expect(try subscription().unverifiedSince == nil && subscription().unreadable == nil)
    }

    @Test("asking anew that does not help is a loss: when-lost says what the watcher sees", arguments: [LostPresence.offline, .pending])
    func whenLost(_ choice: LostPresence) throws {
        let bench = Bench { $0.domains["example.org"]?.whenLost = choice }
        bench.send(bench.subscribe("ulla@contoso.com", to: "alice@example.org", via: Bench.enterprise), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        let upstream = try bench.nextRequest(.subscribe, at: Bench.simple)
        bench.answer(upstream, 200, from: Bench.simple, headers: [(.expires, "3600")])
        func notify(_ body: String, _ cSeq: Int) {
            bench.notify(upstream, "active;expires=3600", cSeq: cSeq, type: Self.pidfType, body: body, from: Bench.simple)
            while !bench.isQuiet(at: Bench.simple) {
                guard case .request(let refresh)? = try? bench.next(at: Bench.simple) else { continue }
                bench.answer(refresh, 200, from: Bench.simple, headers: [(.expires, "3600")])
            }
        }
        func last() throws -> SIPRequest? {
            bench.pass(.seconds(6))
            return try bench.takeNotifies().last
        }
        notify(Bench.pidf("alice@example.org", activity: "busy"), 1)
        #expect(try last()?.text.contains("busy") == true)
        for cSeq in 2...5 { notify("<presence", cSeq) }
        let lost = try #require(try last())
        if choice == .offline {
            #expect(lost.text.contains("<basic>closed</basic>"))
        } else {
            #expect(lost.headers.subscriptionState?.state == .pending)
        }
        notify(Bench.pidf("alice@example.org", activity: "busy"), 6)
        let again = try #require(try last())
        #expect(again.headers.subscriptionState?.state == .active && again.text.contains("busy"))
    }

    @Test("RFC 3903 6 the same flaw in a PUBLISH is 400: the user can be told")
    func published() throws {
        bench.sendPublish("carol@example.com", Self.flawed(Bench.pidf("carol@example.com")))
        _ = try bench.nextResponse(400, at: Bench.endpoint)
    }
}

extension Bench {
    /// The next response and the next request to a peer, in whatever order they left.
    fileprivate func nextRequestAndResponse(at peer: TransportAddress) throws -> (response: SIPResponse, request: SIPRequest) {
        var response: SIPResponse?
        var request: SIPRequest?
        for _ in 0..<2 {
            switch try next(at: peer) {
            case .response(let message): response = message
            case .request(let message): request = message
            }
        }
        return (try #require(response), try #require(request))
    }
}
