import PresenceDocuments

/// The rule that decided which container a watcher sees (MS-PRES 3.2.5.3).
public enum ResolutionRule: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Rule 1: the watcher itself is a member.
    case user
    /// Rule 2: the watcher's domain is a member.
    case domain
    /// Rule 3: the container is for the same enterprise.
    case sameEnterprise
    /// Rule 4: the container is for federated watchers.
    case federated
    /// Rule 5: the container is for the public cloud.
    case publicCloud
    /// Rule 6a: the container is for everyone (MS-PRES 1.3.1.3.7).
    case everyone
    /// Rule 6: container 0, which has no member list.
    case defaultContainer = "default"
    /// The category is given to no watcher (MS-PRES 1.3.1.2).
    case privateCategory = "private category"
    /// No container holds the category.
    case notPublished = "not published"
    /// Containers hold the category, but none is for this watcher (MS-PRES 1.3.1.3.4).
    case noMatch = "no member matches"

    /// The rules that can find a container, in the order in which they are tried.
    public static let inOrder: [ResolutionRule] = [
        .user, .domain, .sameEnterprise, .federated, .publicCloud, .everyone, .defaultContainer,
    ]

    public var description: String { rawValue }
}

/// The container whose instances of one category a watcher sees, and why (MS-PRES 3.2.5.3).
///
/// Described as `container N (rule)` or `blocked (rule)`.
public struct ContainerResolution: Hashable, Sendable, CustomStringConvertible {
    /// Nil: the watcher is blocked for the category, which looks to it as if nothing were published.
    public let container: ContainerID?
    public let rule: ResolutionRule

    public init(container: ContainerID?, rule: ResolutionRule) {
        self.container = container
        self.rule = rule
    }

    public var description: String {
        container.map { "container \($0) (\(rule))" } ?? "blocked (\(rule))"
    }
}

/// Decides which container a watcher sees (MS-PRES 3.2.5.3).
///
/// Only containers that hold the category are candidates. The rules are tried in the order of ``ResolutionRule/inOrder``; within
/// a rule the highest number wins, so that a low container with the watcher as `user` beats a high one with its class.
public struct ContainerResolver: Sendable {
    public var memberships: [ContainerID: ContainerMembership]
    public var policy: EnhancedPresencePolicy

    public init(memberships: [ContainerID: ContainerMembership], policy: EnhancedPresencePolicy = .standard) {
        self.memberships = memberships
        self.policy = policy
    }

    /// The container of one category.
    /// - Parameter candidates: The containers that hold an instance of the category, highest number first.
    public func resolve(_ category: CategoryName, heldBy candidates: [ContainerID], for watcher: WatcherIdentity) -> ContainerResolution {
        if policy.privateCategories.contains(category) { return ContainerResolution(container: nil, rule: .privateCategory) }
        if candidates.isEmpty { return ContainerResolution(container: nil, rule: .notPublished) }
        for rule in ResolutionRule.inOrder {
            if let container = candidates.first(where: { matches(rule, $0, watcher) }) {
                return ContainerResolution(container: container, rule: rule)
            }
        }
        return ContainerResolution(container: nil, rule: .noMatch)
    }

    /// For each rule in order the candidates that it matches; the first line with any decides.
    public func explain(
        heldBy candidates: [ContainerID], for watcher: WatcherIdentity
    ) -> [(rule: ResolutionRule, matching: [ContainerID])] {
        ResolutionRule.inOrder.map { rule in (rule, candidates.filter { matches(rule, $0, watcher) }) }
    }

    func matches(_ rule: ResolutionRule, _ container: ContainerID, _ watcher: WatcherIdentity) -> Bool {
        if container == .default || rule == .defaultContainer { return container == .default && rule == .defaultContainer }
        guard let membership = memberships[container] else { return false }
        switch rule {
        case .user: return membership.hasUser(watcher.address)
        case .domain: return membership.hasDomain(watcher.address.domain, orParent: policy.domainMembersMatchSubdomains)
        case .sameEnterprise: return watcher.network == .sameEnterprise && membership.has(.sameEnterprise)
        case .federated: return watcher.network == .federated && membership.has(.federated)
        case .publicCloud: return watcher.network == .publicCloud && membership.has(.publicCloud)
        case .everyone: return policy.everyoneMembersCount && membership.has(.everyone)
        default: return false
        }
    }
}
