import SIPCore

/// What a listener asks of the users of hosted domains.
public struct AuthenticationDemand: Hashable, Sendable {
    public var offersNTLM: Bool
    /// Offered where the ``Authenticator`` has what it needs for it.
    public var offersTLSDSK: Bool
    /// The algorithms that Digest is offered with, preferred first (RFC 8760 2.4); empty: no Digest.
    public var digestAlgorithms: [DigestAlgorithm]
    /// Status of a challenge that offers nothing but Digest: 401 of a registrar or user agent, 407 of a proxy (RFC 3261 22.2, 22.3).
    public var digestStatus: SIPStatus

    public init(
        offersNTLM: Bool, offersTLSDSK: Bool = false, digestAlgorithms: [DigestAlgorithm], digestStatus: SIPStatus = .unauthorized
    ) {
        self.offersNTLM = offersNTLM
        self.offersTLSDSK = offersTLSDSK
        self.digestAlgorithms = digestAlgorithms
        self.digestStatus = digestStatus
    }
}

/// What becomes of a request whose sender must be known.
public enum AuthenticationOutcome: Equatable, Sendable {
    /// The sender is who From says. With NTLM and TLS-DSK the association under which answers are to be signed.
    case accepted(identity: String, association: String?)
    /// The sender is to try (again).
    case challenge(AuthenticationAnswer)
    /// No other attempt would help, or none may be made now.
    case refused(AuthenticationAnswer)
}

/// The answer to a request that is not accepted.
public struct AuthenticationAnswer: Equatable, Sendable {
    public struct Header: Equatable, Sendable {
        public var name: SIPHeaderName
        public var value: String

        init(_ name: SIPHeaderName, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    public var status: SIPStatus
    /// Names the rule and never says whether a user exists.
    public var explanation: String
    /// MS-OCER error id; nil: the status speaks for itself.
    public var errorID: UInt32?
    public var headers: [Header]
    /// Whether credentials were given and not taken, as opposed to not given yet.
    public var isFailure: Bool

    init(_ status: SIPStatus, _ explanation: String, errorID: UInt32? = nil, headers: [Header] = [], isFailure: Bool = true) {
        self.status = status
        self.explanation = explanation
        self.errorID = errorID
        self.headers = headers
        self.isFailure = isFailure
    }
}

/// Bounds of what authentication remembers; each has a defined answer.
public struct AuthenticationLimits: Hashable, Sendable {
    /// Live security associations; beyond it 503.
    public var associations = 100_000
    /// Live security associations of one user; beyond it his oldest ends.
    public var associationsPerUser = 32
    /// Digest nonces in use; beyond it the oldest become stale.
    public var nonces = 100_000
    /// Failed attempts of one source address to sign in as one user within `failureWindow`; beyond it 503 with Retry-After.
    public var failures = 20
    public var failureWindow: TimeSpan = .seconds(60)
    /// Pairs of source address and user whose failures are counted; beyond it the oldest count is dropped.
    public var failureUsers = 10_000
    /// Connections over which users have signed in and are not paused; beyond it the older half is forgotten.
    public var knownFlows = 100_000
    /// How long a security association lives (MS-SIPAE 3.2.2).
    public var associationLifetime: TimeSpan = .seconds(8 * 3_600)
    /// TLS handshakes under way, of all clients and of one source address. Beyond it those that were never continued are dropped, the
    /// oldest first; where there are none, 503 with Retry-After.
    public var handshakes = 2_000
    public var handshakesPerSource = 100
    /// What one TLS handshake may take; beyond it the client is challenged anew.
    public var handshakeRounds = 16
    public var handshakeOctets = 65_536
    /// How long the client may take to answer an NTLM challenge, or for a TLS handshake.
    public var handshakeLifetime: TimeSpan = .seconds(120)
    /// How long a Digest nonce may be used.
    public var nonceLifetime: TimeSpan = .seconds(300)

    public init() {}
}
