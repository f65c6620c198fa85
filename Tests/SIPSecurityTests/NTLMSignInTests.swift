import ByteCoding
import SIPCore
import Testing

@testable import SIPSecurity

/// Signing in with NTLM, and what is signed afterwards.
@Suite struct NTLMSignInTests {
    @Test("MS-SIPAE 3.3.5.1: two challenges, then the sender is known and the answer is signed")
    func signIn() throws {
        let bench = try Bench()
        var client = Bench.client()
        let first = bench.check(Bench.request())
        #expect(first.status == 401)
        #expect(
            first.values(.wwwAuthenticate)
                == ["NTLM realm=\"SIP Communications Service\", targetname=\"edge1.example.net\", version=4"])
        #expect(first.values(.date) == ["Tue, 14 Nov 2023 22:13:20 GMT"])
        let request = bench.handshake(&client)
        guard case .accepted(let identity, let association?) = bench.check(request) else {
            Issue.record("the sign-in failed")
            return
        }
        #expect(identity == "sip:alice@contoso.com")
        var response = SIPResponse(to: request, status: .ok, toTag: "t1")
        response.headers.append(.expires, "7200")
        bench.authenticator.sign(&response, under: association)
        #expect(client.verifies(response.headers, status: .ok))
        #expect(response.headers.first(.authenticationInfo)?.contains("snum=\"1\"") == true)
        response.headers.set(.expires, "7201")
        #expect(!client.verifies(response.headers, status: .ok), "a changed answer does not verify")
    }

    @Test(
        "MS-NLMP 3.3.2: the login may be short domain and user, SIP domain and user, or user@domain",
        arguments: [
            ("alice", "CONTOSO"), ("ALICE", "contoso.com"), ("alice@contoso.com", ""), ("alice", ""),
        ])
    func loginForms(_ user: String, _ domain: String) throws {
        let bench = try Bench()
        var client = Bench.client(user: user, domain: domain)
        #expect(bench.signIn(&client) != nil)
    }

    @Test("requests of the association are accepted while their signatures are right")
    func signedRequests() throws {
        let bench = try Bench()
        var client = Bench.client()
        let association = try #require(bench.signIn(&client))
        for cSeq in 4..<300 {
            var request = Bench.request(.subscribe, cSeq: cSeq)
            client.authorize(&request)
            #expect(bench.check(request) == .accepted(identity: "sip:alice@contoso.com", association: association))
        }
    }

    @Test("MS-SIPAE 3.3.4: requests to the place where the client was heard last are signed, others are not")
    func serverRequests() throws {
        let bench = try Bench()
        var client = Bench.client()
        _ = try #require(bench.signIn(&client))
        func notify(to user: String, _ connection: UInt64) -> SIPRequest {
            var request = Bench.request(.benotify, cSeq: 9)
            request.headers.set(.to, "<sip:\(user)>;tag=w")
            bench.authenticator.sign(
                &request, connection: ConnectionID(rawValue: connection), remote: bench.source.remote, at: Bench.start)
            return request
        }
        #expect(client.verifies(notify(to: "alice@contoso.com", 7).headers, status: nil))
        #expect(!notify(to: "alice@contoso.com", 8).headers.contains(.authenticationInfo))
        #expect(!notify(to: "bob@contoso.com", 7).headers.contains(.authenticationInfo))
    }

    @Test("MS-SIPAE 3.3.4: an answer given before authentication is signed for a signed request, and nothing is used up by it")
    func earlyAnswers() throws {
        let bench = try Bench()
        var client = Bench.client()
        func signed(_ request: SIPRequest) -> SIPResponse {
            var response = SIPResponse(to: request, status: .serviceUnavailable, toTag: "t1")
            bench.authenticator.sign(&response, to: request, at: Bench.start)
            return response
        }
        let handshake = bench.handshake(&client)
        #expect(!signed(handshake).headers.contains(.authenticationInfo))
        #expect(bench.authenticator.rememberedCount == 0, "neither an association nor a spent challenge")
        #expect(bench.check(handshake).isAccepted)
        var request = Bench.request(.subscribe, cSeq: 4)
        client.authorize(&request)
        #expect(client.verifies(signed(request).headers, status: .serviceUnavailable))
        let before = bench.authenticator.rememberedCount
        for (name, value) in [(SIPHeaderName.callID, "c2"), (.from, "<sip:bob@contoso.com>;tag=f1;epid=e1"), (.expires, "0")] {
            var changed = request
            changed.headers.set(name, value)
            #expect(!signed(changed).headers.contains(.authenticationInfo))
        }
        #expect(bench.authenticator.rememberedCount == before, "a wrong signature counts when the request is checked, not before")
        #expect(bench.check(request).isAccepted, "the number is still good")
        var late = SIPResponse(to: request, status: .serviceUnavailable, toTag: "t1")
        bench.authenticator.sign(&late, to: request, at: Bench.start + .seconds(8 * 3_600))
        #expect(!late.headers.contains(.authenticationInfo))
    }

    @Test("MS-SIPAE 2.2.3: who speaks Proxy-Authorization hears Proxy-Authentication-Info")
    func proxyHeaders() throws {
        let bench = try Bench()
        var client = Bench.client()
        let association = try #require(bench.signIn(&client))
        var request = Bench.request(.subscribe, cSeq: 4)
        client.authorize(&request)
        request.headers.set(.proxyAuthorization, request.headers.first(.authorization) ?? "")
        request.headers.remove(.authorization)
        #expect(bench.check(request).isAccepted)
        var response = SIPResponse(to: request, status: .ok, toTag: "t1")
        bench.authenticator.sign(&response, under: association)
        #expect(response.headers.contains(.proxyAuthenticationInfo) && !response.headers.contains(.authenticationInfo))
    }

    @Test("a client whose password is refused has nothing more to try; one whose association is gone signs in anew")
    func clientGivesUp() throws {
        let bench = try Bench()
        var wrong = Bench.client(password: "wrong")
        let request = bench.handshake(&wrong)
        let refusal = try #require(Bench.response(bench.check(request), to: request))
        let isWorthTrying = wrong.receive(challenge: refusal)
        #expect(!isWorthTrying)
        var client = Bench.client()
        _ = try #require(bench.signIn(&client))
        var late = Bench.request(.subscribe, cSeq: 4)
        client.authorize(&late)
        let challenge = try #require(Bench.response(bench.check(late, at: Bench.start + .seconds(8 * 3_600)), to: late))
        let isWorthTryingAgain = client.receive(challenge: challenge)
        #expect(isWorthTryingAgain)
    }

    @Test("MS-NLMP 3.2.5.1.2: a message integrity code is verified when the client sends one; a wrong one is a wrong password")
    func integrityCode() throws {
        let bench = try Bench()
        func client() -> NTLMClient {
            NTLMClient(
                user: "alice", domain: "CONTOSO", password: "Pa$$w0rd", secret: [UInt8](repeating: 9, count: 32), sendsIntegrityCode: true)
        }
        var right = client()
        #expect(bench.signIn(&right) != nil)
        var wrong = client()
        var request = bench.handshake(&wrong)
        let value = try #require(request.headers.first(.authorization))
        let token = try #require(AuthorizationValue(value)?["gssapi-data"])
        for place in [72, 87, 64] {
            // A place in the code, its last, and one in the version, which only the code protects.
            var message = try #require(Base64.decode(strictly: token))
            message[place] ^= 1
            request.headers.set(.authorization, value.replacing(token, with: Base64.text(message)))
            #expect(bench.check(request).status == 401)
        }
        request.headers.set(.authorization, value)
        #expect(bench.check(request).isAccepted)
    }

    // MARK: refusals

    @Test("an unknown user and a wrong password get the same answer")
    func indistinguishable() throws {
        let bench = try Bench()
        var answers: [AuthenticationAnswer?] = []
        for (user, password) in [("alice", "wrong"), ("nobody", "wrong")] {
            var client = Bench.client(user: user, password: password)
            let outcome = bench.check(bench.handshake(&client, from: "\(user)@contoso.com"))
            #expect(outcome.status == 401)
            answers.append(outcome.answer)
        }
        #expect(answers[0] == answers[1])
    }

    @Test("an AUTHENTICATE message counts once, even after its association has gone")
    func handshakeReplay() throws {
        let bench = try Bench { $0.associationsPerUser = 1 }
        var client = Bench.client()
        let request = bench.handshake(&client)
        #expect(bench.check(request).isAccepted)
        #expect(bench.check(request).status == 401)
        var other = Bench.client(salt: 2)
        #expect(bench.signIn(&other) != nil, "the user's oldest association makes room")
        #expect(bench.authenticator.associationCount == 1)
        #expect(bench.check(request).status == 401)
    }

    @Test("a challenge is for its user, its endpoint and two minutes")
    func handshakeBinding() throws {
        let bench = try Bench()
        var client = Bench.client()
        let request = bench.handshake(&client)
        var moved = request
        moved.headers.set(.from, "<sip:alice@contoso.com>;tag=f1;epid=e2")
        #expect(bench.check(moved).status == 401)
        #expect(bench.check(request, at: Bench.start + .seconds(120)).status == 401)
        #expect(bench.check(request, at: Bench.start + .seconds(119)).isAccepted)
    }

    @Test(
        "a tampered request is challenged, whatever part of the signed text was changed",
        arguments: [
            (SIPHeaderName.callID, "c2"), (.cSeq, "5 SUBSCRIBE"), (.cSeq, "4 SERVICE"), (.to, "<sip:bob@contoso.com>"), (.expires, "0"),
            (.pAssertedIdentity, "<sip:bob@contoso.com>"), (.from, "<sip:alice@contoso.com>;tag=f2;epid=e1"),
            (.from, "<sip:alice@contoso.com>;tag=f1;epid=e2"), (.from, "<sip:bob@contoso.com>;tag=f1;epid=e1"),
        ])
    func tampered(_ name: SIPHeaderName, _ value: String) throws {
        let bench = try Bench()
        var client = Bench.client()
        _ = try #require(bench.signIn(&client))
        var request = Bench.request(.subscribe, cSeq: 4)
        client.authorize(&request)
        var changed = request
        changed.headers.set(name, value)
        #expect(bench.check(changed).status == 401)
        #expect(bench.check(request).isAccepted, "the request itself still counts")
    }

    @Test("MS-SIPAE 3.1.5: a number counts once, and not at all when it is 256 behind")
    func replay() throws {
        let bench = try Bench()
        var client = Bench.client()
        _ = try #require(bench.signIn(&client))
        var early: [SIPRequest] = []
        for cSeq in 4..<264 {
            var request = Bench.request(.subscribe, cSeq: cSeq)
            client.authorize(&request)
            early.append(request)
        }
        #expect(bench.check(early[259]).isAccepted)
        #expect(bench.check(early[259]).status == 401, "the same number again")
        #expect(bench.check(early[4]).isAccepted, "255 behind, and not seen before")
        #expect(bench.check(early[4]).status == 401)
        #expect(bench.check(early[3]).status == 401, "256 behind")
    }

    @Test("MS-SIPAE 3.2.2: an association ends after 8 hours, and its signatures with it")
    func expiry() throws {
        let bench = try Bench()
        var client = Bench.client()
        _ = try #require(bench.signIn(&client))
        var requests: [SIPRequest] = []
        for cSeq in 4...5 {
            var request = Bench.request(.subscribe, cSeq: cSeq)
            client.authorize(&request)
            requests.append(request)
        }
        #expect(bench.check(requests[0], at: Bench.start + .seconds(8 * 3_600 - 1)).isAccepted)
        #expect(bench.check(requests[1], at: Bench.start + .seconds(8 * 3_600)).status == 401)
        #expect(bench.authenticator.associationCount == 0)
    }

    @Test("a user who is gone, or has another password, is signed in no more", arguments: [nil, "another"])
    func accountChanged(_ password: String?) throws {
        let bench = try Bench()
        var client = Bench.client()
        _ = try #require(bench.signIn(&client))
        var requests: [SIPRequest] = []
        for cSeq in 4...5 {
            var request = Bench.request(.subscribe, cSeq: cSeq)
            client.authorize(&request)
            requests.append(request)
        }
        #expect(bench.check(requests[0]).isAccepted)
        let account = try password.map {
            Account(
                identity: "sip:alice@contoso.com",
                verifiers: try CredentialVerifiers(user: "alice", realm: "contoso.com", password: $0))
        }
        bench.directory.set(account, for: LoginName(user: "alice", domain: "contoso.com"))
        #expect(bench.check(requests[1]).status == 401)
        #expect(bench.authenticator.associationCount == 0)
    }

    @Test("MS-SIPAE 3.3.5.2: right credentials with another's From are 403 with ErrorId 4004")
    func wrongIdentity() throws {
        let bench = try Bench()
        var bob = Bench.client(user: "bob", password: "hunter2")
        let outcome = bench.check(bench.handshake(&bob, from: "alice@contoso.com"))
        #expect(outcome.status == 403 && outcome.answer?.errorID == 4004)
        // Signed by bob's association, but From says alice.
        #expect(bench.signIn(&bob, from: "bob@contoso.com") != nil)
        var request = Bench.request(.subscribe, from: "alice@contoso.com", cSeq: 9)
        bob.authorize(&request)
        let second = bench.check(request)
        #expect(second.status == 403 && second.answer?.errorID == 4004)
    }

    @Test("tokens that are no AUTHENTICATE message are 400 and name the rule", arguments: ["!!!!", "AAAA", "TlRMTVNTUAACAAAA"])
    func malformedToken(_ token: String) throws {
        let bench = try Bench()
        var client = Bench.client()
        var request = bench.handshake(&client)
        let value = try #require(request.headers.first(.authorization))
        let start = try #require(value.range(of: "gssapi-data=\""))
        let end = try #require(value[start.upperBound...].firstIndex(of: "\""))
        request.headers.set(.authorization, value.replacingCharacters(start.upperBound..<end, token))
        let outcome = bench.check(request)
        #expect(outcome.status == 400 && outcome.answer?.explanation.hasPrefix("MS-NLMP") == true)
    }

    // MARK: bounds

    @Test("attempts without a right password leave nothing behind but one count per address")
    func noGrowth() throws {
        let bench = try Bench { $0.failures = 1_000_000 }
        for attempt in 0..<200 {
            var client = Bench.client(password: "wrong", salt: UInt8(attempt))
            #expect(bench.signIn(&client) == nil)
        }
        #expect(bench.authenticator.rememberedCount == 1)
    }

    @Test("too many failures from one address are 503 with Retry-After until the window ends; other addresses are free")
    func limiter() throws {
        let bench = try Bench { $0.failures = 3 }
        for _ in 0..<3 {
            var wrong = Bench.client(password: "wrong")
            #expect(bench.check(bench.handshake(&wrong)).status == 401)
        }
        var right = Bench.client()
        let request = bench.handshake(&right)
        let outcome = bench.check(request)
        #expect(outcome.status == 503 && outcome.values(.retryAfter) == ["60"])
        let elsewhere = MessageSource(local: bench.source.local, remote: TransportAddress(.tcp, "192.0.2.77", 1), connection: nil)
        #expect(bench.check(request, from: elsewhere).status == 401, "the challenge was given to another address")
        var there = Bench.client(salt: 6)
        #expect(bench.check(bench.handshake(&there, source: elsewhere), from: elsewhere).isAccepted)
        var later = Bench.client(salt: 5)
        #expect(bench.signIn(&later, at: Bench.start + .seconds(60)) != nil)
    }

    @Test("MS-SIPAE 3.3.5.1: tokens for challenges that were not given to an address are no failures of its users")
    func madeUpChallenges() throws {
        let bench = try Bench { $0.failures = 3 }
        var stranger = Bench.client(password: "wrong")
        let given = bench.handshake(&stranger)
        let elsewhere = MessageSource(
            local: bench.source.local, remote: TransportAddress(.tcp, "192.0.2.77", 1), connection: ConnectionID(rawValue: 8))
        let opaque = try #require(given.headers.first(.authorization).flatMap { AuthorizationValue($0)?["opaque"] })
        for attempt in 0..<20 {
            var made = given
            let other = String(repeating: String(attempt % 10), count: 48)
            made.headers.set(.authorization, (given.headers.first(.authorization) ?? "").replacing(opaque, with: other))
            #expect(bench.check(attempt % 2 == 0 ? given : made, from: elsewhere).status == 401)
            // Signed under an association that does not exist.
            made.headers.set(
                .authorization,
                "NTLM qop=\"auth\", opaque=\"\(other)\", realm=\"\(Authenticator.realm)\", targetname=\"edge1.example.net\", "
                    + "crand=\"1\", cnum=\"1\", response=\"00\"")
            #expect(bench.check(made, from: elsewhere).status == 401)
        }
        #expect(bench.authenticator.rememberedCount == 0)
    }

    @Test("passwords guessed for one user hold up neither another user of the address nor the same one over another connection")
    func failuresOfOthers() throws {
        let bench = try Bench { $0.failures = 3 }
        for user in ["bob", "alice"] {
            for _ in 0..<3 {
                var guess = Bench.client(user: user, password: "guess")
                #expect(bench.check(bench.handshake(&guess, from: "\(user)@contoso.com")).status == 401)
            }
        }
        let connection = MessageSource(
            local: bench.source.local, remote: TransportAddress(.tcp, bench.source.remote.host, 9), connection: ConnectionID(rawValue: 9))
        var alice = Bench.client()
        let request = bench.handshake(&alice)
        #expect(bench.check(request).status == 503)
        #expect(bench.check(request, from: connection).isAccepted)
    }

    @Test("of a password guessed over ever new connections one guess is checked at a time, and known clients are not paused")
    func guessesOverNewConnections() throws {
        let bench = try Bench { $0.failures = 3 }
        func source(_ number: Int) -> MessageSource {
            MessageSource(
                local: bench.source.local, remote: TransportAddress(.tcp, bench.source.remote.host, number),
                connection: ConnectionID(rawValue: UInt64(number)))
        }
        var known = Bench.client(salt: 2)
        #expect(bench.check(bench.handshake(&known), from: source(1)).isAccepted)
        var looked = 0
        for number in 2...200 {
            var guess = Bench.client(password: "guess")
            let now = Bench.start + .milliseconds(number * 100)
            if bench.check(bench.handshake(&guess, at: now), from: source(number), at: now).status == 401 { looked += 1 }
        }
        #expect(looked == 3 + 1, "beyond the three one in 20 s")
        let now = Bench.start + .milliseconds(20_000)
        var again = Bench.client(salt: 3)
        #expect(bench.check(bench.handshake(&again, at: now), from: source(1), at: now).isAccepted)
    }

    @Test("a full table of associations is 503, and takes the next user when one has ended")
    func fullTable() throws {
        let bench = try Bench { $0.associations = 1 }
        var alice = Bench.client()
        #expect(bench.signIn(&alice) != nil)
        var bob = Bench.client(user: "bob", password: "hunter2")
        #expect(bench.check(bench.handshake(&bob, from: "bob@contoso.com")).status == 503)
        var again = Bench.client(user: "bob", password: "hunter2", salt: 4)
        #expect(bench.signIn(&again, from: "bob@contoso.com", at: Bench.start + .seconds(8 * 3_600)) != nil)
    }
}

extension String {
    /// The text with a range replaced.
    func replacingCharacters(_ range: Range<String.Index>, _ text: String) -> String {
        String(self[..<range.lowerBound]) + text + String(self[range.upperBound...])
    }

    /// Where the text first occurs.
    func range(of text: String) -> Range<String.Index>? { ranges(of: text).first }
}
