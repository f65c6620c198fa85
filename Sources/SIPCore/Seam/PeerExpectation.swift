/// What a peer has to prove by its certificate: one of these names, by this rule.
public struct PeerExpectation: Hashable, Sendable {
    /// In lower case; any of them suffices.
    public var names: [String]
    public var rule: PeerNameRule

    public init(_ names: [String], by rule: PeerNameRule = .domain) {
        self.names = names
        self.rule = rule
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
