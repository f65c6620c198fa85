import SIPCore
import Synchronization

/// Authenticates the sender of a request: NTLM or TLS-DSK with signatures (MS-SIPAE), or Digest (RFC 7616). Pure: no I/O, no clock.
///
/// One instance serves all shards, because requests of a client reach the shards of several presentities. One lock protects the
/// tables; it is held for look-ups only and not while hashing. Failed attempts store only a count per address and user: Digest nonces
/// and NTLM challenges prove by themselves that this server issued them to this address. Credentials without that proof are neither
/// checked nor counted, so that forged source addresses cannot lock users out. TLS handshakes need state, which is bounded in number
/// and time.
///
///     request --> NTLM, opaque only ------> signature, number ----------> accepted, association
///             --> NTLM, empty token ------> 401 with CHALLENGE
///             --> NTLM, AUTHENTICATE -----> password, signature --------> accepted, association
///             --> TLS-DSK, token ---------> certificate ----------------> 401 with the next flight, association
///             --> Digest -----------------> nonce, password, counter ---> accepted
///             --> nothing of these -------> 401 or 407
public final class Authenticator: Sendable {
    /// Realm of all MS-SIPAE schemes.
    static let realm = "SIP Communications Service"
    /// Number of values of Authorization, and of Proxy-Authorization, that are read per request.
    static let credentialLimit = 8

    struct Tables: Sendable {
        var keys: SecretKeys
        var tlsDSK: TLSDSKOffer?
        var handshakes: HandshakeTable
        var associations: AssociationTable
        var nonces: NonceTable
        var httpNonces: NonceTable
        var failures: FailureLimiter
    }

    /// The host name of this server; `targetname` of its challenges.
    public let targetName: String
    /// The limits of all tables.
    public let limits: AuthenticationLimits
    let lookup: AccountLookup
    let isUser: @Sendable (String) -> Bool
    let keys: SecretKeys
    let tables: Mutex<Tables>

    /// Creates an authenticator.
    /// - Parameters:
    ///   - secret: 32 or more random octets from the system; tests choose them.
    ///   - tlsDSK: the TLS-DSK offer; nil: TLS-DSK is not offered.
    ///   - isUser: whether a user with this `aorKey` exists, for users that sign in without a password.
    ///   - lookup: finds the account of a login name; called for every attempt and from any shard.
    public init(
        targetName: String, secret: [UInt8], limits: AuthenticationLimits = AuthenticationLimits(), tlsDSK: TLSDSKOffer? = nil,
        isUser: @escaping @Sendable (String) -> Bool = { _ in false }, lookup: @escaping AccountLookup
    ) {
        self.targetName = targetName
        self.limits = limits
        self.lookup = lookup
        self.isUser = isUser
        keys = SecretKeys(secret)
        tables = Mutex(
            Tables(
                keys: keys, tlsDSK: tlsDSK,
                handshakes: HandshakeTable(limit: limits.handshakes, limitPerHost: limits.handshakesPerSource),
                associations: AssociationTable(limit: limits.associations, limitPerUser: limits.associationsPerUser),
                nonces: NonceTable(limit: limits.nonces), httpNonces: NonceTable(limit: limits.nonces),
                failures: FailureLimiter(
                    failures: limits.failures, window: limits.failureWindow, userLimit: limits.failureUsers,
                    knownFlowLimit: limits.knownFlows)))
    }

    /// Number of security associations.
    public var associationCount: Int { tables.withLock { $0.associations.count } }

    /// Number of TLS handshakes in progress.
    public var handshakeCount: Int { tables.withLock { $0.handshakes.count } }

    /// Replaces the TLS-DSK offer; handshakes in progress continue with the previous one.
    public func use(tlsDSK offer: TLSDSKOffer?) { tables.withLock { $0.tlsDSK = offer } }

    /// Number of entries in all tables, for tests of the limits.
    var rememberedCount: Int {
        tables.withLock {
            $0.handshakes.count + $0.associations.count + $0.associations.spentCount + $0.nonces.count
                + $0.httpNonces.count + $0.failures.count
        }
    }

    /// The sender of a request as its headers claim.
    struct Claim {
        var identity: String
        var domain: String
        var endpoint: String
        var source: MessageSource

        var flow: ClientFlow { ClientFlow(identity: identity, connection: source.connection, remote: source.remote) }
    }

    /// Authenticates a request; call it once per request, not for retransmissions.
    public func check(
        _ request: SIPRequest, from source: MessageSource, under demand: AuthenticationDemand, at now: Instant
    ) -> AuthenticationOutcome {
        guard let from = request.headers.from else {
            return .refused(AuthenticationAnswer(.badRequest, "RFC 3261 20.20: From cannot be read"))
        }
        let claim = Claim(
            identity: from.uri.aorKey, domain: from.uri.domainKey, endpoint: from.parameters["epid"] ?? "", source: source)
        for name in [SIPHeaderName.authorization, .proxyAuthorization] {
            for line in request.headers.values(name).prefix(Self.credentialLimit) {
                guard let value = AuthorizationValue(line) else {
                    return .refused(AuthenticationAnswer(.badRequest, "RFC 3261 20.7: the credentials cannot be read"))
                }
                if demand.offersNTLM, value.isScheme("NTLM"), isOurs(value) {
                    return checkNTLM(value, isProxy: name == .proxyAuthorization, request, claim, demand, at: now)
                }
                if demand.offersTLSDSK, value.isScheme("TLS-DSK"), isOurs(value) {
                    return checkTLSDSK(value, isProxy: name == .proxyAuthorization, request, claim, demand, at: now)
                }
                if !demand.digestAlgorithms.isEmpty, value.isScheme("Digest"), value["realm"]?.lowercased() == claim.domain {
                    return checkDigest(value, request, claim, demand, at: now)
                }
            }
        }
        return challenge(claim, demand, .missing, at: now)
    }

    /// Whether realm and target equal those of the challenge; both are required (MS-SIPAE 3.3.5.2).
    func isOurs(_ value: AuthorizationValue) -> Bool {
        value["realm"] == Self.realm && value["targetname"]?.lowercased() == targetName.lowercased()
    }

    // MARK: Responses

    /// The reason for a challenge.
    enum ChallengeReason: Equatable {
        case missing, wrong, stale
        /// The token belongs to no recent challenge of this address.
        case unknownChallenge
        /// The TLS handshake failed; the text is OpenSSL's.
        case handshake(String)

        /// The explanation, with the rule.
        var text: String {
            switch self {
            case .missing: "RFC 3261 22.1: credentials are needed"
            case .wrong: "RFC 3261 22.1: the credentials are not right"
            case .stale: "RFC 7616 3.3: the nonce is too old, was used, or was not given to this address"
            case .unknownChallenge: "MS-SIPAE 3.3.5.1: the challenge is too old, was used, or was not given to this address"
            case .handshake(let problem): "MS-SIPAE 3.3.5.2: the TLS handshake failed: \(problem)"
            }
        }

        var isFailure: Bool {
            switch self {
            case .missing, .stale: false
            case .wrong, .unknownChallenge, .handshake: true
            }
        }
    }

    func challenge(
        _ claim: Claim, _ demand: AuthenticationDemand, _ reason: ChallengeReason, at now: Instant
    ) -> AuthenticationOutcome {
        let offer = demand.offersTLSDSK ? tables.withLock { $0.tlsDSK } : nil
        let status = demand.offersNTLM || demand.offersTLSDSK ? SIPStatus.unauthorized : demand.digestStatus
        let name: SIPHeaderName = status == .unauthorized ? .wwwAuthenticate : .proxyAuthenticate
        var headers: [AuthenticationAnswer.Header] = []
        if demand.offersNTLM {
            headers.append(.init(name, "NTLM realm=\"\(Self.realm)\", targetname=\"\(targetName)\", version=4"))
        }
        if let offer {
            let service = offer.certificateService.map { ", sts-uri=\"\($0)\"" } ?? ""
            headers.append(.init(name, "TLS-DSK realm=\"\(Self.realm)\", targetname=\"\(targetName)\", version=4\(service)"))
        }
        if !demand.digestAlgorithms.isEmpty {
            let random = tables.withLock { $0.keys.draw(8) }
            let nonce = DigestNonce.text(
                at: now, realm: claim.domain, host: claim.source.remote.host, random: random, key: keys.nonce(of: .sip))
            for algorithm in demand.digestAlgorithms {
                let stale = reason == .stale ? ", stale=true" : ""
                headers.append(
                    .init(
                        name,
                        "Digest realm=\"\(claim.domain)\", nonce=\"\(nonce)\", qop=\"auth\", algorithm=\(algorithm.rawValue)\(stale)"))
            }
        }
        headers.append(.init(.date, HeaderDate.text(now)))
        return .challenge(AuthenticationAnswer(status, reason.text, headers: headers, isFailure: reason.isFailure))
    }

    /// The same challenge for wrong passwords and unknown users; counts the failure. Call it only for responses to a challenge that
    /// was issued to the address.
    func fail(
        _ attempt: SignInAttempt, _ claim: Claim, _ demand: AuthenticationDemand, _ reason: ChallengeReason = .wrong, at now: Instant
    ) -> AuthenticationOutcome {
        tables.withLock { $0.failures.noteFailure(of: attempt, at: now) }
        return challenge(claim, demand, reason, at: now)
    }

    /// The refusal while attempts are paused; nil if the attempt may be checked. Call it before checking a password.
    func pause(_ attempt: SignInAttempt, at now: Instant) -> AuthenticationOutcome? {
        tables.withLock { $0.failures.pause(of: attempt, at: now) }.map { Self.paused($0) }
    }

    /// - Parameter seconds: until the next attempt may be made.
    static func paused(_ seconds: Int) -> AuthenticationOutcome {
        .refused(
            AuthenticationAnswer(
                .serviceUnavailable, "too many failed attempts to sign in as this user from this address",
                headers: [.init(.retryAfter, String(seconds))]))
    }

    static let noRoom = AuthenticationOutcome.refused(
        AuthenticationAnswer(
            .serviceUnavailable, "too many security associations on this node", headers: [.init(.retryAfter, "60")]))

    static let wrongIdentity = AuthenticationOutcome.refused(
        AuthenticationAnswer(.forbidden, "MS-SIPAE 3.3.5.2: the credentials are not those of the user in From", errorID: 4004))
}
