import FederationRouting
import SIPCore
import SIPSecurity

/// Authentication that a listener requires of users of hosted domains.
package struct ListenerAuthentication: Hashable, Sendable {
    /// Authentication schemes offered; the raw value is the word of the configuration.
    package enum Schemes: String, Hashable, Sendable, CaseIterable {
        /// From is trusted.
        case none
        case ntlm, digest
        case tlsDSK = "tls-dsk"
        case any
    }

    /// Schemes offered.
    package var schemes: Schemes
    /// Digest algorithms offered, preferred first (RFC 8760 2.4); nil: MD5, because clients in use (baresip's library and enterprise
    /// clients) know no other and do not skip unknown challenges.
    package var digestAlgorithms: [DigestAlgorithm]?
    /// Status of challenges with Digest only, 401 or 407; nil: 407 for the enterprise side, because its clients read Digest only
    /// there, 401 for the SIMPLE side (RFC 3261 22.2).
    package var digestStatus: SIPStatus?

    /// Creates the requirement of a listener.
    package init(_ schemes: Schemes, digestAlgorithms: [DigestAlgorithm]? = nil, digestStatus: SIPStatus? = nil) {
        self.schemes = schemes
        self.digestAlgorithms = digestAlgorithms
        self.digestStatus = digestStatus
    }

    /// Whether users of domains of this side may sign in with a certificate here.
    package func offersTLSDSK(to side: DomainSide) -> Bool { demand(on: side)?.offersTLSDSK == true }

    /// Authentication required of a user of a domain of this side; nil: none.
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
    /// Authentication required of users with requests received at this address; nil: none.
    ///
    /// A listener on all addresses of a family covers each of them. A connection that this node opened has no listener: requests over it
    /// are offered all schemes, if any listener authenticates.
    func authentication(at local: TransportAddress) -> ListenerAuthentication? {
        if let exact = authentication[local] { return exact }
        let wildcards = authentication.filter {
            $0.key.transport == local.transport && $0.key.port == local.port && $0.key.isWildcard && $0.key.family == local.family
        }
        if let listener = wildcards.first { return listener.value }
        return authentication.values.contains { $0.schemes != .none } ? ListenerAuthentication(.any) : nil
    }
}
