import SIPCore
import Synchronization

/// TLS-DSK: a TLS handshake with certificates of both ends, the keys of which sign all later messages (MS-SIPAE 3.3.5.1, 3.3.5.2).
///
///     client                                   server
///       REGISTER  ------------------------------> 401 TLS-DSK realm, targetname, version, sts-uri
///       REGISTER gssapi-data=ClientHello -------> 401 opaque, gssapi-data=ServerHello to ServerHelloDone
///       REGISTER opaque, gssapi-data=Certificate to Finished --> 401 opaque, gssapi-data=ChangeCipherSpec, Finished
///       REGISTER opaque, signed ----------------> 200, signed
///
/// A flight may be split over several requests; an empty token acknowledges a part that is not the last.
extension Authenticator {
    func checkTLSDSK(
        _ value: AuthorizationValue, isProxy: Bool, _ request: SIPRequest, _ claim: Claim, _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        tables.withLock {
            $0.associations.sweep(at: now)
            $0.handshakes.sweep(at: now)
        }
        switch (value["gssapi-data"], value["opaque"]) {
        case (let token?, let opaque):
            if let pause = pause(SignInAttempt(user: claim.identity, from: claim.source), at: now) { return pause }
            guard let octets = Base64.bytes(token) else {
                return .refused(AuthenticationAnswer(.badRequest, "MS-SIPAE 2.2.2: gssapi-data is not base 64"))
            }
            if let opaque { return advance(opaque.lowercased(), octets, claim, demand, at: now) }
            return begin(octets, version: value["version"], claim, demand, at: now)
        case (nil, let opaque?):
            return checkSignature(value, opaque, isProxy: isProxy, request, claim, demand, at: now)
        case (nil, nil):
            return challenge(claim, demand, .missing, at: now)
        }
    }

    private func begin(
        _ octets: [UInt8], version: String?, _ claim: Claim, _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        let host = claim.source.remote.host
        guard let offer = tables.withLock({ $0.tlsDSK }) else { return challenge(claim, demand, .missing, at: now) }
        guard tables.withLock({ $0.handshakes.makeRoom(for: host) }), let handshake = offer.credentials.handshake() else {
            return .refused(
                AuthenticationAnswer(
                    .serviceUnavailable, "too many TLS handshakes under way", headers: [.init(.retryAfter, "60")]))
        }
        let entry = HandshakeTable.Entry(
            handshake: handshake, identity: claim.identity, endpoint: claim.endpoint, host: host,
            version: min(4, version.flatMap { Int($0) } ?? 2))
        let id = tables.withLock { tables in
            let id = Hexadecimal.text(tables.keys.draw(16))
            tables.handshakes.insert(entry, as: id, from: now, until: now + limits.handshakeLifetime)
            return id
        }
        return advance(id, octets, claim, demand, at: now)
    }

    private func advance(
        _ id: String, _ octets: [UInt8], _ claim: Claim, _ demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        guard let known = tables.withLock({ $0.handshakes[id] }), known.identity == claim.identity, known.endpoint == claim.endpoint,
            known.host == claim.source.remote.host, let entry = tables.withLock({ $0.handshakes.charge(id, octets: octets.count) })
        else { return challenge(claim, demand, .unknownChallenge, at: now) }
        let attempt = SignInAttempt(user: claim.identity, from: claim.source)
        func fail(_ reason: ChallengeReason) -> AuthenticationOutcome {
            // A first flight proves nothing about its address, so its failure is not counted.
            entry.isContinued ? self.fail(attempt, claim, demand, reason, at: now) : challenge(claim, demand, reason, at: now)
        }
        guard entry.rounds <= limits.handshakeRounds, entry.octets <= limits.handshakeOctets else {
            tables.withLock { $0.handshakes.remove(id) }
            return fail(.handshake("it takes too many rounds or octets"))
        }
        switch entry.handshake.step(octets, at: now) {
        case .more(let flight):
            return answer(id, flight, at: now)
        case .failed(let problem):
            tables.withLock { $0.handshakes.remove(id) }
            return fail(.handshake(problem))
        case .done(let flight, let established):
            tables.withLock { $0.handshakes.remove(id) }
            guard established.peer.names(user: claim.identity) else {
                tables.withLock { $0.failures.noteFailure(of: attempt, at: now) }
                return Self.wrongIdentity
            }
            guard isUser(claim.identity) else { return fail(.wrong) }
            let association = SecurityAssociation(
                id: id, identity: claim.identity, proof: .certificate, endpoint: claim.endpoint, targetName: targetName,
                version: entry.version, keys: .tlsDSK(established.keys),
                expiry: min(now + limits.associationLifetime, established.peer.end))
            guard tables.withLock({ $0.associations.insert(association, flow: nil, spentUntil: now, at: now) }) else { return Self.noRoom }
            tables.withLock { $0.failures.noteSuccess(of: attempt) }
            return answer(id, flight, at: now)
        }
    }

    /// A 401 with the next flight, which is no refusal.
    private func answer(_ id: String, _ flight: [UInt8], at now: Instant) -> AuthenticationOutcome {
        let value =
            "TLS-DSK opaque=\"\(id)\", gssapi-data=\"\(Base64.text(flight))\", targetname=\"\(targetName)\", realm=\"\(Self.realm)\", version=4"
        return .challenge(
            AuthenticationAnswer(
                .unauthorized, "MS-SIPAE 3.3.5.1: the handshake is to go on",
                headers: [.init(.wwwAuthenticate, value), .init(.date, HeaderDate.text(now))], isFailure: false))
    }
}
