import SIPCore
import Synchronization

/// Connectionless NTLM in SIP (MS-SIPAE 3.3.5.1).
///
///     client                                   server
///       REGISTER  ------------------------------> 401 NTLM realm, targetname, version
///       REGISTER gssapi-data=""  ---------------> 401 opaque, gssapi-data=CHALLENGE
///       REGISTER opaque, gssapi-data=AUTHENTICATE, signed --> 200, signed
///       every request: opaque, crand, cnum, response -------> every message: srand, snum, rspauth
extension Authenticator {
    func checkNTLM(
        _ value: AuthorizationValue, isProxy: Bool, _ request: SIPRequest, _ claim: Claim, _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        tables.withLock { $0.associations.sweep(at: now) }
        switch (value["gssapi-data"], value["opaque"]) {
        case (""?, _):
            return challengeNTLM(claim, at: now)
        case (let token?, let opaque?):
            return authenticate(token, opaque, value, isProxy: isProxy, request, claim, demand, at: now)
        case (nil, let opaque?):
            return checkSignature(value, opaque, isProxy: isProxy, request, claim, demand, at: now)
        case (_?, nil):
            return .refused(AuthenticationAnswer(.badRequest, "MS-SIPAE 2.2.2: an AUTHENTICATE message needs the challenge's opaque"))
        case (nil, nil):
            return challenge(claim, demand, .missing, at: now)
        }
    }

    // MARK: Stateless challenge

    private func challengeNTLM(_ claim: Claim, at now: Instant) -> AuthenticationOutcome {
        let random = tables.withLock { $0.keys.draw(8) }
        let opaque = handshake(at: now, random: random, claim)
        let message = challengeMessage(opaque, claim)
        let value =
            "NTLM opaque=\"\(opaque)\", gssapi-data=\"\(Base64.text(message))\", targetname=\"\(targetName)\", realm=\"\(Self.realm)\", version=4"
        return .challenge(
            AuthenticationAnswer(
                .unauthorized, "MS-SIPAE 3.3.5.1: the challenge is to be answered",
                headers: [.init(.wwwAuthenticate, value), .init(.date, HeaderDate.text(now))], isFailure: false))
    }

    /// The CHALLENGE message of a handshake; equal for equal handshakes, so that it need not be stored.
    private func challengeMessage(_ opaque: String, _ claim: Claim) -> [UInt8] {
        NTLMChallenge(serverChallenge: serverChallenge(opaque), domain: claim.domain, server: targetName).encoded()
    }

    /// The name of a handshake: its time in seconds, random octets, and a keyed hash over both with user, endpoint and address.
    private func handshake(at now: Instant, random: [UInt8], _ claim: Claim) -> String {
        let seconds = UInt32(clamping: now.secondsSince1970)
        let head = (0..<4).reversed().map { UInt8(truncatingIfNeeded: seconds >> UInt32($0 * 8)) } + random
        return Hexadecimal.text(head + seal(head, claim))
    }

    private func seal(_ head: [UInt8], _ claim: Claim) -> [UInt8] {
        let bound = Array("\(claim.identity)\n\(claim.endpoint)\n\(claim.source.remote.host)".utf8)
        return Array(HashAlgorithm.sha256.authenticationCode(head + bound, key: keys.ntlmChallenge).prefix(12))
    }

    /// The end of a handshake; nil unless this server issued it to this user, endpoint and address, and it has not expired.
    private func handshakeEnd(_ opaque: String, _ claim: Claim, at now: Instant) -> Instant? {
        guard opaque.utf8.count == 48, let bytes = Hexadecimal.bytes(opaque) else { return nil }
        let head = Array(bytes.prefix(12))
        guard ConstantTime.equal(Array(bytes.suffix(12)), seal(head, claim)) else { return nil }
        let seconds = head.prefix(4).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        let end = Instant(secondsSince1970: seconds) + limits.handshakeLifetime
        return now < end ? end : nil
    }

    private func serverChallenge(_ opaque: String) -> [UInt8] {
        Array(HashAlgorithm.sha256.authenticationCode(opaque.utf8, key: keys.ntlmChallenge).prefix(8))
    }

    // MARK: AUTHENTICATE

    private func authenticate(
        _ token: String, _ opaque: String, _ value: AuthorizationValue, isProxy: Bool, _ request: SIPRequest, _ claim: Claim,
        _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        // Lower case, as issued: another spelling would be a different key in the tables.
        let opaque = opaque.lowercased()
        guard let end = handshakeEnd(opaque, claim, at: now), !tables.withLock({ $0.associations.isSpent(opaque) }) else {
            return challenge(claim, demand, .unknownChallenge, at: now)
        }
        let message: NTLMAuthenticate
        do throws(NTLMAuthenticate.Problem) {
            guard let bytes = Base64.bytes(token) else { throw .header }
            message = try NTLMAuthenticate(bytes)
        } catch {
            return .refused(AuthenticationAnswer(.badRequest, error.rawValue))
        }
        let login = LoginName(message, from: claim.domain)
        let attempt = SignInAttempt(user: "\(login.user)@\(login.domain)", from: claim.source)
        if let pause = pause(attempt, at: now) { return pause }
        let account = lookup(login)
        // Computed also for unknown users, so that the time does not reveal which users exist.
        let nobody = Array(HashAlgorithm.sha256.authenticationCode(message.user.utf8, key: keys.unknownUser).prefix(16))
        let exported = NTLMv2.exportedSessionKey(
            message, ntHash: account?.verifiers.ntHash ?? nobody, serverChallenge: serverChallenge(opaque))
        guard let exported, let account, message.isIntact(challenge: challengeMessage(opaque, claim), exportedSessionKey: exported)
        else { return fail(attempt, claim, demand, at: now) }
        guard account.identity == claim.identity else { return Self.wrongIdentity }
        let version = min(4, value["version"].flatMap { Int($0) } ?? 2)
        let association = SecurityAssociation(
            id: opaque, identity: account.identity, proof: .password(login, account), endpoint: claim.endpoint, targetName: targetName,
            version: version, keys: .ntlm(NTLMSessionKeys(exportedSessionKey: exported)), expiry: now + limits.associationLifetime)
        // Clients of version 4 already sign this request.
        var number: UInt32?
        if value["response"] != nil || version >= 4 {
            number = verifiedNumber(value, association, request)
            guard number != nil else { return challenge(claim, demand, .wrong, at: now) }
        }
        enum Insertion { case done, spent, full }
        let insertion: Insertion = tables.withLock {
            if $0.associations.isSpent(opaque) { return .spent }
            guard $0.associations.insert(association, flow: claim.flow, spentUntil: end, at: now) else { return .full }
            if let number { _ = $0.associations.accept(opaque, number: number, flow: claim.flow, isProxy: isProxy) }
            $0.failures.noteSuccess(of: attempt)
            return .done
        }
        switch insertion {
        case .done: return .accepted(identity: account.identity, association: opaque)
        case .spent: return challenge(claim, demand, .unknownChallenge, at: now)
        case .full: return Self.noRoom
        }
    }
}

extension LoginName {
    /// Splits the names of NTLM: `user` with a domain, `user@domain` without one, or a user alone.
    ///
    /// A domain without dots is a short name: it stands for the SIP domain if it is the first label of that domain.
    fileprivate init(_ message: NTLMAuthenticate, from sipDomain: String) {
        var user = message.user
        var domain = message.domain.lowercased()
        if domain.isEmpty, let at = user.lastIndex(of: "@") {
            domain = user[user.index(after: at)...].lowercased()
            user = String(user[..<at])
        }
        let isShort = !domain.contains(".") && domain == NTLMChallenge.shortName(sipDomain).lowercased()
        self.init(user: user, domain: domain.isEmpty || isShort ? sipDomain : domain)
    }
}
