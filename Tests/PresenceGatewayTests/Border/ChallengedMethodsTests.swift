import PresenceDocuments
import PresenceGateway
import SIPCore
import SIPSecurity
import Testing

/// Partners with servers that ask this gateway for credentials, by method; SUBSCRIBE is in ``PartnerChallengeTests``.
@Suite struct ChallengedMethodsTests {
    private static let credentials = PartnerCredentials(user: "gateway", password: "secret")
    private let words = HostedPresentityTests()
    private let home = CategoryBridgeTests()

    private func bench(_ change: (inout GatewayConfiguration) -> Void = { _ in }) -> Bench {
        Bench {
            for name in ["example.org", "contoso.com"] {
                $0.domains[name]?.credentials = Self.credentials
                $0.domains[name]?.publish = true
            }
            change(&$0)
        }
    }

    /// A watcher of a partner is subscribed to a hosted presentity; its first NOTIFY.
    private func watched(_ bench: Bench, watcher: String = "ann@example.org") throws -> SIPRequest {
        bench.send(bench.subscribe(watcher, to: "alice@example.com", via: Bench.simple), from: Bench.simple)
        _ = try bench.nextResponse(200, at: Bench.simple)
        return try bench.nextRequest(.notify, at: Bench.simple)
    }

    private func challenge(
        _ bench: Bench, _ request: SIPRequest, _ status: Int, nonce: String, extra: String = "", at peer: TransportAddress = Bench.simple
    ) {
        bench.answer(
            request, status, from: peer,
            headers: [
                (
                    status == 401 ? .wwwAuthenticate : .proxyAuthenticate,
                    "Digest realm=\"partner\", nonce=\"\(nonce)\", algorithm=MD5, qop=\"auth\"\(extra)"
                )
            ])
    }

    /// Expects credentials with this nonce, counted so often, whose response is that of RFC 7616 3.4.1.
    private func expectCredentials(
        _ request: SIPRequest, _ status: Int, nonce: String, count: Int, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let text = request.headers.first(status == 401 ? .authorization : .proxyAuthorization) ?? ""
        func value(_ name: String) -> String {
            guard let start = text.firstRange(of: " \(name)=")?.upperBound else { return "" }
            return String(text[start...].prefix { $0 != "," }).filter { $0 != "\"" }
        }
        #expect(value("nonce") == nonce && value("nc") == "0000000\(count)", "\(text)", sourceLocation: sourceLocation)
        #expect(value("uri") == request.requestURI, "\(text)", sourceLocation: sourceLocation)
        let proof = DigestProof.response(
            .md5, user: "gateway", realm: "partner", password: "secret", method: request.method.rawValue, uri: request.requestURI,
            nonce: nonce, counter: value("nc"), cnonce: value("cnonce"))
        #expect(value("response") == proof, "\(text)", sourceLocation: sourceLocation)
    }

    @Test(
        "RFC 3261 22.2, RFC 7616 3.4: a NOTIFY that is challenged is sent again in its dialog; the nonce is kept, a stale one renewed",
        arguments: [401, 407])
    func notify(status: Int) throws {
        let bench = bench()
        let first = try watched(bench)
        #expect(!first.headers.contains(.authorization) && !first.headers.contains(.proxyAuthorization))
        challenge(bench, first, status, nonce: "n1")
        let again = try bench.nextRequest(.notify, at: Bench.simple)
        expectCredentials(again, status, nonce: "n1", count: 1)
        #expect(again.body == first.body && again.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1)
        #expect(again.headers.callID == first.headers.callID && again.headers.topVia?.branch != first.headers.topVia?.branch)
        bench.answer(again, 200, from: Bench.simple)

        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        let change = try bench.nextRequest(.notify, at: Bench.simple)
        expectCredentials(change, status, nonce: "n1", count: 2)
        challenge(bench, change, status, nonce: "n2", extra: ", stale=true")
        let fresh = try bench.nextRequest(.notify, at: Bench.simple)
        expectCredentials(fresh, status, nonce: "n2", count: 1)
        #expect(fresh.text.contains("busy"))
        bench.answer(fresh, 200, from: Bench.simple)
        #expect(bench.gateway.partnerReports.allSatisfy { $0.contact.fault == nil })
    }

    @Test(
        "RFC 5057 5.1: 401 and 407 to a NOTIFY without credentials for it end nothing: a fault of the configuration, tried again",
        arguments: [401, 407])
    func unmetNotify(status: Int) throws {
        let bench = bench { $0.domains["example.org"]?.credentials = nil }
        challenge(bench, try watched(bench), status, nonce: "n1")
        let report = try #require(bench.gateway.partnerReports.first { $0.name == "example.org" })
        #expect(
            report.contact.fault?.reason
                == "answered \(status) to NOTIFY: asks for credentials; none are configured (domains.example.org.credentials)")
        #expect(bench.gateway.takeLogs().filter { $0.message == "partner asks for credentials" && $0.level == .notice }.count == 1)
        // The newest state is tried again after growing pauses.
        words.publish(bench, "alice@example.com", body: Bench.pidf("alice@example.com", activity: "busy"))
        _ = try bench.nextResponse(200, at: HostedPresentityTests.client)
        var moments: [Instant] = []
        for _ in 0..<8 {
            while bench.isQuiet(at: Bench.simple) { bench.pass(.milliseconds(250)) }
            moments.append(bench.now)
            let again = try bench.nextRequest(.notify, at: Bench.simple)
            #expect(again.text.contains("busy"))
            challenge(bench, again, status, nonce: "n1")
        }
        let pauses = zip(moments, moments.dropFirst()).map { $1 - $0 }
        #expect(zip(pauses, pauses.dropFirst()).prefix(3).allSatisfy { $0 < $1 } && pauses.allSatisfy { $0 <= .milliseconds(30_250) })
        #expect(bench.gateway.counts.watcherDialogs == 1)
        #expect(bench.gateway.takeLogs().filter { $0.message == "partner asks for credentials" }.isEmpty)
        // The operator names the credentials: the state arrives, and the fault is over.
        bench.reconfigure { $0.domains["example.org"]?.credentials = Self.credentials }
        bench.pass(.seconds(30))
        challenge(bench, try bench.nextRequest(.notify, at: Bench.simple), status, nonce: "n3")
        let met = try bench.nextRequest(.notify, at: Bench.simple)
        expectCredentials(met, status, nonce: "n3", count: 1)
        #expect(met.text.contains("busy"))
        bench.answer(met, 200, from: Bench.simple)
        #expect(bench.gateway.partnerReports.allSatisfy { $0.contact.fault == nil })
        #expect(bench.gateway.counts.watcherDialogs == 1)
    }

    @Test("a challenge of NOTIFYs that is never met ends the watcher's dialog after the configured patience, and not before")
    func patience() throws {
        let bench = bench {
            $0.domains["example.org"]?.credentials = nil
            $0.timing.notifyPatience = .seconds(120)
        }
        let start = bench.now
        challenge(bench, try watched(bench), 401, nonce: "n1")
        while bench.gateway.counts.watcherDialogs > 0, bench.now - start < .seconds(600) {
            bench.pass(.seconds(1))
            while !bench.isQuiet(at: Bench.simple) { challenge(bench, try bench.nextRequest(.notify, at: Bench.simple), 401, nonce: "n1") }
        }
        #expect(bench.now - start >= .seconds(120) && bench.now - start <= .seconds(152))
        bench.pass(.seconds(600))
        #expect(bench.isQuiet(at: Bench.simple))
    }

    @Test("a fault of one method is not over because another is accepted")
    func faultOfMethod() throws {
        let bench = bench { $0.domains["example.org"]?.credentials = nil }
        challenge(bench, try watched(bench), 407, nonce: "n1")
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "amy@example.org", via: Bench.enterprise), from: Bench.enterprise)
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.simple), 200, from: Bench.simple, headers: [(.expires, "3600")])
        let report = try #require(bench.gateway.partnerReports.first { $0.name == "example.org" })
        #expect(report.contact.fault?.reason.contains("407 to NOTIFY") == true)
    }

    @Test(
        "RFC 3261 22.2, RFC 3903: a PUBLISH that is challenged is sent again with the next CSeq number; nonce kept, stale renewed",
        arguments: [401, 407])
    func publish(status: Int) throws {
        let bench = bench()
        let alice = PIDFBridgeTests.alice
        bench.service(alice, body: Bench.publishBody(alice, [.state(6_500)]))
        let first = try bench.nextRequest(.publish, at: Bench.simple)
        challenge(bench, first, status, nonce: "n1")
        let again = try bench.nextRequest(.publish, at: Bench.simple)
        expectCredentials(again, status, nonce: "n1", count: 1)
        #expect(again.body == first.body && again.headers.callID == first.headers.callID)
        #expect(again.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1)
        #expect(bench.isQuiet(at: PIDFBridgeTests.place))
        bench.answer(again, 200, from: Bench.simple, headers: [(.sipETag, "e1"), (.expires, "3600")])
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.place)

        bench.service(alice, body: Bench.publishBody(alice, [.state(3_500, version: 1)]))
        let change = try bench.nextRequest(.publish, at: Bench.simple)
        expectCredentials(change, status, nonce: "n1", count: 2)
        #expect(change.headers.sipIfMatch == "e1" && (change.headers.cSeq?.number ?? 0) > (again.headers.cSeq?.number ?? 0))
        challenge(bench, change, status, nonce: "n2", extra: ", stale=true")
        let fresh = try bench.nextRequest(.publish, at: Bench.simple)
        expectCredentials(fresh, status, nonce: "n2", count: 1)
        #expect(fresh.headers.sipIfMatch == "e1" && fresh.body == change.body)
        bench.answer(fresh, 200, from: Bench.simple, headers: [(.sipETag, "e2"), (.expires, "3600")])
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.place)
    }

    @Test("RFC 5057 5.1: the refresh of a publication that is challenged in vain is asked again with its entity-tag, the change is 502")
    func unmetPublish() throws {
        let bench = bench { $0.domains["example.org"]?.credentials = nil }
        let alice = PIDFBridgeTests.alice
        bench.service(alice, body: Bench.publishBody(alice, [.note("Back soon")]))
        bench.answer(
            try bench.nextRequest(.publish, at: Bench.simple), 200, from: Bench.simple, headers: [(.sipETag, "e1"), (.expires, "3600")])
        _ = try bench.nextResponse(200, at: PIDFBridgeTests.place)
        bench.pass(.seconds(2_701))
        challenge(bench, try bench.nextRequest(.publish, at: Bench.simple), 401, nonce: "n1")
        let fault = bench.gateway.partnerReports.first { $0.name == "example.org" }?.contact.fault
        #expect(fault?.reason.hasPrefix("answered 401 to PUBLISH: asks for credentials") == true)
        bench.pass(.seconds(10))
        let again = try bench.nextRequest(.publish, at: Bench.simple)
        #expect(again.headers.sipIfMatch == "e1" && again.body.isEmpty)
        bench.answer(again, 200, from: Bench.simple, headers: [(.sipETag, "e2"), (.expires, "3600")])
        #expect(bench.gateway.partnerReports.allSatisfy { $0.contact.fault == nil })
        bench.service(alice, body: Bench.publishBody(alice, [.state(6_500)]))
        challenge(bench, try bench.nextRequest(.publish, at: Bench.simple), 401, nonce: "n1")
        _ = try bench.nextResponse(502, at: PIDFBridgeTests.place)
    }

    @Test(
        "RFC 3261 22.2: a SERVICE that is challenged is sent again with the next CSeq number; nonce kept, stale renewed",
        arguments: [401, 407])
    func service(status: Int) throws {
        let bench = bench()
        home.publish(bench, activity: "busy")
        let first = try bench.nextRequest(.service, at: Bench.enterprise)
        challenge(bench, first, status, nonce: "n1", at: Bench.enterprise)
        let again = try bench.nextRequest(.service, at: Bench.enterprise)
        expectCredentials(again, status, nonce: "n1", count: 1)
        #expect(again.body == first.body && again.headers.callID == first.headers.callID)
        #expect(again.headers.cSeq?.number == (first.headers.cSeq?.number ?? 0) + 1)
        try home.accept(bench, again, version: 1)
        let tag = try home.tag(bench)

        home.publish(bench, activity: "away", ifMatch: tag)
        let change = try bench.nextRequest(.service, at: Bench.enterprise)
        expectCredentials(change, status, nonce: "n1", count: 2)
        challenge(bench, change, status, nonce: "n2", extra: ", stale=true", at: Bench.enterprise)
        let fresh = try bench.nextRequest(.service, at: Bench.enterprise)
        expectCredentials(fresh, status, nonce: "n2", count: 1)
        try home.accept(bench, fresh, version: 2)
        _ = try home.tag(bench)
    }

    @Test("a SERVICE that is challenged in vain is 502, and what it would take back is asked for again")
    func unmetService() throws {
        let bench = bench { $0.domains["contoso.com"]?.credentials = nil }
        home.publish(bench, activity: "busy")
        challenge(bench, try bench.nextRequest(.service, at: Bench.enterprise), 401, nonce: "n1", at: Bench.enterprise)
        _ = try bench.nextResponse(502, at: CategoryBridgeTests.client)
        home.publish(bench, activity: "busy")
        try home.accept(bench, try bench.nextRequest(.service, at: Bench.enterprise), version: 1)
        let tag = try home.tag(bench)
        words.publish(bench, CategoryBridgeTests.bob, body: "", ifMatch: tag, expires: 0)
        challenge(bench, try bench.nextRequest(.service, at: Bench.enterprise), 401, nonce: "n1", at: Bench.enterprise)
        _ = try bench.nextResponse(200, at: CategoryBridgeTests.client)
        let fault = bench.gateway.partnerReports.first { $0.name == "contoso.com" }?.contact.fault
        #expect(fault?.reason.hasPrefix("answered 401 to SERVICE: asks for credentials") == true)
        bench.pass(.seconds(301))
        let removal = try bench.nextRequest(.service, at: Bench.enterprise)
        #expect(try home.publications(removal).allSatisfy(\.isRemoval))
    }

    @Test("RFC 3261 22.2: OPTIONS keep their nonce, and a stale one is renewed", arguments: [401, 407])
    func options(status: Int) throws {
        let bench = bench { $0.domains["example.org"]?.keepAlive = .seconds(30) }
        bench.gateway.keepPartnersAlive(at: bench.now)
        bench.pass(.seconds(6))
        challenge(bench, try bench.nextRequest(.options, at: Bench.simple), status, nonce: "n1")
        let again = try bench.nextRequest(.options, at: Bench.simple)
        expectCredentials(again, status, nonce: "n1", count: 1)
        bench.answer(again, 200, from: Bench.simple)
        bench.pass(.seconds(30))
        let next = try bench.nextRequest(.options, at: Bench.simple)
        expectCredentials(next, status, nonce: "n1", count: 2)
        challenge(bench, next, status, nonce: "n2", extra: ", stale=true")
        expectCredentials(try bench.nextRequest(.options, at: Bench.simple), status, nonce: "n2", count: 1)
    }
}
