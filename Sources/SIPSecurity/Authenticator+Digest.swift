import SIPCore
import Synchronization

/// Digest of RFC 7616 with qop `auth`, as RFC 8760 profiles it for SIP; user hashes are not offered.
extension Authenticator {
    func checkDigest(
        _ value: AuthorizationValue, _ request: SIPRequest, _ claim: Claim, _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        let given: DigestCredentials
        do throws(DigestCredentials.Problem) {
            given = try DigestCredentials(value)
        } catch {
            return .refused(AuthenticationAnswer(.badRequest, error.rawValue))
        }
        guard demand.digestAlgorithms.contains(given.algorithm) else {
            return .refused(AuthenticationAnswer(.badRequest, DigestCredentials.Problem.algorithm.rawValue))
        }
        guard given.names(request) else {
            return .refused(AuthenticationAnswer(.badRequest, "RFC 7616 3.4.6: the digest uri is not the Request-URI"))
        }
        let verdict = verify(given, realm: claim.domain, over: .sip, from: claim.source, at: now) {
            given.expectedResponse(userHash: $0, method: request.method)
        }
        let account: Account
        switch verdict {
        case .stale: return challenge(claim, demand, .stale, at: now)
        case .wrong: return challenge(claim, demand, .wrong, at: now)
        case .paused(let pause): return Self.paused(pause)
        case .right(let found): account = found
        }
        guard account.identity == claim.identity else { return Self.wrongIdentity }
        return .accepted(identity: account.identity, association: nil)
    }

    /// Protocol of a request with Digest credentials.
    enum DigestProtocol { case sip, http }

    /// Result of checking Digest credentials.
    enum DigestVerdict {
        /// The nonce is too old, was used, or was not given to this address.
        case stale
        case wrong
        /// Too many attempts failed; seconds until the next one may be made.
        case paused(Int)
        case right(Account)
    }

    /// Checks nonce, password and counter of Digest credentials, and counts a failure.
    /// - Parameter expected: the right response for H(A1).
    func verify(
        _ given: DigestCredentials, realm: String, over used: DigestProtocol, from source: MessageSource, at now: Instant,
        expected: ([UInt8]) -> [UInt8]
    ) -> DigestVerdict {
        // Nonce first: a response without a nonce of its own address may be forged, so it must not count as a failure of the user.
        guard let issued = DigestNonce.issued(given.nonce, realm: realm, host: source.remote.host, key: keys.nonce(of: used)),
            issued <= now, now - issued < limits.nonceLifetime
        else { return .stale }
        let login = LoginName(digestUser: given.user, realm: realm)
        let attempt = SignInAttempt(user: "\(login.user)@\(login.domain)", from: source)
        if let pause = tables.withLock({ $0.failures.pause(of: attempt, at: now) }) { return .paused(pause) }
        let account = lookup(login)
        // Computed also for unknown users, so that the time does not reveal which users exist.
        let nobody = given.algorithm.hash.authenticationCode(given.user.utf8, key: keys.unknownUser)
        let userHash = account.map { given.algorithm == .md5 ? $0.verifiers.md5 : $0.verifiers.sha256 } ?? nobody
        let isRight = ConstantTime.equal(expected(userHash), given.response)
        guard isRight, let account else {
            tables.withLock { $0.failures.noteFailure(of: attempt, at: now) }
            return .wrong
        }
        let isFresh = tables.withLock { tables in
            tables.failures.noteSuccess(of: attempt)
            let nonces: WritableKeyPath<Tables, NonceTable> = used == .sip ? \.nonces : \.httpNonces
            return tables[keyPath: nonces].accept(
                given.nonce, issued: issued, counter: given.counter, until: issued + limits.nonceLifetime, at: now)
        }
        return isFresh ? .right(account) : .stale
    }
}

extension LoginName {
    /// Splits a Digest username, which may end in `@` and the realm.
    fileprivate init(digestUser: String, realm: String) {
        let suffix = "@" + realm
        let isFull = digestUser.lowercased().hasSuffix(suffix) && digestUser.count > suffix.count
        self.init(user: isFull ? String(digestUser.dropLast(suffix.count)) : digestUser, domain: realm)
    }
}
