import SIPCore
import Testing

@testable import SIPSecurity

/// Digest of RFC 7616 in SIP.
@Suite struct DigestTests {
    private func client(_ user: String = "alice", _ password: String = "Pa$$w0rd") -> DigestClient {
        DigestClient(user: user, password: password, secret: Bench.secret)
    }

    /// A request with credentials for a fresh challenge of this demand.
    private func challenged(
        _ bench: Bench, _ client: inout DigestClient, _ demand: AuthenticationDemand = Bench.digest,
        from user: String = "alice@contoso.com",
        at now: Instant = Bench.start
    ) throws -> SIPRequest {
        var request = Bench.request(.publish, from: user)
        let response = try #require(Bench.response(bench.check(request, demand, at: now), to: request))
        let isWorthTrying = client.receive(challenge: response)
        #expect(isWorthTrying)
        client.authorize(&request)
        return request
    }

    @Test(
        "RFC 7616 3.9.1: the example's responses with MD5 and SHA-256",
        arguments: [
            (DigestAlgorithm.md5, "8ca523f5e9506fed4657c9700eebdbec"),
            (.sha256, "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
        ])
    func example(_ algorithm: DigestAlgorithm, _ expected: String) throws {
        let value = try #require(
            AuthorizationValue(
                "Digest username=\"Mufasa\", realm=\"http-auth@example.org\", uri=\"/dir/index.html\", algorithm=\(algorithm.rawValue), "
                    + "nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", nc=00000001, "
                    + "cnonce=\"f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ\", qop=auth, response=\"\(expected)\""))
        let given = try DigestCredentials(value)
        let userHash = algorithm.hash.digest("Mufasa:http-auth@example.org:Circle of Life".utf8)
        #expect(Hexadecimal.text(given.expectedResponse(userHash: userHash, method: SIPMethod(rawValue: "GET"))) == expected)
    }

    @Test("RFC 8760 2.4: the challenge names each algorithm, the preferred first, with one nonce")
    func challenge() throws {
        let outcome = try Bench().check(Bench.request(), Bench.digest)
        let lines = outcome.values(.wwwAuthenticate)
        #expect(outcome.status == 401 && lines.count == 2)
        #expect(lines[0].hasPrefix("Digest realm=\"contoso.com\", nonce=\"") && lines[0].hasSuffix("qop=\"auth\", algorithm=SHA-256"))
        #expect(lines[1] == lines[0].replacing("SHA-256", with: "MD5"))
    }

    @Test("RFC 3261 22.3: a demand may ask for 407 instead")
    func proxyChallenge() throws {
        let bench = try Bench()
        var demand = Bench.digest
        demand.digestStatus = .proxyAuthenticationRequired
        var client = client()
        let request = try challenged(bench, &client, demand)
        #expect(request.headers.contains(.proxyAuthorization))
        #expect(bench.check(request, demand).isAccepted)
    }

    @Test("RFC 7616 3.4: the right password is accepted, with either algorithm", arguments: DigestAlgorithm.allCases)
    func accepted(_ algorithm: DigestAlgorithm) throws {
        let bench = try Bench()
        var client = client()
        let demand = AuthenticationDemand(offersNTLM: false, digestAlgorithms: [algorithm])
        let request = try challenged(bench, &client, demand)
        #expect(bench.check(request, demand) == .accepted(identity: "sip:alice@contoso.com", association: nil))
        var full = self.client("alice@contoso.com")
        #expect(bench.check(try challenged(bench, &full, demand), demand).status == 401, "the hash is over the plain user name")
    }

    @Test("an unknown user and a wrong password get the same answer, nonce apart")
    func indistinguishable() throws {
        let bench = try Bench()
        var answers: [AuthenticationAnswer] = []
        for user in ["alice", "nobody"] {
            var client = client(user, "wrong")
            let request = try challenged(bench, &client, from: "\(user)@contoso.com")
            answers.append(try #require(bench.check(request, Bench.digest).answer))
        }
        for index in answers.indices {
            answers[index].headers = answers[index].headers.map { header in
                var header = header
                header.value = header.value.split(separator: "\"").filter { $0.utf8.count != 64 }.joined()
                return header
            }
        }
        #expect(answers[0].status == .unauthorized && answers[0] == answers[1])
    }

    @Test("RFC 7616 3.3: each counter of a nonce counts once; a copy is stale")
    func replay() throws {
        let bench = try Bench()
        var client = client()
        let first = try challenged(bench, &client)
        #expect(bench.check(first, Bench.digest).isAccepted)
        let copy = bench.check(first, Bench.digest)
        #expect(copy.status == 401 && copy.values(.wwwAuthenticate).allSatisfy { $0.hasSuffix("stale=true") })
        var second = Bench.request(.publish, cSeq: 2)
        client.authorize(&second)
        #expect(bench.check(second, Bench.digest).isAccepted, "the same nonce with the next counter")
    }

    @Test("RFC 7616 3.3: an old nonce is stale, and whether the password is right is not said")
    func stale() throws {
        let bench = try Bench()
        var right = client()
        let request = try challenged(bench, &right)
        let late = Bench.start + .seconds(300)
        #expect(bench.check(request, Bench.digest, at: late).values(.wwwAuthenticate).allSatisfy { $0.contains("stale=true") })
        var wrong = client("alice", "wrong")
        let bad = try challenged(bench, &wrong)
        #expect(bench.check(bad, Bench.digest, at: late).values(.wwwAuthenticate).allSatisfy { $0.contains("stale=true") })
        #expect(bench.authenticator.rememberedCount == 0, "what was not checked is no failure")
    }

    @Test("RFC 7616 3.3: a nonce that this server did not make is stale, however right the password")
    func foreignNonce() throws {
        let bench = try Bench()
        var client = client()
        var request = Bench.request(.publish)
        var challenge = SIPResponse(to: request, status: .unauthorized)
        challenge.headers.append(
            .wwwAuthenticate, "Digest realm=\"contoso.com\", nonce=\"\(String(repeating: "0", count: 64))\", qop=\"auth\", algorithm=MD5")
        let isWorthTrying = client.receive(challenge: challenge)
        #expect(isWorthTrying)
        client.authorize(&request)
        let outcome = bench.check(request, Bench.digest)
        #expect(outcome.status == 401 && outcome.values(.wwwAuthenticate).allSatisfy { $0.contains("stale=true") })
    }

    @Test("a full table of nonces makes the oldest stale, never usable twice")
    func fullNonces() throws {
        let bench = try Bench { $0.nonces = 2 }
        var requests: [SIPRequest] = []
        for second in 0..<3 {
            var client = client()
            requests.append(try challenged(bench, &client, at: Bench.start + .seconds(second)))
        }
        for request in requests { #expect(bench.check(request, Bench.digest, at: Bench.start + .seconds(3)).isAccepted) }
        #expect(bench.authenticator.rememberedCount == 2)
        #expect(bench.check(requests[0], Bench.digest, at: Bench.start + .seconds(3)).status == 401, "forgotten, and still refused")
    }

    @Test("RFC 7616 3.4.6: credentials for another Request-URI are 400; those of a client that writes (null) are taken")
    func uri() throws {
        let bench = try Bench()
        var client = client()
        var request = try challenged(bench, &client)
        request.requestURI = "sip:fabrikam.com"
        #expect(bench.check(request, Bench.digest).status == 400)
        request.requestURI = "(null)"
        client.authorize(&request)
        request.requestURI = "sip:contoso.com"
        #expect(bench.check(request, Bench.digest).isAccepted)
    }

    @Test(
        "RFC 7616 3.4: credentials without what they need are 400 and name the rule",
        arguments: [
            ("username=\"alice\", ", ""), ("qop=auth", "qop=auth-int"), ("nc=00000001", "nc=1"), ("nc=00000001", "nc=0000000g"),
            ("algorithm=SHA-256", "algorithm=SHA-1"), ("algorithm=SHA-256", "algorithm=MD5"),
        ])
    func malformed(_ part: String, _ replacement: String) throws {
        let bench = try Bench()
        var client = client()
        var request = try challenged(bench, &client)
        request.headers.set(.authorization, (request.headers.first(.authorization) ?? "").replacing(part, with: replacement))
        let outcome = bench.check(request, Bench.digest)
        #expect(outcome.status == 400 && outcome.answer?.explanation.hasPrefix("RFC 7616 3.4") == true)
    }

    @Test("MS-SIPAE 3.3.5.2: right credentials with another's From are 403 with ErrorId 4004")
    func wrongIdentity() throws {
        let bench = try Bench()
        var bob = client("bob", "hunter2")
        let outcome = bench.check(try challenged(bench, &bob), Bench.digest)
        #expect(outcome.status == 403 && outcome.answer?.errorID == 4004)
    }

    @Test("the same login in another domain is another account")
    func domains() throws {
        let bench = try Bench()
        var client = client("alice", "x")
        #expect(bench.check(try challenged(bench, &client), Bench.digest).status == 401)
        var other = self.client("alice", "x")
        let request = try challenged(bench, &other, from: "alice@example.com")
        #expect(bench.check(request, Bench.digest) == .accepted(identity: "sip:alice@example.com", association: nil))
    }

    @Test("where both schemes are offered either is taken")
    func both() throws {
        let bench = try Bench()
        var digest = client()
        #expect(bench.check(try challenged(bench, &digest, Bench.any), Bench.any).isAccepted)
        #expect(bench.check(Bench.request(), Bench.any).values(.wwwAuthenticate).first?.hasPrefix("NTLM ") == true)
    }
}
