import Foundation
import SIPCore
import Synchronization
import ThrowAwayCertificates

@testable import SIPSecurity

/// Certificates of a throw-away authority, made once by OpenSSL's command; no key of it stays on the disk.
struct Certificates {
    static let made = Result { try Certificates() }

    private let files: [String: [UInt8]]

    private init() throws { files = try ThrowAwayCertificates.pool.files() }

    /// The PEM text of a file, such as `alice.key`.
    static func pem(_ name: String) throws -> [UInt8] {
        guard let bytes = try made.get().files[name] else { throw CocoaError(.fileNoSuchFile) }
        return bytes
    }

    static func server(_ name: String = "server", clients: String = "authority") throws -> TLSDSKCredentials {
        try TLSDSKCredentials(certificate: pem("\(name).pem"), key: pem("\(name).key"), clientAuthority: pem("\(clients).pem"))
    }

    static func client(_ name: String, servers: String = "authority") throws -> TLSDSKCredentials {
        try TLSDSKCredentials(certificate: pem("\(name).pem"), key: pem("\(name).key"), serverAuthority: pem("\(servers).pem"))
    }
}

/// An authenticator that offers TLS-DSK, and clients for it, in 2050: later than the certificates begin, and before they end.
struct TLSBench {
    static let start = Instant(secondsSince1970: 2_524_608_000)
    static let tlsDSK = AuthenticationDemand(offersNTLM: false, offersTLSDSK: true, digestAlgorithms: [])

    /// Users who may leave under the authenticator.
    final class Users: Sendable {
        private let keys = Mutex<Set<String>>(["sip:alice@contoso.com", "sip:bob@contoso.com"])

        func contains(_ key: String) -> Bool { keys.withLock { $0.contains(key) } }
        func remove(_ key: String) { keys.withLock { _ = $0.remove(key) } }
    }

    let users = Users()
    let authenticator: Authenticator
    let source = MessageSource(
        local: TransportAddress(.tcp, "192.0.2.1", 5060), remote: TransportAddress(.tcp, "192.0.2.9", 40_000),
        connection: ConnectionID(rawValue: 7))

    init(certificateService: String? = nil, _ change: (inout AuthenticationLimits) -> Void = { _ in }) throws {
        var limits = AuthenticationLimits()
        change(&limits)
        let users = users
        authenticator = Authenticator(
            targetName: "edge1.example.net", secret: Bench.secret, limits: limits,
            tlsDSK: TLSDSKOffer(credentials: try Certificates.server(), certificateService: certificateService),
            isUser: { users.contains($0) }, lookup: { _ in nil })
    }

    static func client(_ name: String = "alice", servers: String = "authority") throws -> TLSDSKClient {
        TLSDSKClient(credentials: try Certificates.client(name, servers: servers), secret: [UInt8](repeating: 5, count: 32))
    }

    func check(_ request: SIPRequest, from source: MessageSource? = nil, at now: Instant = TLSBench.start) -> AuthenticationOutcome {
        authenticator.check(request, from: source ?? self.source, under: Self.tlsDSK, at: now)
    }

    /// Signs in as far as it goes; the outcome of the last request.
    func signIn(
        _ client: inout TLSDSKClient, from user: String = "alice@contoso.com", epid: String = "e1", source: MessageSource? = nil,
        at now: Instant = TLSBench.start
    ) -> AuthenticationOutcome {
        for cSeq in 1...9 {
            var request = Bench.request(from: user, epid: epid, cSeq: cSeq)
            client.authorize(&request)
            let outcome = check(request, from: source, at: now)
            guard let response = Bench.response(outcome, to: request), response.status == .unauthorized,
                client.receive(challenge: response, at: now)
            else { return outcome }
        }
        return check(Bench.request(from: user, epid: epid))
    }

    /// The association of a sign-in; nil if it failed.
    func association(_ client: inout TLSDSKClient, from user: String = "alice@contoso.com", at now: Instant = TLSBench.start) -> String? {
        if case .accepted(_, let association) = signIn(&client, from: user, at: now) { association } else { nil }
    }
}
