/// What a peer has to prove by its certificate: one of these names, by this rule.
public struct PeerExpectation: Hashable, Sendable {
    /// In lower case; any of them suffices.
    public var names: [String]
    public var rule: PeerNameRule
    /// Requests may go over any connection that such a peer has opened, whatever it announces (RFC 5923).
    public var reusesConnections = false

    public init(_ names: [String], by rule: PeerNameRule = .domain, reusesConnections: Bool = false) {
        self.names = names
        self.rule = rule
        self.reusesConnections = reusesConnections
    }

    /// Whether the peer proves one of the names; if none, why it does not prove the first.
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
