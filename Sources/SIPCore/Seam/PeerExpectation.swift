/// Identity that a peer must prove by its certificate: one of these names, by this rule.
public struct PeerExpectation: Hashable, Sendable {
    /// Names in lower case; any of them suffices.
    public var names: [String]
    /// Rule by which a certificate proves a name.
    public var rule: PeerNameRule
    /// Whether requests may use any connection that such a peer opened, whatever its Via announces (RFC 5923).
    public var reusesConnections = false

    /// Creates an expectation; by default by the rule for domains and without connection reuse.
    public init(_ names: [String], by rule: PeerNameRule = .domain, reusesConnections: Bool = false) {
        self.names = names
        self.rule = rule
        self.reusesConnections = reusesConnections
    }

    /// Verdict on the first name that the peer proves; if it proves none, on the first name.
    public func verdict(on peer: PeerIdentity) -> PeerNameVerdict {
        var first: PeerNameVerdict?
        for name in names {
            let verdict = peer.proves(name, by: rule)
            if verdict.isProved { return verdict }
            first = first ?? verdict
        }
        return first ?? .noName
    }
}
