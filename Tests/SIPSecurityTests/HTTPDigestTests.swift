import SIPCore
import Testing

@testable import SIPSecurity

/// Digest over HTTP (RFC 7616).
@Suite struct HTTPDigestTests {
    private static let target = "/xcap-root/resource-lists/users/sip:alice@contoso.com/index?xmlns(a=b)"

    private struct Client {
        var user = "alice"
        var realm = "contoso.com"
        var password = "Pa$$w0rd"
        var qop = "auth"
        var counter = "00000001"

        /// A value of Authorization for a challenge, computed here a second time.
        func authorization(_ algorithm: DigestAlgorithm, nonce: String, method: String, uri: String, body: String) -> String {
            func hash(_ text: String) -> String { algorithm.hash.hexDigest(text) }
            let content = qop == "auth-int" ? ":\(hash(body))" : ""
            let response = hash(
                "\(hash("\(user):\(realm):\(password)")):\(nonce):\(counter):c:\(qop):\(hash("\(method):\(uri)\(content)"))")
            return "Digest username=\"\(user)\", realm=\"\(realm)\", nonce=\"\(nonce)\", uri=\"\(uri)\", qop=\(qop), nc=\(counter), "
                + "cnonce=\"c\", algorithm=\(algorithm.rawValue), response=\"\(response)\""
        }
    }

    private static func check(
        _ bench: Bench, _ authorization: String? = nil, method: String = "PUT", target: String = target, body: String = "octets",
        from source: MessageSource? = nil, at now: Instant = Bench.start
    ) -> HTTPAuthenticationOutcome {
        bench.authenticator.check(
            HTTPCredentialsRequest(
                method: method, target: target, body: Array(body.utf8), authorization: authorization.map { [$0] } ?? [],
                source: source ?? bench.source), realms: ["contoso.com", "example.com"], at: now)
    }

    private static func nonce(_ outcome: HTTPAuthenticationOutcome) throws -> String {
        guard case .challenge(let values) = outcome else { throw Missing() }
        return try #require(AuthorizationValue(values[0])?["nonce"])
    }

    private struct Missing: Error {}

    @Test("RFC 7616 3.3: the challenge offers SHA-256 before MD5, and qop auth and auth-int")
    func challenge() throws {
        guard case .challenge(let values) = Self.check(try Bench()) else { throw Missing() }
        #expect(values.count == 2)
        #expect(values[0].hasPrefix("Digest realm=\"contoso.com\", nonce=\""))
        #expect(values[0].hasSuffix("qop=\"auth,auth-int\", algorithm=SHA-256") && values[1].hasSuffix("algorithm=MD5"))
    }

    @Test(
        "RFC 7616 3.4.1, 3.4.3: both algorithms and both qops are accepted; auth-int covers the content",
        arguments: DigestAlgorithm.allCases)
    func accepted(_ algorithm: DigestAlgorithm) throws {
        let bench = try Bench()
        for qop in ["auth", "auth-int"] {
            var client = Client()
            client.qop = qop
            let nonce = try Self.nonce(Self.check(bench))
            let value = client.authorization(algorithm, nonce: nonce, method: "PUT", uri: Self.target, body: "octets")
            let isOther = Self.check(bench, value, body: "other octets") == .accepted(identity: "sip:alice@contoso.com")
            #expect(isOther == (qop == "auth"))
            client.counter = "00000002"
            let next = client.authorization(algorithm, nonce: nonce, method: "PUT", uri: Self.target, body: "octets")
            #expect(Self.check(bench, next) == .accepted(identity: "sip:alice@contoso.com"))
        }
    }

    @Test("RFC 7616 3.4.6, 3.3: another target is 400; a used counter, an old nonce and one of another address are stale")
    func refused() throws {
        let bench = try Bench()
        let nonce = try Self.nonce(Self.check(bench))
        let value = Client().authorization(.sha256, nonce: nonce, method: "PUT", uri: Self.target, body: "")
        #expect(Self.check(bench, value, target: Self.target + "x") == .refused(status: 400, retryAfter: nil))
        func isStale(_ outcome: HTTPAuthenticationOutcome) -> Bool {
            if case .challenge(let values) = outcome { values.allSatisfy { $0.hasSuffix("stale=true") } } else { false }
        }
        let elsewhere = MessageSource(local: bench.source.local, remote: TransportAddress(.tcp, "192.0.2.77", 1))
        #expect(isStale(Self.check(bench, value, from: elsewhere)))
        #expect(isStale(Self.check(bench, value, at: Bench.start + .seconds(301))))
        #expect(Self.check(bench, value) == .accepted(identity: "sip:alice@contoso.com"))
        #expect(isStale(Self.check(bench, value)))
    }

    @Test("RFC 7235 2.1: credentials of another scheme are answered with a challenge, malformed Digest credentials with 400")
    func otherSchemes() throws {
        let bench = try Bench()
        for value in ["Bearer abc.def", "Basic YWxpY2U6UGEkJHcwcmQ=", "NTLM TlRMTVNTUAAB", "Negotiate", ""] {
            guard case .challenge = Self.check(bench, value) else {
                Issue.record("\(value)")
                continue
            }
        }
        #expect(Self.check(bench, "Digest realm=\"contoso.com\" nonce") == .refused(status: 400, retryAfter: nil))
    }

    @Test("a nonce of SIP proves nothing over HTTP, and one of HTTP nothing over SIP")
    func protocols() throws {
        let bench = try Bench()
        let random: [UInt8] = Array(repeating: 7, count: 8)
        let keys = bench.authenticator.keys
        func issued(_ nonce: String, _ used: Authenticator.DigestProtocol) -> Instant? {
            DigestNonce.issued(nonce, realm: "contoso.com", host: bench.source.remote.host, key: keys.nonce(of: used))
        }
        let sip = DigestNonce.text(
            at: Bench.start, realm: "contoso.com", host: bench.source.remote.host, random: random, key: keys.nonce(of: .sip))
        #expect(issued(sip, .sip) == Bench.start && issued(sip, .http) == nil)
        let value = Client().authorization(.sha256, nonce: sip, method: "PUT", uri: Self.target, body: "octets")
        guard case .challenge(let values) = Self.check(bench, value) else { throw Missing() }
        #expect(values.allSatisfy { $0.hasSuffix("stale=true") })
        let http = try Self.nonce(Self.check(bench))
        #expect(issued(http, .http) != nil && issued(http, .sip) == nil)
        let right = Client().authorization(.sha256, nonce: http, method: "PUT", uri: Self.target, body: "octets")
        #expect(Self.check(bench, right) == .accepted(identity: "sip:alice@contoso.com"))
    }

    @Test("a wrong password and an unknown user get the same new challenge; after too many failures 503 with Retry-After")
    func failures() throws {
        let bench = try Bench { $0.failures = 2 }
        for user in ["alice", "nobody"] {
            for attempt in 0..<3 {
                let nonce = try Self.nonce(Self.check(bench))
                let client = Client(user: user, password: "guess")
                let outcome = Self.check(
                    bench, client.authorization(.md5, nonce: nonce, method: "PUT", uri: Self.target, body: ""))
                if attempt < 2 {
                    guard case .challenge(let values) = outcome else { throw Missing() }
                    #expect(values.allSatisfy { !$0.contains("stale") })
                } else {
                    guard case .refused(503, let pause?) = outcome else { throw Missing() }
                    #expect(pause > 0)
                }
            }
        }
    }
}
