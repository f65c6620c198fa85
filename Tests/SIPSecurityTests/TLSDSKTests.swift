import ByteCoding
import SIPCore
import Testing

@testable import SIPSecurity

/// Signing in with a certificate, and what is signed afterwards.
@Suite struct TLSDSKTests {
    @Test("MS-SIPAE 3.3.5.1: offer, two flights each way, then the sender is known and the answer is signed with HMAC-SHA1")
    func signIn() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        let first = bench.check(Bench.request())
        #expect(first.status == 401)
        #expect(
            first.values(.wwwAuthenticate)
                == ["TLS-DSK realm=\"SIP Communications Service\", targetname=\"edge1.example.net\", version=4"])
        #expect(first.values(.date).count == 1)
        var statuses: [Int?] = []
        var request = Bench.request()
        for cSeq in 1...4 {
            request = Bench.request(cSeq: cSeq)
            client.authorize(&request)
            let outcome = bench.check(request, at: TLSBench.start)
            statuses.append(outcome.status)
            if cSeq == 2 { #expect(bench.authenticator.handshakeCount == 1) }
            if let response = Bench.response(outcome, to: request) {
                let goesOn = client.receive(challenge: response, at: TLSBench.start)
                #expect(goesOn && outcome.answer?.isFailure == false)
            } else if case .accepted(let identity, let association?) = outcome {
                #expect(identity == "sip:alice@contoso.com")
                var response = SIPResponse(to: request, status: .ok, toTag: "t1")
                response.headers.append(.expires, "7200")
                bench.authenticator.sign(&response, under: association)
                #expect(client.verifies(response.headers, status: .ok))
                let signature = try #require(response.headers.first(.authenticationInfo))
                #expect(signature.hasPrefix("TLS-DSK qop=\"auth\", opaque=\"\(association)\"") && signature.contains("snum=\"1\""))
                #expect(signature.matches(of: /rspauth="[0-9a-f]{40}"/).count == 1)
                response.headers.set(.expires, "7201")
                #expect(!client.verifies(response.headers, status: .ok), "a changed answer does not verify")
            }
        }
        #expect(statuses == [401, 401, 401, nil])
        #expect(bench.authenticator.handshakeCount == 0 && bench.authenticator.associationCount == 1)
    }

    @Test("MS-SIPAE 2.2.1: where certificates are to be had is told with the offer")
    func certificateService() throws {
        let service = "https://certificates.contoso.com/CertProv/CertProvisioningService.svc"
        let bench = try TLSBench(certificateService: service)
        #expect(bench.check(Bench.request()).values(.wwwAuthenticate).first?.hasSuffix(", version=4, sts-uri=\"\(service)\"") == true)
    }

    @Test("a certificate names its user by a SIP URI, or by the common name where there is none; an elliptic key does as well")
    func names() throws {
        let bench = try TLSBench()
        var bob = try TLSBench.client("bob")
        #expect(bench.association(&bob, from: "bob@contoso.com") != nil)
        var twoFaced = try TLSBench.client("two-faced")
        #expect(bench.association(&twoFaced, from: "bob@contoso.com") != nil)
    }

    @Test("requests of the association are accepted while their signatures are right, each number once")
    func signedRequests() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        let association = try #require(bench.association(&client))
        for cSeq in 5...20 {
            var request = Bench.request(.subscribe, cSeq: cSeq)
            client.authorize(&request)
            #expect(bench.check(request) == .accepted(identity: "sip:alice@contoso.com", association: association))
            #expect(bench.check(request).status == 401, "the same number again")
        }
        var request = Bench.request(.service, cSeq: 400)
        client.authorize(&request)
        for (name, value) in [(SIPHeaderName.callID, "c2"), (.cSeq, "401 SERVICE"), (.to, "<sip:bob@contoso.com>"), (.expires, "0")] {
            var changed = request
            changed.headers.set(name, value)
            #expect(bench.check(changed).status == 401)
        }
        #expect(bench.check(request).isAccepted, "the request itself still counts")
    }

    @Test("MS-SIPAE 3.3.4: a client is sent signed requests as soon as it has signed one itself, and not before")
    func serverRequests() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        func notify() -> SIPRequest {
            var request = Bench.request(.benotify, cSeq: 9)
            bench.authenticator.sign(&request, connection: bench.source.connection, remote: bench.source.remote, at: TLSBench.start)
            return request
        }
        for cSeq in 1...3 {
            var request = Bench.request(cSeq: cSeq)
            client.authorize(&request)
            if let response = Bench.response(bench.check(request), to: request) {
                let goesOn = client.receive(challenge: response, at: TLSBench.start)
                #expect(goesOn)
            }
        }
        #expect(bench.authenticator.associationCount == 1 && client.isSigning)
        #expect(!notify().headers.contains(.authenticationInfo))
        var request = Bench.request(cSeq: 4)
        client.authorize(&request)
        #expect(bench.check(request).isAccepted)
        #expect(client.verifies(notify().headers, status: nil))
    }

    @Test("MS-SIPAE 3.3.4: an answer given before authentication begins no handshake and advances none; a signed request's is signed")
    func earlyAnswers() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        func signed(_ request: SIPRequest) -> SIPResponse {
            var response = SIPResponse(to: request, status: .serviceUnavailable, toTag: "t1")
            bench.authenticator.sign(&response, to: request, at: TLSBench.start)
            return response
        }
        var isSignedIn = false
        for cSeq in 1...9 where !isSignedIn {
            var request = Bench.request(cSeq: cSeq)
            client.authorize(&request)
            let before = bench.authenticator.rememberedCount
            let isSigned = signed(request).headers.contains(.authenticationInfo)
            #expect(bench.authenticator.rememberedCount <= before, "what is due may go, nothing comes")
            let outcome = bench.check(request)
            isSignedIn = outcome.isAccepted
            #expect(isSigned == isSignedIn)
            if let response = Bench.response(outcome, to: request) {
                let isWorthTrying = client.receive(challenge: response, at: TLSBench.start)
                try #require(isWorthTrying)
            }
        }
        #expect(isSignedIn)
        var request = Bench.request(.subscribe, cSeq: 10)
        client.authorize(&request)
        #expect(client.verifies(signed(request).headers, status: .serviceUnavailable))
        #expect(bench.check(request).isAccepted, "the number is still good")
    }

    @Test("the name of an association is no use under another scheme")
    func otherScheme() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        _ = try #require(bench.association(&client))
        var request = Bench.request(.subscribe, cSeq: 9)
        client.authorize(&request)
        let value = try #require(request.headers.first(.authorization))
        request.headers.set(.authorization, "NTLM" + value.dropFirst("TLS-DSK".count))
        let demand = AuthenticationDemand(offersNTLM: true, offersTLSDSK: true, digestAlgorithms: [])
        #expect(bench.authenticator.check(request, from: bench.source, under: demand, at: TLSBench.start).status == 401)
    }

    // MARK: the handshake's way

    @Test("RFC 5246 6.2.1: a flight may come in any number of parts, each answered by an empty token until it is whole")
    func fragments() throws {
        let bench = try TLSBench { $0.handshakeRounds = 200 }
        var client = try TLSBench.client()
        var cSeq = 0
        var opaque: String?
        func send(_ request: SIPRequest) throws -> SIPResponse {
            try #require(Bench.response(bench.check(request), to: request))
        }
        var request = Bench.request()
        var isGoingOn = client.receive(challenge: try send(request), at: TLSBench.start)
        while isGoingOn, !client.isSigning {
            request = Bench.request()
            client.authorize(&request)
            let value = try #require(request.headers.first(.authorization).flatMap { AuthorizationValue($0) })
            let octets = try #require(value["gssapi-data"].flatMap { Base64.decode(strictly: $0) })
            var response: SIPResponse?
            for start in stride(from: 0, to: octets.count, by: 100) {
                cSeq += 1
                var part = Bench.request(cSeq: cSeq)
                let name = opaque.map { ", opaque=\"\($0)\"" } ?? ""
                part.headers.set(
                    .authorization,
                    "TLS-DSK qop=\"auth\", realm=\"\(Authenticator.realm)\", targetname=\"edge1.example.net\"\(name), gssapi-data=\""
                        + Base64.text(Array(octets[start..<min(start + 100, octets.count)])) + "\", version=4")
                response = try send(part)
                let answer = try #require(response?.headers.first(.wwwAuthenticate).flatMap { AuthorizationValue($0) })
                opaque = answer["opaque"]
                if start + 100 < octets.count { #expect(answer["gssapi-data"] == "") }
            }
            isGoingOn = client.receive(challenge: try #require(response), at: TLSBench.start)
        }
        #expect(cSeq > 10)
        var signed = Bench.request(cSeq: 100)
        client.authorize(&signed)
        #expect(bench.check(signed).isAccepted)
    }

    @Test("RFC 5246 6.2.1: a flight's handshake messages share one record; what follows them, or is no record, stays as it is")
    func records() throws {
        #expect(TLSRecords.packed([22, 3, 1, 0, 2, 1, 2, 22, 3, 1, 0, 1, 3]) == [22, 3, 1, 0, 3, 1, 2, 3])
        let mixed: [UInt8] = [22, 3, 1, 0, 1, 1, 20, 3, 1, 0, 1, 1, 22, 3, 1, 0, 1, 9, 22, 3, 1, 0, 1, 9]
        #expect(TLSRecords.packed(mixed) == mixed)
        for broken: [UInt8] in [[], [22], [22, 3, 1, 0, 9, 1], [21, 3, 1, 0, 2, 1, 2]] { #expect(TLSRecords.packed(broken) == broken) }
        let large = [22, 3, 1, 0x40, 0] + [UInt8](repeating: 7, count: 1 << 14)
        #expect(TLSRecords.packed(large + large) == large + large, "a record holds 16384 octets")

        let server = try #require(try Certificates.server().handshake())
        let client = try #require(try Certificates.client("alice").handshake())
        guard case .more(let hello) = client.step([], at: TLSBench.start), case .more(let flight) = server.step(hello, at: TLSBench.start)
        else {
            Issue.record("the handshake does not begin")
            return
        }
        #expect(flight.first == 22 && flight.count == 5 + (Int(flight[3]) << 8 | Int(flight[4])))
    }

    @Test("a flight counts once: whoever repeats it, or comes from another endpoint with it, is challenged anew")
    func replay() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        var requests: [SIPRequest] = []
        for cSeq in 1...3 {
            var request = Bench.request(cSeq: cSeq)
            client.authorize(&request)
            requests.append(request)
            if cSeq == 3 {
                var moved = request
                moved.headers.set(.from, "<sip:alice@contoso.com>;tag=f1;epid=e2")
                #expect(bench.check(moved).answer?.isFailure == true)
            }
            if let response = Bench.response(bench.check(request), to: request) {
                _ = client.receive(challenge: response, at: TLSBench.start)
            }
        }
        let again = bench.check(requests[2])
        #expect(again.status == 401 && again.answer?.isFailure == true)
        #expect(again.values(.wwwAuthenticate).first?.contains("gssapi-data") == false)
        #expect(bench.authenticator.associationCount == 1)
    }

    @Test(
        "a certificate of another authority, one of 1024 bits, one with SHA-1, and one for servers do not sign anybody in",
        arguments: ["forged", "small", "old-hash", "wrong-purpose"])
    func refusedCertificates(_ name: String) throws {
        let bench = try TLSBench()
        var client = try TLSBench.client(name)
        let outcome = bench.signIn(&client)
        #expect(outcome.status == 401 && outcome.answer?.isFailure == true)
        #expect(outcome.answer?.explanation.hasPrefix("MS-SIPAE 3.3.5.2: the TLS handshake failed: ") == true)
        #expect(bench.authenticator.associationCount == 0 && bench.authenticator.handshakeCount == 0)
    }

    @Test("a certificate counts from its first moment to its last, by the caller's clock; so does what was signed in with it")
    func validity() throws {
        let bench = try TLSBench()
        let day = TimeSpan.seconds(86_400)
        for (moment, reason) in [
            (Instant(secondsSince1970: 1_700_000_000), "certificate is not yet valid"),
            (TLSBench.start + day * 40_000, "certificate has expired"),
        ] {
            var client = try TLSBench.client()
            // The client looks at the server's certificate at a time when it is valid.
            var outcome = AuthenticationOutcome.accepted(identity: "", association: nil)
            for cSeq in 1...3 {
                var request = Bench.request(cSeq: cSeq)
                client.authorize(&request)
                outcome = bench.check(request, at: moment)
                if let response = Bench.response(outcome, to: request) { _ = client.receive(challenge: response, at: TLSBench.start) }
            }
            #expect(outcome.answer?.explanation == "MS-SIPAE 3.3.5.2: the TLS handshake failed: \(reason)")
        }
        let (server, client) = (
            try #require(try Certificates.server().handshake()), try #require(try Certificates.client("alice").handshake())
        )
        var flight: [UInt8] = []
        var end: Instant?
        for _ in 0..<3 where end == nil {
            if case .more(let octets) = client.step(flight, at: TLSBench.start) { flight = octets }
            switch server.step(flight, at: TLSBench.start) {
            case .more(let octets): flight = octets
            case .done(_, let established): end = established.peer.end
            case .failed(let problem): Issue.record("\(problem)")
            }
        }
        let last = try #require(end)
        var late = try TLSBench.client()
        #expect(bench.association(&late, at: last - .seconds(60)) != nil)
        for (moment, isAccepted) in [(last - .seconds(1), true), (last, false)] {
            var request = Bench.request(.subscribe, cSeq: 9)
            late.authorize(&request)
            #expect(bench.check(request, at: moment).isAccepted == isAccepted)
        }
    }

    @Test(
        "MS-SIPAE 3.3.5.2: a certificate of somebody else than From is 403 with ErrorId 4004, and one with two common names is nobody's",
        arguments: [("bob", "alice@contoso.com"), ("two-faced", "alice@contoso.com"), ("two-names", "alice@contoso.com")])
    func wrongIdentity(_ name: String, _ from: String) throws {
        let bench = try TLSBench()
        var client = try TLSBench.client(name)
        let outcome = bench.signIn(&client, from: from)
        #expect(outcome.status == 403 && outcome.answer?.errorID == 4004)
        #expect(bench.authenticator.associationCount == 0)
    }

    @Test("whoever leaves the directory is signed in no more, and does not get in again")
    func userRemoved() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        _ = try #require(bench.association(&client))
        bench.users.remove("sip:alice@contoso.com")
        var request = Bench.request(.subscribe, cSeq: 9)
        client.authorize(&request)
        #expect(bench.check(request).status == 401)
        #expect(bench.authenticator.associationCount == 0)
        var again = try TLSBench.client()
        #expect(bench.signIn(&again).answer?.isFailure == true)
    }

    @Test("a client trusts no server of another authority, and none whose certificate does not name the target")
    func serverIdentity() throws {
        let bench = try TLSBench()
        var suspicious = try TLSBench.client(servers: "stranger")
        #expect(!bench.signIn(&suspicious).isAccepted)
        // Alice's certificate is good, but she is not edge1.example.net.
        bench.authenticator.use(tlsDSK: TLSDSKOffer(credentials: try Certificates.server("bob")))
        var client = try TLSBench.client()
        #expect(!bench.signIn(&client).isAccepted && !client.isSigning)
    }

    @Test("what TLS-DSK is offered with can be replaced while handshakes are under way; without it there is no offer")
    func replacement() throws {
        let bench = try TLSBench()
        var client = try TLSBench.client()
        for cSeq in 1...2 {
            var request = Bench.request(cSeq: cSeq)
            client.authorize(&request)
            if let response = Bench.response(bench.check(request), to: request) {
                _ = client.receive(challenge: response, at: TLSBench.start)
            }
        }
        bench.authenticator.use(tlsDSK: nil)
        #expect(bench.association(&client) != nil, "begun before, and ended as it began")
        #expect(bench.check(Bench.request()).values(.wwwAuthenticate).isEmpty)
    }

    // MARK: bounds

    @Test("tokens that are no base 64 are 400; those that are no TLS end the handshake", arguments: [("!!!!", 400), ("AAAA", 401)])
    func malformedToken(_ token: String, _ status: Int) throws {
        let bench = try TLSBench()
        var request = Bench.request()
        request.headers.set(
            .authorization,
            "TLS-DSK qop=\"auth\", realm=\"\(Authenticator.realm)\", targetname=\"edge1.example.net\", gssapi-data=\"\(token)\", version=4")
        var outcome = bench.check(request)
        // Three octets may yet become a record.
        if let opaque = outcome.values(.wwwAuthenticate).first.flatMap({ AuthorizationValue($0) })?["opaque"] {
            request.headers.set(
                .authorization,
                "TLS-DSK qop=\"auth\", realm=\"\(Authenticator.realm)\", targetname=\"edge1.example.net\", opaque=\"\(opaque)\", "
                    + "gssapi-data=\"\(Base64.text([UInt8](repeating: 0, count: 30)))\", version=4")
            outcome = bench.check(request)
        }
        #expect(outcome.status == status && outcome.answer?.isFailure == true)
        #expect(bench.authenticator.handshakeCount == 0)
    }

    @Test("handshakes are bounded in rounds and octets; beyond it they are forgotten")
    func roundLimit() throws {
        for change: (inout AuthenticationLimits) -> Void in [{ $0.handshakeRounds = 1 }, { $0.handshakeOctets = 400 }] {
            let bench = try TLSBench(change)
            var client = try TLSBench.client()
            let outcome = bench.signIn(&client)
            #expect(outcome.status == 401 && outcome.answer?.explanation.hasSuffix("too many rounds or octets") == true)
            #expect(bench.authenticator.handshakeCount == 0)
        }
    }

    @Test("too many handshakes of one address, or of all, are 503 with Retry-After until one has ended or lapsed")
    func handshakeLimits() throws {
        let bench = try TLSBench {
            $0.handshakesPerSource = 2
            $0.handshakes = 3
        }
        // As far as the second flight, the first that shows where the client is.
        func begin(from host: String, at now: Instant = TLSBench.start) throws -> AuthenticationOutcome {
            let source = MessageSource(local: bench.source.local, remote: TransportAddress(.tcp, host, 1), connection: nil)
            var client = try TLSBench.client()
            let offer = Bench.request()
            _ = client.receive(challenge: try #require(Bench.response(bench.check(offer, from: source, at: now), to: offer)), at: now)
            var request = Bench.request(cSeq: 2)
            client.authorize(&request)
            let hello = bench.check(request, from: source, at: now)
            guard let opaque = hello.values(.wwwAuthenticate).first.flatMap({ AuthorizationValue($0) })?["opaque"] else { return hello }
            request.headers.set(
                .authorization,
                "TLS-DSK qop=\"auth\", realm=\"\(Authenticator.realm)\", targetname=\"edge1.example.net\", opaque=\"\(opaque)\", "
                    + "gssapi-data=\"\", version=4")
            return bench.check(request, from: source, at: now)
        }
        #expect(try begin(from: "192.0.2.1").status == 401)
        #expect(try begin(from: "192.0.2.1").status == 401)
        let third = try begin(from: "192.0.2.1")
        #expect(third.status == 503 && third.values(.retryAfter) == ["60"])
        #expect(try begin(from: "192.0.2.2").status == 401)
        #expect(try begin(from: "192.0.2.3").status == 503)
        #expect(bench.authenticator.handshakeCount == 3)
        let later = TLSBench.start + .seconds(120)
        #expect(try begin(from: "192.0.2.1", at: later).status == 401)
        #expect(bench.authenticator.handshakeCount == 1, "those that nobody went on with have lapsed")
    }

    @Test("handshakes that fail leave nothing behind but one count per address, which shuts that address out for a while")
    func limiter() throws {
        let bench = try TLSBench { $0.failures = 3 }
        for _ in 0..<3 {
            var client = try TLSBench.client("forged")
            #expect(bench.signIn(&client).status == 401)
        }
        #expect(bench.authenticator.rememberedCount == 1)
        var client = try TLSBench.client()
        #expect(bench.signIn(&client).status == 503)
    }

    @Test("handshakes that are begun with a forged address, and never continued, make room for those of its users")
    func madeUpHandshakes() throws {
        let bench = try TLSBench {
            $0.failures = 3
            $0.handshakesPerSource = 2
            $0.handshakes = 3
        }
        let hello = Bench.request(cSeq: 2)
        func forge(_ opaque: String?, _ octets: [UInt8], from host: String = "192.0.2.9") {
            var request = hello
            request.headers.set(
                .authorization,
                "TLS-DSK qop=\"auth\", realm=\"\(Authenticator.realm)\", targetname=\"edge1.example.net\", "
                    + (opaque.map { "opaque=\"\($0)\", " } ?? "") + "gssapi-data=\"\(Base64.text(octets))\", version=4")
            let source = MessageSource(local: bench.source.local, remote: TransportAddress(.udp, host, 1), connection: nil)
            #expect(bench.check(request, from: source).status == 401)
        }
        for number in 0..<20 {
            // The beginning of a TLS record, what is none, and the continuation of an unknown handshake.
            forge(nil, [22, 3, 1], from: "192.0.2.\(number % 5 + 7)")
            forge(nil, [UInt8](repeating: 0, count: 30))
            forge(String(repeating: "0", count: 32), [22, 3, 1])
        }
        #expect((2...3).contains(bench.authenticator.handshakeCount))
        var client = try TLSBench.client()
        #expect(bench.association(&client) != nil)
    }

    @Test("a full table of associations is 503")
    func fullTable() throws {
        let bench = try TLSBench { $0.associations = 1 }
        var alice = try TLSBench.client()
        #expect(bench.association(&alice) != nil)
        var bob = try TLSBench.client("bob")
        #expect(bench.signIn(&bob, from: "bob@contoso.com").status == 503)
    }

    // MARK: credentials

    @Test("credentials that cannot be used are refused by the name of the text")
    func problems() throws {
        let (certificate, key, authority) = (
            try Certificates.pem("server.pem"), try Certificates.pem("server.key"), try Certificates.pem("authority.pem")
        )
        func problem(_ certificate: [UInt8], _ key: [UInt8], _ authority: [UInt8]) -> String? {
            do throws(TLSDSKCredentials.Problem) {
                _ = try TLSDSKCredentials(certificate: certificate, key: key, clientAuthority: authority)
                return nil
            } catch {
                return error.description
            }
        }
        #expect(problem(certificate, key, authority) == nil)
        #expect(problem(key, key, authority) == "certificate: holds no certificate in PEM form")
        #expect(
            problem(certificate, certificate, authority)
                == "key: holds no private key in PEM form that can be read without a passphrase")
        #expect(problem(certificate, try Certificates.pem("alice.key"), authority) == "key: is not the key of the certificate")
        #expect(problem(certificate, key, []) == "authority: holds no certificate in PEM form")
    }
}
