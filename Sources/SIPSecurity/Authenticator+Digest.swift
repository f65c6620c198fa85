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
        // Nonce first: a response without a nonce of its own address may be forged, so it must not count as a failure of the user.
        guard
            let issued = DigestNonce.issued(
                given.nonce, realm: claim.domain, host: claim.source.remote.host, key: keys.digestNonce),
            issued <= now, now - issued < limits.nonceLifetime
        else { return challenge(claim, demand, .stale, at: now) }
        let login = LoginName(digestUser: given.user, realm: claim.domain)
        let attempt = SignInAttempt(user: "\(login.user)@\(login.domain)", from: claim.source)
        if let pause = pause(attempt, at: now) { return pause }
        let account = lookup(login)
        // Computed also for unknown users, so that the time does not reveal which users exist.
        let nobody = given.algorithm.hash.authenticationCode(given.user.utf8, key: keys.unknownUser)
        let userHash = account.map { given.algorithm == .md5 ? $0.verifiers.md5 : $0.verifiers.sha256 } ?? nobody
        let isRight = ConstantTime.equal(given.expectedResponse(userHash: userHash, method: request.method), given.response)
        guard isRight, let account else { return fail(attempt, claim, demand, at: now) }
        let isFresh = tables.withLock { tables in
            tables.failures.noteSuccess(of: attempt)
            return tables.nonces.accept(
                given.nonce, issued: issued, counter: given.counter, until: issued + limits.nonceLifetime, at: now)
        }
        guard isFresh else { return challenge(claim, demand, .stale, at: now) }
        guard account.identity == claim.identity else { return Self.wrongIdentity }
        return .accepted(identity: account.identity, association: nil)
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
