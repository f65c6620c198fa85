import Foundation
import SIPCore
import SIPSecurity

/// Sign-ins with the three schemes, up to the message that the fuzzer provides.
enum SignIns {
    static let start = Instant(secondsSince1970: 2_524_608_000)
    static let secret = [UInt8](repeating: 3, count: 32)
    static let source = MessageSource(
        local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.9", 40_000),
        connection: ConnectionID(rawValue: 7))
    static let passwords = AuthenticationDemand(offersNTLM: true, digestAlgorithms: [.sha256, .md5])
    static let certificates = AuthenticationDemand(offersNTLM: false, offersTLSDSK: true, digestAlgorithms: [])

    /// Limits without pauses, so that each input is processed.
    static let limits = {
        var limits = AuthenticationLimits()
        limits.failures = 1_000_000_000
        return limits
    }()

    static func authenticator(_ offer: TLSDSKOffer? = nil) -> Authenticator {
        guard let verifiers = try? CredentialVerifiers(user: "alice", realm: "contoso.com", password: "Pa$$w0rd") else {
            fatalError("the user of the fuzz targets cannot be made")
        }
        return Authenticator(targetName: "edge1.example.net", secret: secret, limits: limits, tlsDSK: offer, isUser: { _ in true }) {
            $0.user.lowercased() == "alice" ? Account(identity: "sip:alice@contoso.com", verifiers: verifiers) : nil
        }
    }

    static func request(_ number: Int = 1) -> SIPRequest {
        var request = SIPRequest(.register, requestURI: "sip:contoso.com")
        request.headers.append(.via, "SIP/2.0/TCP 192.0.2.9:40000;branch=z9hG4bK\(number)")
        request.headers.append(.from, "<sip:alice@contoso.com>;tag=f1;epid=e1")
        request.headers.append(.to, "<sip:alice@contoso.com>")
        request.headers.append(.callID, "c1")
        request.headers.append(.cSeq, "\(number) REGISTER")
        return request
    }

    /// Response for the client; nil when the request was accepted.
    static func response(_ outcome: AuthenticationOutcome, to request: SIPRequest) -> SIPResponse? {
        switch outcome {
        case .accepted: return nil
        case .challenge(let answer), .refused(let answer):
            var response = SIPResponse(to: request, status: answer.status, toTag: "t")
            for header in answer.headers { response.headers.append(header.name, header.value) }
            return response
        }
    }

    /// Value of a quoted parameter.
    static func parameter(_ name: String, of line: String?) -> String? {
        guard let line, let range = line.range(of: "\(name)=\"") else { return nil }
        return String(line[range.upperBound...].prefix { $0 != "\"" })
    }

    static func client(withCode: Bool) -> NTLMClient {
        NTLMClient(user: "alice", domain: "CONTOSO", password: "Pa$$w0rd", secret: secret, sendsIntegrityCode: withCode)
    }

    /// Runs a sign-in and returns each token that client and server wrote, in order.
    static func ntlmTokens(withCode: Bool) -> [Data] {
        let authenticator = authenticator()
        var client = client(withCode: withCode)
        var tokens: [Data] = []
        for number in 1...3 {
            var request = request(number)
            client.authorize(&request)
            tokens += token(request.headers.first(.authorization))
            let outcome = authenticator.check(request, from: source, under: passwords, at: start)
            guard let response = response(outcome, to: request) else { return tokens }
            tokens += response.headers.values(.wwwAuthenticate).flatMap { token($0) }
            _ = client.receive(challenge: response)
        }
        fatalError("the sign-in whose messages are the seeds was not accepted")
    }

    private static func token(_ line: String?) -> [Data] {
        parameter("gssapi-data", of: line).flatMap { $0.isEmpty ? nil : Data(base64Encoded: $0) }.map { [$0] } ?? []
    }

    /// Writes the CHALLENGE and AUTHENTICATE messages of sign-ins with and without integrity code to `ntlm-challenge` and
    /// `ntlm-authenticate`.
    static func writeSeeds(to directory: String) throws {
        for (index, withCode) in [false, true].enumerated() {
            let tokens = ntlmTokens(withCode: withCode)
            for (name, token) in zip(["ntlm-challenge", "ntlm-authenticate"], tokens) {
                let folder = URL(fileURLWithPath: directory, isDirectory: true).appendingPathComponent(name)
                try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
                try token.write(to: folder.appendingPathComponent("sign-in-\(index)"))
            }
        }
    }
}

extension FuzzTarget {
    static let signIns = [
        FuzzTarget("ntlm-authenticate", seeds: []) { bytes in
            // Answers a real challenge, so that the message is parsed.
            let (authenticator, opaque) = ntlmChallenge
            var request = SignIns.request(2)
            request.headers.append(
                .authorization,
                "NTLM realm=\"SIP Communications Service\", targetname=\"edge1.example.net\", opaque=\"\(opaque)\", "
                    + "gssapi-data=\"\(Data(bytes).base64EncodedString())\", version=3")
            _ = authenticator.check(request, from: SignIns.source, under: SignIns.passwords, at: SignIns.start)
        },
        FuzzTarget("ntlm-challenge", seeds: []) { bytes in
            var client = SignIns.client(withCode: bytes.count.isMultiple(of: 2))
            let request = SignIns.request()
            var response = SIPResponse(to: request, status: .unauthorized, toTag: "t")
            response.headers.append(
                .wwwAuthenticate,
                "NTLM realm=\"SIP Communications Service\", targetname=\"edge1.example.net\", opaque=\"1\", "
                    + "gssapi-data=\"\(Data(bytes).base64EncodedString())\", version=4")
            guard client.receive(challenge: response) else { return }
            var next = SignIns.request(2)
            client.authorize(&next)
        },
        FuzzTarget("authorization", seeds: ["Fuzz/Seeds/authorization"]) { bytes in
            // All schemes, with parameters from the fuzzer.
            let (authenticator, _) = ntlmChallenge
            var request = SignIns.request(2)
            request.headers.append(.authorization, String(decoding: bytes, as: UTF8.self))
            _ = authenticator.check(request, from: SignIns.source, under: SignIns.passwords, at: SignIns.start)
            var response = SIPResponse(to: request, status: .unauthorized, toTag: "t")
            response.headers.append(.wwwAuthenticate, String(decoding: bytes, as: UTF8.self))
            var digest = DigestClient(user: "alice", password: "Pa$$w0rd", secret: SignIns.secret)
            if digest.receive(challenge: response) { digest.authorize(&request) }
            var ntlm = SignIns.client(withCode: false)
            if ntlm.receive(challenge: response) { ntlm.authorize(&request) }
        },
        FuzzTarget("tls-dsk-server", seeds: ["Fuzz/Seeds/tls-dsk"]) { TLSDSKRun(edits: $0, ofClient: true).play() },
        FuzzTarget("tls-dsk-client", seeds: ["Fuzz/Seeds/tls-dsk"]) { TLSDSKRun(edits: $0, ofClient: false).play() },
    ]

    private static let ntlmChallenge: (Authenticator, opaque: String) = {
        let authenticator = SignIns.authenticator()
        var client = SignIns.client(withCode: false)
        for number in 1...2 {
            var request = SignIns.request(number)
            client.authorize(&request)
            let outcome = authenticator.check(request, from: SignIns.source, under: SignIns.passwords, at: SignIns.start)
            guard let response = SignIns.response(outcome, to: request) else { break }
            if let opaque = response.headers.values(.wwwAuthenticate).compactMap({ SignIns.parameter("opaque", of: $0) }).first {
                return (authenticator, opaque)
            }
            _ = client.receive(challenge: response)
        }
        fatalError("the authenticator gives no challenge")
    }()
}
