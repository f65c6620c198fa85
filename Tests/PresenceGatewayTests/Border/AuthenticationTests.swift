import PresenceGateway
import SIPCore
import SIPSecurity
import Testing

/// Users of hosted domains sign in where their listener asks for it; what their clients get is signed.
@Suite struct AuthenticationTests {
    /// A client of fabrikam.com on its own connection.
    static let client = TransportAddress(.tcp, "192.0.2.30", 5060)
    static let connection = ConnectionID(rawValue: 30)
    /// A user agent of example.com.
    static let agent = TransportAddress(.udp, "192.0.2.40", 5060)

    private func bench(
        _ schemes: ListenerAuthentication.Schemes = .any, failures: Int = 20, algorithms: [DigestAlgorithm]? = nil
    ) throws -> Bench {
        var limits = AuthenticationLimits()
        limits.failures = failures
        var accounts: [LoginName: Account] = [:]
        for (user, domain) in [("rob", "fabrikam.com"), ("sue", "fabrikam.com"), ("ann", "example.com")] {
            accounts[LoginName(user: user, domain: domain)] = Account(
                identity: "sip:\(user)@\(domain)", verifiers: try CredentialVerifiers(user: user, realm: domain, password: "pw-\(user)-7xQ")
            )
        }
        let known = accounts
        let authenticator = Authenticator(
            targetName: "edge1.example.net", secret: [UInt8](repeating: 1, count: 32), limits: limits, lookup: { known[$0] })
        return Bench(authenticator: authenticator) {
            $0.authentication = [
                Bench.local: ListenerAuthentication(schemes, digestAlgorithms: algorithms),
                Bench.localTCP: ListenerAuthentication(schemes, digestAlgorithms: algorithms),
            ]
            $0.logLevel = .debug
        }
    }

    private func ntlm(_ user: String, password: String? = nil, salt: UInt8 = 2) -> NTLMClient {
        NTLMClient(
            user: user, domain: "FABRIKAM", password: password ?? "pw-\(user)-7xQ", secret: [UInt8](repeating: salt, count: 32))
    }

    private func digest(_ user: String, password: String? = nil) -> DigestClient {
        DigestClient(user: user, password: password ?? "pw-\(user)-7xQ", secret: [UInt8](repeating: 5, count: 32))
    }

    /// The text as a request, with other headers.
    private func request(_ text: String, _ change: (inout SIPHeaders) -> Void = { _ in }) throws -> SIPRequest {
        guard case .success(.request(var request)) = SIPParser.parse(Array(text.utf8)) else { throw Bench.Unexpected() }
        change(&request.headers)
        return request
    }

    /// The SUBSCRIBE of a client of fabrikam.com, each time with a new Via branch.
    private func subscribe(_ bench: Bench, _ user: String, to presentity: String = "sue@fabrikam.com", extra: String = "") throws
        -> SIPRequest
    {
        try request(bench.categorySubscribe("\(user)@fabrikam.com", to: presentity, extra: extra, via: Self.client))
    }

    private func send(_ request: SIPRequest, _ bench: Bench) {
        bench.send(.request(request), from: Self.client, connection: Self.connection)
    }

    /// Both challenges and the accepted third attempt.
    private func signIn(_ client: inout NTLMClient, _ bench: Bench, _ user: String, extra: String = "") throws -> SIPResponse {
        for _ in 0..<2 {
            var attempt = try subscribe(bench, user, extra: extra)
            client.authorize(&attempt)
            send(attempt, bench)
            let isWorthTrying = client.receive(challenge: try bench.nextResponse(401, at: Self.client))
            try #require(isWorthTrying)
        }
        var attempt = try subscribe(bench, user, extra: extra)
        client.authorize(&attempt)
        send(attempt, bench)
        return try bench.nextResponse(200, at: Self.client)
    }

    private func publish(
        _ bench: Bench, from: String = "ann@example.com", to: String = "ann@example.com", via agent: TransportAddress = Self.agent
    ) throws -> SIPRequest {
        let id = bench.number()
        let body = Bench.pidf("ann@example.com")
        return try request(
            "PUBLISH sip:\(to) SIP/2.0\r\nVia: SIP/2.0/UDP \(agent.host):\(agent.port);branch=z9hG4bKa\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(from)>;tag=a\(id)\r\nTo: <sip:\(to)>\r\nCall-ID: a\(id)\r\nCSeq: 1 PUBLISH\r\nEvent: presence\r\n"
                + "Content-Type: application/pidf+xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    // MARK: NTLM

    @Test("MS-SIPAE 3.3.5.1: a client that signs in with NTLM gets signed answers")
    func signsAnswers() throws {
        let bench = try bench()
        var client = ntlm("rob")
        let response = try signIn(&client, bench, "rob")
        #expect(client.verifies(response.headers, status: .ok))
        #expect(bench.gateway.counts.securityAssociations == 1)
        #expect(bench.gateway.counters.requestsAuthenticated == 1 && bench.gateway.counters.requestsChallenged == 2)
    }

    @Test("MS-SIPAE 3.3.4: NOTIFY and BENOTIFY to a client with an association are signed", arguments: [false, true])
    func signsNotifications(_ isBestEffort: Bool) throws {
        let bench = try bench()
        var client = ntlm("rob")
        let extra = isBestEffort ? "Supported: ms-benotify\r\nProxy-Require: ms-benotify\r\n" : ""
        _ = try signIn(&client, bench, "rob", extra: extra)
        var sue = ntlm("sue", salt: 9)
        let elsewhere = TransportAddress(.tcp, "192.0.2.31", 5060)
        for _ in 0..<3 {
            var service = try service(bench, "sue@fabrikam.com")
            sue.authorize(&service)
            bench.send(.request(service), from: elsewhere, connection: ConnectionID(rawValue: 31))
            if case .response(let response) = try bench.next(at: elsewhere), response.status == .unauthorized {
                _ = sue.receive(challenge: response)
            }
        }
        let notify = try bench.nextRequest(isBestEffort ? .benotify : .notify, at: Self.client)
        #expect(notify.text.contains("6500"))
        #expect(client.verifies(notify.headers, status: nil))
        #expect(!sue.verifies(notify.headers, status: nil))
    }

    private func service(_ bench: Bench, _ user: String) throws -> SIPRequest {
        let id = bench.number()
        let body =
            "<publish xmlns=\"http://schemas.microsoft.com/2006/09/sip/rich-presence\"><publications uri=\"sip:\(user)\">"
            + "<publication categoryName=\"state\" instance=\"1\" container=\"0\" version=\"0\" expireType=\"static\">"
            + "<state xmlns=\"http://schemas.microsoft.com/2006/09/sip/state\" xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" "
            + "xsi:type=\"aggregateState\"><availability>6500</availability></state></publication></publications></publish>"
        return try request(
            "SERVICE sip:\(user) SIP/2.0\r\nVia: SIP/2.0/TCP 192.0.2.31:5060;branch=z9hG4bKs\(id)\r\nMax-Forwards: 70\r\n"
                + "From: <sip:\(user)>;tag=s\(id)\r\nTo: <sip:\(user)>\r\nCall-ID: s\(id)\r\nCSeq: 1 SERVICE\r\n"
                + "Contact: <sip:192.0.2.31:5060>;+sip.instance=\"<urn:uuid:221ef77e-3a68-5570-86ed-6ea5bd4b7ff8>\"\r\n"
                + "Content-Type: application/msrtc-category-publish+xml\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    @Test("MS-SIPAE 3.3.4: the refusal of a signed request is signed, a challenge is not")
    func signsRefusals() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        var request = try subscribe(bench, "rob")
        request.headers.set(.event, "dialog")
        client.authorize(&request)
        send(request, bench)
        #expect(client.verifies(try bench.nextResponse(489, at: Self.client).headers, status: .badEvent))
        send(try subscribe(bench, "rob"), bench)
        #expect(!(try bench.nextResponse(401, at: Self.client)).headers.contains(.authenticationInfo))
    }

    @Test("MS-SIPAE 3.3.4: the refusal of a signed INVITE is signed; that of an unsigned one is not")
    func signsInviteRefusals() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        func invite() throws -> SIPRequest {
            var invite = try subscribe(bench, "rob")
            invite.method = .invite
            invite.headers.set(.cSeq, "1 INVITE")
            return invite
        }
        var signed = try invite()
        client.authorize(&signed)
        send(signed, bench)
        #expect(client.verifies(try bench.nextResponse(480, at: Self.client).headers, status: .temporarilyUnavailable))
        send(try invite(), bench)
        #expect(!(try bench.nextResponse(480, at: Self.client)).headers.contains(.authenticationInfo))
    }

    @Test("MS-SIPAE 3.3.4: a 503 for overload, and one at the limit of transactions, are signed for whoever signed the request")
    func signsOverload() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        bench.gateway.receive(.late(.seconds(5)), at: bench.now)
        var request = try subscribe(bench, "rob")
        client.authorize(&request)
        send(request, bench)
        #expect(client.verifies(try bench.nextResponse(503, at: Self.client).headers, status: .serviceUnavailable))
        #expect(bench.gateway.counters.overloadRefusals == 1)
        var configuration = bench.gateway.configuration
        configuration.limits.transactions = 0
        bench.gateway.reconfigure(configuration, at: bench.now)
        request = try subscribe(bench, "rob")
        client.authorize(&request)
        send(request, bench)
        #expect(client.verifies(try bench.nextResponse(503, at: Self.client).headers, status: .serviceUnavailable))
        #expect(bench.gateway.counters.overloadRefusals == 1)
        send(try subscribe(bench, "rob"), bench)
        #expect(!(try bench.nextResponse(503, at: Self.client)).headers.contains(.authenticationInfo))
    }

    @Test("a tampered and a repeated request are 401 and change nothing")
    func tampered() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        var request = try subscribe(bench, "rob")
        client.authorize(&request)
        var changed = request
        changed.headers.set(.expires, "7")
        send(changed, bench)
        _ = try bench.nextResponse(401, at: Self.client)
        #expect(bench.gateway.counts.watcherDialogs == 1)
        var copy = request
        copy.headers.set(.via, "SIP/2.0/TCP 192.0.2.30:5060;branch=z9hG4bKcopy")
        send(request, bench)
        _ = try bench.nextResponse(200, at: Self.client)
        send(copy, bench)
        _ = try bench.nextResponse(401, at: Self.client)
        #expect(bench.gateway.counts.watcherDialogs == 2)
        #expect(bench.gateway.counters.authenticationFailures == 2)
    }

    @Test("an in-dialog request is authenticated too, and its dialog stays as it was")
    func inDialog() throws {
        let bench = try bench()
        var client = ntlm("rob")
        let response = try signIn(&client, bench, "rob")
        var refresh = try request(bench.inDialog(response, cSeq: 2, expires: 0, via: Self.client))
        send(refresh, bench)
        _ = try bench.nextResponse(401, at: Self.client)
        #expect(bench.gateway.counts.watcherDialogs == 1)
        refresh.headers.set(.via, "SIP/2.0/TCP 192.0.2.30:5060;branch=z9hG4bKagain")
        refresh.headers.set(.cSeq, "3 SUBSCRIBE")
        client.authorize(&refresh)
        send(refresh, bench)
        #expect(client.verifies(try bench.nextResponse(200, at: Self.client).headers, status: .ok))
    }

    @Test("MS-SIPAE 3.2.2: after 8 hours the association is gone and the client is challenged")
    func expired() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        bench.pass(.seconds(8 * 3_600))
        bench.clear()
        var request = try subscribe(bench, "rob")
        client.authorize(&request)
        send(request, bench)
        _ = try bench.nextResponse(401, at: Self.client)
        #expect(bench.gateway.counts.securityAssociations == 0)
    }

    // MARK: Digest

    @Test("RFC 3261 22.2: a user agent of the SIMPLE side signs in with Digest after a 401")
    func simpleSide() throws {
        let bench = try bench()
        var client = digest("ann")
        bench.send(.request(try publish(bench)), from: Self.agent)
        let challenge = try bench.nextResponse(401, at: Self.agent)
        // One challenge: clients in use give up at a second one with SHA-256.
        #expect(challenge.headers.values(.wwwAuthenticate).map { $0.contains("algorithm=MD5") } == [true])
        #expect(bench.gateway.counts.publications == 0)
        _ = client.receive(challenge: challenge)
        var again = try publish(bench)
        client.authorize(&again)
        bench.send(.request(again), from: Self.agent)
        #expect(!(try bench.nextResponse(200, at: Self.agent)).headers.contains(.authenticationInfo))
        #expect(bench.gateway.counts.publications == 1)
    }

    @Test("RFC 8760 2.4: where both algorithms are configured, the preferred one is offered first")
    func bothAlgorithms() throws {
        let bench = try bench(algorithms: [.sha256, .md5])
        bench.send(.request(try publish(bench)), from: Self.agent)
        let offered = try bench.nextResponse(401, at: Self.agent).headers.values(.wwwAuthenticate)
        #expect(offered.map { $0.contains("algorithm=SHA-256") } == [true, false])
    }

    @Test("the challenges that every sign-in begins with are logged at debug, a wrong password at notice and info")
    func logLevels() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        #expect(bench.gateway.takeLogs().allSatisfy { $0.level == .debug })
        var wrong = digest("ann", password: "wrong")
        for status in [401, 401] {
            var request = try publish(bench)
            wrong.authorize(&request)
            bench.send(.request(request), from: Self.agent)
            _ = wrong.receive(challenge: try bench.nextResponse(status, at: Self.agent))
        }
        #expect(bench.gateway.takeLogs().filter { $0.level > .debug }.map(\.message.description) == ["sign-in failed", "request refused"])
    }

    @Test("RFC 3261 22.3: a client of the enterprise side reads Digest in 407")
    func enterpriseSide() throws {
        let bench = try bench(.digest)
        var client = digest("rob")
        var request = try subscribe(bench, "rob")
        send(request, bench)
        _ = client.receive(challenge: try bench.nextResponse(407, at: Self.client))
        request = try subscribe(bench, "rob")
        client.authorize(&request)
        #expect(request.headers.contains(.proxyAuthorization))
        send(request, bench)
        _ = try bench.nextResponse(200, at: Self.client)
    }

    @Test("an unknown user and a wrong password look alike on the wire", arguments: [("ann", "wrong"), ("nobody", "wrong")])
    func wrongPassword(_ user: String, _ password: String) throws {
        let bench = try bench()
        var client = digest(user, password: password)
        var request = try publish(bench, from: "\(user)@example.com", to: "\(user)@example.com")
        bench.send(.request(request), from: Self.agent)
        _ = client.receive(challenge: try bench.nextResponse(401, at: Self.agent))
        request = try publish(bench, from: "\(user)@example.com", to: "\(user)@example.com")
        client.authorize(&request)
        bench.send(.request(request), from: Self.agent)
        let refused = try bench.nextResponse(401, at: Self.agent)
        #expect(refused.headers.warnings.first?.text == "RFC 3261 22.1: the credentials are not right")
        #expect(bench.gateway.counters.authenticationFailures == 1)
    }

    @Test("MS-SIPAE 3.3.5.2: the authenticated user must be the one in From, else 403 with ErrorId 4004")
    func otherFrom() throws {
        let bench = try bench(.digest)
        var client = digest("rob")
        var request = try subscribe(bench, "sue", to: "rob@fabrikam.com")
        send(request, bench)
        _ = client.receive(challenge: try bench.nextResponse(407, at: Self.client))
        request = try subscribe(bench, "sue", to: "rob@fabrikam.com")
        client.authorize(&request)
        send(request, bench)
        #expect(try bench.nextResponse(403, at: Self.client).headers.msDiagnostics?.errorID == 4004)
    }

    @Test("too many failures from one address are 503 with Retry-After")
    func tooManyFailures() throws {
        let bench = try bench(.digest, failures: 2)
        for attempt in 0..<3 {
            var client = digest("ann", password: "wrong")
            bench.send(.request(try publish(bench)), from: Self.agent)
            _ = client.receive(challenge: try bench.nextResponse(401, at: Self.agent))
            var request = try publish(bench)
            client.authorize(&request)
            bench.send(.request(request), from: Self.agent)
            let response = try bench.nextResponse(attempt < 2 ? 401 : 503, at: Self.agent)
            #expect(response.headers.contains(.retryAfter) == (attempt == 2))
            #expect(bench.gateway.counters.limitsReached == (attempt == 2 ? 1 : 0))
        }
    }

    // MARK: made-up credentials

    /// Publishes with the right password after one challenge; the status of the second answer.
    private func publishWithDigest(_ bench: Bench, _ user: String, password: String? = nil, from agent: TransportAddress) throws -> Int {
        var client = digest(user, password: password)
        bench.send(.request(try publish(bench, from: "\(user)@example.com", to: "\(user)@example.com", via: agent)), from: agent)
        _ = client.receive(challenge: try bench.nextResponse(401, at: agent))
        var request = try publish(bench, from: "\(user)@example.com", to: "\(user)@example.com", via: agent)
        client.authorize(&request)
        bench.send(.request(request), from: agent)
        guard case .response(let response) = try bench.next(at: agent) else { throw Bench.Unexpected() }
        return response.status.rawValue
    }

    @Test("RFC 7616 3.3: credentials with nonces that were not given to an address never pause the users behind it")
    func madeUpNonces() throws {
        let bench = try bench(.digest, failures: 3)
        var elsewhere = digest("ann", password: "wrong")
        let stranger = TransportAddress(.udp, "192.0.2.66", 5060)
        bench.send(.request(try publish(bench, via: stranger)), from: stranger)
        _ = elsewhere.receive(challenge: try bench.nextResponse(401, at: stranger))
        for attempt in 0..<20 {
            var request = try publish(bench)
            elsewhere.authorize(&request)
            if attempt % 2 == 0 {
                let given = try #require(request.headers.first(.authorization))
                let start = try #require(given.firstRange(of: "nonce=\"")).upperBound
                let made = String(repeating: "0", count: 64)
                request.headers.set(.authorization, given.replacing(given[start...].prefix(64), with: made))
            }
            bench.send(.request(request), from: Self.agent)
            let answer = try bench.nextResponse(401, at: Self.agent)
            #expect(answer.headers.values(.wwwAuthenticate).allSatisfy { $0.hasSuffix("stale=true") })
        }
        #expect(bench.gateway.counters.authenticationFailures == 0)
        #expect(try publishWithDigest(bench, "ann", from: Self.agent) == 200)
    }

    @Test("failures of one user do not pause another behind the same address, nor the same user over a connection that has not failed")
    func failuresOfOthers() throws {
        let bench = try bench(.digest, failures: 3)
        let guesser = TransportAddress(.udp, Self.agent.host, 40_000)
        for user in ["ann", "zoe"] {
            for attempt in 0..<5 {
                #expect(try publishWithDigest(bench, user, password: "guess", from: guesser) == (attempt < 3 ? 401 : 503))
            }
        }
        #expect(try publishWithDigest(bench, "ann", from: Self.agent) == 200)
        #expect(try publishWithDigest(bench, "ann", from: guesser) == 503, "what comes from the guesser is not looked at")
    }

    // MARK: who is asked

    @Test("users of other domains are not asked here; CANCEL is not either")
    func notAsked() throws {
        let bench = try bench()
        bench.send(bench.categorySubscribe("ulla@contoso.com", to: "rob@fabrikam.com"), from: Bench.enterprise)
        _ = try bench.nextResponse(200, at: Bench.enterprise)
        var cancel = try subscribe(bench, "rob")
        cancel.method = .cancel
        cancel.headers.set(.cSeq, "1 CANCEL")
        send(cancel, bench)
        _ = try bench.nextResponse(481, at: Self.client)
    }

    @Test("a listener marked none believes From; what comes over a connection of our own is asked all the same")
    func markedNone() throws {
        let bench = try bench()
        var configuration = bench.gateway.configuration
        configuration.authentication[Bench.localTCP] = ListenerAuthentication(.none)
        bench.gateway.reconfigure(configuration, at: bench.now)
        send(try subscribe(bench, "rob"), bench)
        _ = try bench.nextResponse(200, at: Self.client)
        let request = SIPMessage.request(try subscribe(bench, "rob"))
        bench.gateway.receive(
            InboundMessage(
                bytes: SIPSerializer.serialize(request), local: TransportAddress(.tcp, "192.0.2.1", 49_152), remote: Self.client,
                connection: Self.connection), at: bench.now)
        bench.sort()
        _ = try bench.nextResponse(401, at: Self.client)
    }

    @Test("a listener on all addresses answers for each of them")
    func wildcard() throws {
        let bench = try bench()
        var configuration = bench.gateway.configuration
        configuration.authentication = [
            TransportAddress(.tcp, "0.0.0.0", 5060): ListenerAuthentication(.none), Bench.local: ListenerAuthentication(.any),
        ]
        bench.gateway.reconfigure(configuration, at: bench.now)
        send(try subscribe(bench, "rob"), bench)
        _ = try bench.nextResponse(200, at: Self.client)
    }

    // MARK: secrets

    @Test("no log record holds a password, a token, a key or a signature")
    func logs() throws {
        let bench = try bench()
        var client = ntlm("rob")
        _ = try signIn(&client, bench, "rob")
        var wrong = ntlm("rob", password: "pw-wrong", salt: 6)
        for _ in 0..<3 {
            var attempt = try subscribe(bench, "rob")
            wrong.authorize(&attempt)
            send(attempt, bench)
            _ = wrong.receive(challenge: try bench.nextResponse(401, at: Self.client))
        }
        let text = bench.gateway.takeLogs().map { "\($0.message) \($0.metadata)" }.joined(separator: "\n")
        #expect(text.contains("sign-in failed"))
        for secret in ["pw-", "gssapi", "TlRMTVNT", "NTLM", "response=", "crand", "opaque"] {
            #expect(!text.contains(secret), "\(secret)")
        }
    }
}
