import SIPCore
import Synchronization

/// Digest of RFC 7616, with qop `auth`, as RFC 8760 uses it in SIP; no user hash is offered.
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
        // First the nonce: without one of its own address a response may come from any other, and says nothing about the users there.
        guard
            let issued = DigestNonce.issued(
                given.nonce, realm: claim.domain, host: claim.source.remote.host, key: keys.digestNonce),
            issued <= now, now - issued < limits.nonceLifetime
        else { return challenge(claim, demand, .stale, at: now) }
        let login = LoginName(digestUser: given.user, realm: claim.domain)
        let attempt = SignInAttempt(user: "\(login.user)@\(login.domain)", from: claim.source)
        if let pause = pause(attempt, at: now) { return pause }
        let account = lookup(login)
        // Always made, so that a user who does not exist takes no less work than one who does.
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
    /// Digest's username, with or without the realm behind an `@`.
    fileprivate init(digestUser: String, realm: String) {
        let suffix = "@" + realm
        let isFull = digestUser.lowercased().hasSuffix(suffix) && digestUser.count > suffix.count
        self.init(user: isFull ? String(digestUser.dropLast(suffix.count)) : digestUser, domain: realm)
    }
}
