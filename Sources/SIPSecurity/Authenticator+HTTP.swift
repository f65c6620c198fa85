import SIPCore
import Synchronization

/// HTTP request, as far as Digest covers it (RFC 7616 3.4).
public struct HTTPCredentialsRequest: Sendable {
    /// Method, with case.
    public var method: String
    /// Request target as received.
    public var target: String
    /// Content, for qop `auth-int`.
    public var body: [UInt8]
    /// Values of Authorization.
    public var authorization: [String]
    /// Address of the client.
    public var source: MessageSource

    /// Creates a request.
    public init(method: String, target: String, body: [UInt8], authorization: [String], source: MessageSource) {
        self.method = method
        self.target = target
        self.body = body
        self.authorization = authorization
        self.source = source
    }
}

/// Result of authenticating an HTTP request.
public enum HTTPAuthenticationOutcome: Equatable, Sendable {
    /// The sender is this user, by `aorKey`.
    case accepted(identity: String)
    /// 401 with these values of WWW-Authenticate.
    case challenge([String])
    /// Another status, with Retry-After in seconds where a later attempt may succeed.
    case refused(status: Int, retryAfter: Int?)
}

/// Digest over HTTP (RFC 7616) with qop `auth` and `auth-int`. Failures and pauses are those of SIP; nonces and their counters are not, so that
/// no credentials are valid for both protocols, and a flood of one forgets no nonce of the other.
extension Authenticator {
    /// Authenticates a request; call it once per request.
    /// - Parameters:
    ///   - realms: SIP domains of users that may sign in, in lower case; the first one is challenged. Empty: no user may.
    ///   - algorithms: offered algorithms, preferred first.
    public func check(
        _ request: HTTPCredentialsRequest, realms: [String], algorithms: [DigestAlgorithm] = [.sha256, .md5], at now: Instant
    ) -> HTTPAuthenticationOutcome {
        guard let realm = realms.first else { return .refused(status: 403, retryAfter: nil) }
        func challenge(isStale: Bool = false) -> HTTPAuthenticationOutcome {
            let random = tables.withLock { $0.keys.draw(8) }
            let nonce = DigestNonce.text(
                at: now, realm: realm, host: request.source.remote.host, random: random, key: keys.nonce(of: .http))
            let stale = isStale ? ", stale=true" : ""
            return .challenge(
                algorithms.map {
                    "Digest realm=\"\(realm)\", nonce=\"\(nonce)\", qop=\"auth,auth-int\", algorithm=\($0.rawValue)\(stale)"
                })
        }
        for line in request.authorization.prefix(Self.credentialLimit) {
            // Credentials of other schemes, such as Bearer, have forms of their own.
            guard AuthorizationValue.scheme(of: line)?.lowercased() == "digest" else { continue }
            guard let value = AuthorizationValue(line) else { return .refused(status: 400, retryAfter: nil) }
            guard let named = value["realm"]?.lowercased(), realms.contains(named) else { continue }
            guard let given = try? DigestCredentials(value, allowsBody: true), algorithms.contains(given.algorithm),
                given.uri == request.target
            else { return .refused(status: 400, retryAfter: nil) }
            let verdict = verify(given, realm: named, over: .http, from: request.source, at: now) {
                given.expectedResponse(userHash: $0, method: request.method, body: request.body)
            }
            switch verdict {
            case .stale: return challenge(isStale: true)
            case .wrong: return challenge()
            case .paused(let pause): return .refused(status: 503, retryAfter: pause)
            case .right(let account): return .accepted(identity: account.identity)
            }
        }
        return challenge()
    }
}
