import SIPCore

/// Who of one domain may have to do with whom of others. What is denied stays denied, whatever is allowed; where something is allowed,
/// everything else is not.
public struct FederationRights: Hashable, Sendable {
    /// Each nil: says nothing.
    public struct Rule: Hashable, Sendable {
        /// Users of the domain itself, in both directions.
        public var users: [PartyPattern]?
        /// Who may watch users of the domain.
        public var from: [PartyPattern]?
        /// Whom users of the domain may watch.
        public var to: [PartyPattern]?

        public init(users: [PartyPattern]? = nil, from: [PartyPattern]? = nil, to: [PartyPattern]? = nil) {
            self.users = users
            self.from = from
            self.to = to
        }
    }

    public var allow: Rule
    public var deny: Rule

    public init(allow: Rule = Rule(), deny: Rule = Rule()) {
        self.allow = allow
        self.deny = deny
    }

    public enum Direction: String, Hashable, Sendable {
        /// A user of the domain is watched.
        case from
        /// A user of the domain watches.
        case to
    }

    /// Why a user of the domain has nothing to do with somebody of another one; nil: he may.
    func refusal(of user: SIPURI, _ direction: Direction, _ other: SIPURI) -> String? {
        let patterns = direction == .from ? (deny.from, allow.from) : (deny.to, allow.to)
        if let pattern = deny.users?.first(where: { $0.mayMatch(user) }) { return "deny.users has \(pattern)" }
        if let pattern = patterns.0?.first(where: { $0.mayMatch(other) }) { return "deny.\(direction.rawValue) has \(pattern)" }
        if let allowed = allow.users, !allowed.contains(where: { $0.matches(user) }) { return "allow.users does not have him" }
        if let allowed = patterns.1, !allowed.contains(where: { $0.matches(other) }) {
            return "allow.\(direction.rawValue) does not have \(other.aorKey)"
        }
        return nil
    }
}

extension FederationRights {
    /// The entries by which a user of the domain may have to do with somebody of another one; empty: it says nothing of them.
    func grounds(for user: SIPURI, _ direction: Direction, _ other: SIPURI) -> [String] {
        var grounds: [String] = []
        if let pattern = allow.users?.first(where: { $0.matches(user) }) { grounds.append("allow.users has \(pattern)") }
        let others = direction == .from ? allow.from : allow.to
        if let pattern = others?.first(where: { $0.matches(other) }) { grounds.append("allow.\(direction.rawValue) has \(pattern)") }
        return grounds
    }
}

/// Who may not watch whom, and by which entry.
public struct RightsRefusal: Hashable, Sendable {
    /// Whose entry it is: the presentity's domain (an incoming refusal), or the watcher's (an outgoing one).
    public var isIncoming: Bool
    /// One sentence for an operator.
    public var reason: String
}

extension RoutingTable {
    /// Whether a user may watch another one of another domain: both domains have a say (MS-PRES 3.4.5.3).
    /// - Parameters: canonical URIs.
    public func rightsRefusal(watcher: SIPURI, presentity: SIPURI) -> RightsRefusal? {
        guard watcher.domainKey != presentity.domainKey else { return nil }
        if let (name, domain) = entry(for: watcher.domainKey), let why = domain.rights.refusal(of: watcher, .to, presentity) {
            return RightsRefusal(isIncoming: false, reason: "\(watcher.aorKey) may not watch \(presentity.aorKey): \(why) (\(name))")
        }
        if let (name, domain) = entry(for: presentity.domainKey), let why = domain.rights.refusal(of: presentity, .from, watcher) {
            return RightsRefusal(isIncoming: true, reason: "\(presentity.aorKey) is not watched by \(watcher.aorKey): \(why) (\(name))")
        }
        return nil
    }

    /// The entries that let a user watch another one of another domain, with the domains that have them; empty: none has a say.
    /// - Parameters: canonical URIs, for which ``rightsRefusal(watcher:presentity:)`` is nil.
    public func rightsGrounds(watcher: SIPURI, presentity: SIPURI) -> [String] {
        func grounds(_ user: SIPURI, _ direction: FederationRights.Direction, _ other: SIPURI) -> [String] {
            guard let (name, domain) = entry(for: user.domainKey) else { return [] }
            return domain.rights.grounds(for: user, direction, other).map { "\($0) (\(name))" }
        }
        return grounds(watcher, .to, presentity) + grounds(presentity, .from, watcher)
    }
}
