extension SIPHeaders {
    /// The identities that a trusted proxy vouches for (RFC 3325 9.1).
    public var assertedIdentities: [NameAddr] { parsedList(.pAssertedIdentity) }

    /// What only a trusted neighbour may say: identities, networks and verdicts of an edge (RFC 3325, MS-SIPRE).
    public static let trustHeaderNames: [SIPHeaderName] = [
        .pAssertedIdentity, .msSourceNetwork, .msEdgeProxyMessageTrust, .msAsserted, .msUserLogonData,
    ]

    /// Removes what an untrusted neighbour must not say.
    public mutating func removeTrustHeaders() {
        for name in Self.trustHeaderNames { remove(name) }
    }
}
