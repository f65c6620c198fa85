extension SIPHeaders {
    /// P-Asserted-Identity values, meaningful from a trusted proxy only (RFC 3325 9.1).
    public var assertedIdentities: [NameAddr] { parsedList(.pAssertedIdentity) }

    /// Header fields accepted from trusted peers only: identities, networks and verification results of an edge (RFC 3325,
    /// MS-SIPRE).
    public static let trustHeaderNames: [SIPHeaderName] = [
        .pAssertedIdentity, .msSourceNetwork, .msEdgeProxyMessageTrust, .msAsserted, .msUserLogonData,
    ]

    /// Removes ``trustHeaderNames``, for messages of untrusted peers.
    public mutating func removeTrustHeaders() {
        for name in Self.trustHeaderNames { remove(name) }
    }
}
