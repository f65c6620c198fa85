import SIPCore

/// The routing decision for a URI, with its reason.
public struct RouteDecision: Hashable, Sendable, CustomStringConvertible {
    /// The decision itself.
    public enum Outcome: Hashable, Sendable {
        /// This node is the home server of the user.
        case local(FederatedDomain)
        /// The request goes to the next hop of the domain.
        case forward(FederatedDomain, to: NextHop)
        /// The request is refused with this status.
        case refuse(SIPStatus)
    }

    /// The decision.
    public var outcome: Outcome
    /// The name of the deciding entry: a domain, or `*`; empty if no entry matched.
    public var rule: String
    /// The reason for an operator, as one sentence.
    public var reason: String

    /// The agreement of the domain; nil if the request is refused.
    public var domain: FederatedDomain? {
        switch outcome {
        case .local(let domain), .forward(let domain, _): return domain
        case .refuse: return nil
        }
    }

    /// Decision and reason in one line.
    public var description: String {
        switch outcome {
        case .local(let domain): return "local (\(domain.side.rawValue)): \(reason)"
        case .forward(let domain, let hop): return "\(hop) (\(domain.side.rawValue), \(domain.network.rawValue)): \(reason)"
        case .refuse(let status): return "refused \(status.rawValue): \(reason)"
        }
    }
}
