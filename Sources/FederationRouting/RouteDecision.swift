import SIPCore

/// Where a request for a URI goes, and why.
public struct RouteDecision: Hashable, Sendable, CustomStringConvertible {
    public enum Outcome: Hashable, Sendable {
        /// This node answers.
        case local(FederatedDomain)
        case forward(FederatedDomain, to: NextHop)
        case refuse(SIPStatus)
    }

    public var outcome: Outcome
    /// The entry that decided: a domain name, `*`, or empty when none did.
    public var rule: String
    /// One sentence for an operator.
    public var reason: String

    /// The domain's agreement unless it is refused.
    public var domain: FederatedDomain? {
        switch outcome {
        case .local(let domain), .forward(let domain, _): return domain
        case .refuse: return nil
        }
    }

    public var description: String {
        switch outcome {
        case .local(let domain): return "local (\(domain.side.rawValue)): \(reason)"
        case .forward(let domain, let hop): return "\(hop) (\(domain.side.rawValue), \(domain.network.rawValue)): \(reason)"
        case .refuse(let status): return "refused \(status.rawValue): \(reason)"
        }
    }
}
