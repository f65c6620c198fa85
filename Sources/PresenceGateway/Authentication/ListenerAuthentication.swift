import SIPCore
import SIPSecurity

/// What one listener asks of the users of hosted domains before it does anything for them.
public struct ListenerAuthentication: Hashable, Sendable {
    /// The ways to sign in that are offered; the raw value is the word of the configuration.
    public enum Schemes: String, Hashable, Sendable, CaseIterable {
        /// From is believed.
        case none
        case ntlm, digest
        case tlsDSK = "tls-dsk"
        case any
    }

    public var schemes: Schemes
    /// The algorithms that Digest is offered with, preferred first (RFC 8760 2.4); nil: MD5, since clients in use know no other and do not
    /// pass over a challenge that they do not know, in whatever order (baresip's library, and those of the enterprise side).
    public var digestAlgorithms: [DigestAlgorithm]?
    /// 401 or 407 where nothing but Digest is offered; nil: 407 to the enterprise side, whose clients read Digest there only, and 401 to
    /// the SIMPLE side (RFC 3261 22.2).
    public var digestStatus: SIPStatus?

    public init(_ schemes: Schemes, digestAlgorithms: [DigestAlgorithm]? = nil, digestStatus: SIPStatus? = nil) {
        self.schemes = schemes
        self.digestAlgorithms = digestAlgorithms
        self.digestStatus = digestStatus
    }

    /// Whether users of domains of this side may sign in with a certificate here.
    public func offersTLSDSK(to side: DomainSide) -> Bool { demand(on: side)?.offersTLSDSK == true }

    /// What is asked of a user of a domain of this side; nil: nothing.
    func demand(on side: DomainSide) -> AuthenticationDemand? {
        let algorithms = digestAlgorithms ?? [.md5]
        let status = digestStatus ?? (side == .enterprise ? .proxyAuthenticationRequired : .unauthorized)
        switch (schemes, side) {
        case (.none, _):
            return nil
        case (.ntlm, _):
            return AuthenticationDemand(offersNTLM: true, digestAlgorithms: [])
        case (.tlsDSK, _):
            return AuthenticationDemand(offersNTLM: false, offersTLSDSK: true, digestAlgorithms: [])
        case (.any, .enterprise):
            return AuthenticationDemand(offersNTLM: true, offersTLSDSK: true, digestAlgorithms: algorithms)
        case (.any, .simple), (.digest, _):
            return AuthenticationDemand(offersNTLM: false, digestAlgorithms: algorithms, digestStatus: status)
        }
    }
}

extension GatewayConfiguration {
    /// What is asked of users whose requests come in at this address.
    ///
    /// A listener on all addresses of a family answers for each of them. A connection that this node opened itself is no listener: whatever comes in
    /// over it is asked as much as any listener asks.
    func authentication(at local: TransportAddress) -> ListenerAuthentication? {
        if let exact = authentication[local] { return exact }
        let wildcards = authentication.filter {
            $0.key.transport == local.transport && $0.key.port == local.port && $0.key.isWildcard && $0.key.family == local.family
        }
        if let listener = wildcards.first { return listener.value }
        return authentication.values.contains { $0.schemes != .none } ? ListenerAuthentication(.any) : nil
    }
}
