import PresenceGateway
import SIPCore
import SIPSecurity
import Testing

/// Partners whose servers ask this gateway for credentials.
@Suite struct PartnerChallengeTests {
    private func bench(_ credentials: PartnerCredentials? = PartnerCredentials(user: "gateway", password: "secret")) -> Bench {
        Bench { $0.domains["example.org"]?.credentials = credentials }
    }

    private func watch(_ bench: Bench, _ user: String = "alice@example.org") throws -> SIPRequest {
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: user, via: Bench.enterprise), from: Bench.enterprise)
        return try bench.nextRequest(.subscribe, at: Bench.simple)
    }

    private func challenge(
        _ bench: Bench, _ request: SIPRequest, _ status: Int = 401, nonce: String, algorithm: String = "MD5", extra: String = ""
    ) {
        bench.answer(
            request, status, from: Bench.simple,
            headers: [
                (
                    status == 401 ? .wwwAuthenticate : .proxyAuthenticate,
                    "Digest realm=\"example.org\", nonce=\"\(nonce)\", algorithm=\(algorithm), qop=\"auth,auth-int\"\(extra)"
                )
            ])
    }

    private func parameter(_ name: String, of request: SIPRequest, _ header: SIPHeaderName = .authorization) -> String? {
        guard let value = request.headers.first(header), let start = value.firstRange(of: " \(name)=")?.upperBound else { return nil }
        return String(value[start...].prefix { $0 != "," }).filter { $0 != "\"" }
    }

    /// The response of RFC 7616 3.4.1 with qop auth.
    private func proof(_ request: SIPRequest, _ header: SIPHeaderName = .authorization, _ algorithm: HashAlgorithm = .md5) -> String {
        func value(_ name: String) -> String { parameter(name, of: request, header) ?? "" }
        return DigestProof.response(
            algorithm, user: "gateway", realm: "example.org", password: "secret", method: "SUBSCRIBE", uri: request.requestURI,
            nonce: value("nonce"), counter: value("nc"), cnonce: value("cnonce"))
    }

    @Test(
        "RFC 3261 22.2, RFC 7616 3.4: a SUBSCRIBE that is challenged is sent again with credentials and the next CSeq number",
        arguments: [(401, SIPHeaderName.authorization, "MD5"), (407, .proxyAuthorization, "SHA-256")])
    func met(status: Int, header: SIPHeaderName, algorithm: String) throws {
        let bench = bench()
        let first = try watch(bench)
        #expect(!first.headers.contains(.authorization) && !first.headers.contains(.proxyAuthorization))
        challenge(bench, first, status, nonce: "n1", algorithm: algorithm)
        let again = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(again.headers.callID == first.headers.callID && again.headers.first(.from) == first.headers.first(.from))
        #expect(again.headers.cSeq?.number == 2 && again.headers.topVia?.branch != first.headers.topVia?.branch)
        #expect(parameter("nonce", of: again, header) == "n1" && parameter("nc", of: again, header) == "00000001")
        #expect(parameter("response", of: again, header) == proof(again, header, algorithm == "MD5" ? .md5 : .sha256))
        bench.answer(again, 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.notify(
            again, "active;expires=3600", cSeq: 1, type: "application/pidf+xml", body: Bench.pidf("alice@example.org"), from: Bench.simple)
        bench.clear()
        // The refresh follows in the dialog, with the number and the nonce that come next.
        bench.pass(.seconds(3_590))
        let refresh = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(refresh.headers.cSeq?.number == 3 && refresh.headers.toTag != nil)
        #expect(parameter("nonce", of: refresh, header) == "n1" && parameter("nc", of: refresh, header) == "00000002")
    }

    @Test("RFC 7616 3.3: a nonce gone stale costs one repetition; its successor is counted from 1")
    func stale() throws {
        let bench = bench()
        challenge(bench, try watch(bench), nonce: "n1")
        bench.answer(try bench.nextRequest(.subscribe, at: Bench.simple), 200, from: Bench.simple, headers: [(.expires, "3600")])
        bench.clear()
        let other = try watch(bench, "amy@example.org")
        #expect(parameter("nonce", of: other) == "n1" && parameter("nc", of: other) == "00000002")
        challenge(bench, other, nonce: "n2", extra: ", stale=true")
        let again = try bench.nextRequest(.subscribe, at: Bench.simple)
        #expect(parameter("nonce", of: again) == "n2" && parameter("nc", of: again) == "00000001")
        #expect(again.headers.cSeq?.number == 2)
    }

    @Test("credentials that are refused are not sent a third time: the partner is shown as misconfigured, the watcher is pending")
    func refused() throws {
        let bench = bench()
        challenge(bench, try watch(bench), nonce: "n1")
        challenge(bench, try bench.nextRequest(.subscribe, at: Bench.simple), nonce: "n2")
        bench.pass(.seconds(1))
        #expect(bench.isQuiet(at: Bench.simple))
        try expectFault(bench, containing: "refuses those that are configured")
    }

    @Test(
        "401 and 407 without credentials are a fault of the configuration: a notice, a row of partners, and no watcher is told rejected",
        arguments: [401, 407])
    func missing(status: Int) throws {
        let bench = bench(nil)
        challenge(bench, try watch(bench), status, nonce: "n1")
        bench.pass(.seconds(1))
        #expect(bench.isQuiet(at: Bench.simple))
        try expectFault(bench, containing: "none are configured (domains.example.org.credentials)")
        // Asked again after a pause, and told of only once.
        bench.pass(.seconds(10))
        challenge(bench, try bench.nextRequest(.subscribe, at: Bench.simple), status, nonce: "n2")
        #expect(bench.gateway.takeLogs().filter { $0.message == "partner asks for credentials" }.isEmpty)
    }

    private func expectFault(_ bench: Bench, containing words: String) throws {
        let report = try #require(bench.gateway.partnerReports.first { $0.name == "example.org" })
        #expect(report.contact.state == .up && report.contact.fault?.reason.contains(words) == true, "\(report.contact)")
        #expect(bench.gateway.takeLogs().filter { $0.message == "partner asks for credentials" && $0.level == .notice }.count == 1)
        while !bench.isQuiet(at: Bench.enterprise) {
            guard case .request(let request) = try bench.next(at: Bench.enterprise) else { continue }
            #expect(request.headers.subscriptionState?.reason?.rawValue != "rejected", "\(request.text)")
            #expect(!request.text.contains("rejected") && !request.text.contains("terminated"), "\(request.text)")
        }
    }

    @Test("a challenge without Digest, or with algorithms that are not known, is not met") func unknownOffer() throws {
        let bench = bench()
        challenge(bench, try watch(bench), nonce: "n1", algorithm: "SHA-512-256")
        bench.pass(.seconds(1))
        #expect(bench.isQuiet(at: Bench.simple))
        try expectFault(bench, containing: "offers no Digest")
    }

    @Test("RFC 3261 22.2: OPTIONS that ask whether a partner lives are signed in too") func keepAlive() throws {
        let bench = Bench {
            $0.domains["example.org"]?.credentials = PartnerCredentials(user: "gateway", password: "secret")
            $0.domains["example.org"]?.keepAlive = .seconds(30)
        }
        bench.gateway.keepPartnersAlive(at: bench.now)
        bench.pass(.seconds(6))
        let first = try bench.nextRequest(.options, at: Bench.simple)
        challenge(bench, first, 407, nonce: "n1")
        let again = try bench.nextRequest(.options, at: Bench.simple)
        #expect(again.headers.contains(.proxyAuthorization) && again.headers.cSeq?.number == 2)
    }
}
