import SIPCore

/// The authentication schemes that a listener offers to users of hosted domains.
public struct AuthenticationDemand: Hashable, Sendable {
    /// Whether NTLM is offered.
    public var offersNTLM: Bool
    /// Whether TLS-DSK is offered; it also needs ``Authenticator/use(tlsDSK:)`` or the offer given at creation.
    public var offersTLSDSK: Bool
    /// Algorithms offered for Digest, preferred first (RFC 8760 2.4); empty: no Digest.
    public var digestAlgorithms: [DigestAlgorithm]
    /// Status of a challenge with Digest only: 401 for a registrar or user agent, 407 for a proxy (RFC 3261 22.2, 22.3).
    public var digestStatus: SIPStatus

    /// Creates a demand.
    public init(
        offersNTLM: Bool, offersTLSDSK: Bool = false, digestAlgorithms: [DigestAlgorithm], digestStatus: SIPStatus = .unauthorized
    ) {
        self.offersNTLM = offersNTLM
        self.offersTLSDSK = offersTLSDSK
        self.digestAlgorithms = digestAlgorithms
        self.digestStatus = digestStatus
    }
}

/// The result of authenticating a request.
public enum AuthenticationOutcome: Equatable, Sendable {
    /// The sender is the user in From. With NTLM and TLS-DSK, `association` is passed to ``Authenticator/sign(_:under:)``.
    case accepted(identity: String, association: String?)
    /// The sender must repeat the request with (other) credentials.
    case challenge(AuthenticationAnswer)
    /// Another attempt would not help, or is not allowed at this time.
    case refused(AuthenticationAnswer)
}

/// The response to a request that is not accepted.
public struct AuthenticationAnswer: Equatable, Sendable {
    /// A header field of the response.
    public struct Header: Equatable, Sendable {
        /// The name.
        public var name: SIPHeaderName
        /// The complete value.
        public var value: String

        init(_ name: SIPHeaderName, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The status code.
    public var status: SIPStatus
    /// The broken rule; the same for unknown users and wrong passwords.
    public var explanation: String
    /// Error number of MS-OCER for ms-diagnostics; nil: the response has none.
    public var errorID: UInt32?
    /// Challenges, Date and Retry-After, in the order in which they are added.
    public var headers: [Header]
    /// Whether credentials were rejected; false for a request without credentials.
    public var isFailure: Bool

    init(_ status: SIPStatus, _ explanation: String, errorID: UInt32? = nil, headers: [Header] = [], isFailure: Bool = true) {
        self.status = status
        self.explanation = explanation
        self.errorID = errorID
        self.headers = headers
        self.isFailure = isFailure
    }
}

/// Limits of the tables and handshakes of an ``Authenticator``.
public struct AuthenticationLimits: Hashable, Sendable {
    /// Largest number of security associations; 503 beyond it.
    public var associations = 100_000
    /// Largest number of security associations of a user; beyond it the oldest one of that user ends.
    public var associationsPerUser = 32
    /// Largest number of Digest nonces in use; beyond it the oldest one and all older nonces become stale.
    public var nonces = 100_000
    /// Failed attempts per source address and user within ``failureWindow``; beyond it 503 with Retry-After.
    public var failures = 20
    /// Period over which failures are counted.
    public var failureWindow: TimeSpan = .seconds(60)
    /// Largest number of pairs of source address and user with counted failures; beyond it the oldest count is dropped.
    public var failureUsers = 10_000
    /// Number of connections remembered for users that have signed in, which are exempt from pauses; at the limit the older half is
    /// dropped.
    public var knownFlows = 100_000
    /// Lifetime of a security association (MS-SIPAE 3.2.2).
    public var associationLifetime: TimeSpan = .seconds(8 * 3_600)
    /// Largest number of TLS handshakes in progress. At the limit, the oldest handshake without a second flight is dropped; if there
    /// is none, 503 with Retry-After.
    public var handshakes = 2_000
    /// The same limit per source address.
    public var handshakesPerSource = 100
    /// Largest number of requests per TLS handshake; beyond it the client is challenged again.
    public var handshakeRounds = 16
    /// Largest number of octets from the client per TLS handshake; beyond it the client is challenged again.
    public var handshakeOctets = 65_536
    /// Longest time to answer an NTLM challenge, or for a TLS handshake.
    public var handshakeLifetime: TimeSpan = .seconds(120)
    /// Longest use of a Digest nonce.
    public var nonceLifetime: TimeSpan = .seconds(300)

    /// Creates the default limits.
    public init() {}
}
