import SIPCore

/// Rights of one domain's users toward users of other domains. `deny` takes precedence over `allow`; a non-nil list in
/// `allow` refuses every user that it does not match.
public struct FederationRights: Hashable, Sendable {
    /// Lists of patterns; a nil list has no effect.
    public struct Rule: Hashable, Sendable {
        /// Users of the domain itself, in both directions.
        public var users: [PartyPattern]?
        /// Users of other domains that may watch, or are denied from watching, users of the domain.
        public var from: [PartyPattern]?
        /// Users of other domains that users of the domain may watch, or are denied from watching.
        public var to: [PartyPattern]?

        /// Creates a rule; by default without effect.
        public init(users: [PartyPattern]? = nil, from: [PartyPattern]? = nil, to: [PartyPattern]? = nil) {
            self.users = users
            self.from = from
            self.to = to
        }
    }

    /// Permitted users.
    public var allow: Rule
    /// Refused users.
    public var deny: Rule

    /// Creates rights; by default without restrictions.
    public init(allow: Rule = Rule(), deny: Rule = Rule()) {
        self.allow = allow
        self.deny = deny
    }

    /// The role of the domain's user in a subscription.
    public enum Direction: String, Hashable, Sendable {
        /// The user of the domain is the presentity.
        case from
        /// The user of the domain is the watcher.
        case to
    }

    /// The rule that refuses a user of the domain and a user of another one; nil if permitted.
    func refusal(of user: SIPURI, _ direction: Direction, _ other: SIPURI) -> String? {
        let patterns = direction == .from ? (deny.from, allow.from) : (deny.to, allow.to)
        if let pattern = deny.users?.first(where: { $0.mayMatch(user) }) { return "deny.users has \(pattern)" }
        if let pattern = patterns.0?.first(where: { $0.mayMatch(other) }) { return "deny.\(direction.rawValue) has \(pattern)" }
        if let allowed = allow.users, !allowed.contains(where: { $0.matches(user) }) { return "allow.users does not have \(user.aorKey)" }
        if let allowed = patterns.1, !allowed.contains(where: { $0.matches(other) }) {
            return "allow.\(direction.rawValue) does not have \(other.aorKey)"
        }
        return nil
    }
}

extension FederationRights {
    /// The `allow` entries that permit a user of the domain and a user of another one; empty if no list applies.
    func grounds(for user: SIPURI, _ direction: Direction, _ other: SIPURI) -> [String] {
        var grounds: [String] = []
        if let pattern = allow.users?.first(where: { $0.matches(user) }) { grounds.append("allow.users has \(pattern)") }
        let others = direction == .from ? allow.from : allow.to
        if let pattern = others?.first(where: { $0.matches(other) }) { grounds.append("allow.\(direction.rawValue) has \(pattern)") }
        return grounds
    }
}

/// A refused subscription and the rule that refuses it.
public struct RightsRefusal: Hashable, Sendable {
    /// Whether the rule belongs to the presentity's domain (true) or to the watcher's (false).
    public var isIncoming: Bool
    /// The reason for an operator, as one sentence.
    public var reason: String
}

extension RoutingTable {
    /// Checks whether a user may watch a user of another domain; the rights of both domains apply (MS-PRES 3.4.5.3).
    /// - Parameters: canonical URIs; within one domain the result is nil.
    public func rightsRefusal(watcher: SIPURI, presentity: SIPURI) -> RightsRefusal? {
        guard watcher.domainKey != presentity.domainKey else { return nil }
        if let (name, domain) = entry(for: watcher.domainKey), let why = domain.trust.rights.refusal(of: watcher, .to, presentity) {
            return RightsRefusal(isIncoming: false, reason: "\(watcher.aorKey) may not watch \(presentity.aorKey): \(why) (\(name))")
        }
        if let (name, domain) = entry(for: presentity.domainKey), let why = domain.trust.rights.refusal(of: presentity, .from, watcher) {
            return RightsRefusal(isIncoming: true, reason: "\(presentity.aorKey) is not watched by \(watcher.aorKey): \(why) (\(name))")
        }
        return nil
    }

    /// The entries of both domains that permit a subscription, with the domain names; empty if no list applies.
    /// - Parameters: canonical URIs for which ``rightsRefusal(watcher:presentity:)`` is nil.
    public func rightsGrounds(watcher: SIPURI, presentity: SIPURI) -> [String] {
        func grounds(_ user: SIPURI, _ direction: FederationRights.Direction, _ other: SIPURI) -> [String] {
            guard let (name, domain) = entry(for: user.domainKey) else { return [] }
            return domain.trust.rights.grounds(for: user, direction, other).map { "\($0) (\(name))" }
        }
        return grounds(watcher, .to, presentity) + grounds(presentity, .from, watcher)
    }
}
