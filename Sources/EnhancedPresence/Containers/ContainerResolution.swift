import PresenceDocuments

/// The rule that decided a resolution (MS-PRES 3.2.5.3).
public enum ResolutionRule: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
    /// Rule 1: the watcher is a `user` member.
    case user
    /// Rule 2: the watcher's domain is a `domain` member.
    case domain
    /// Rule 3: the container has a `sameEnterprise` member.
    case sameEnterprise
    /// Rule 4: the container has a `federated` member.
    case federated
    /// Rule 5: the container has a `publicCloud` member.
    case publicCloud
    /// Rule 6a: the container has an `everyone` member (MS-PRES 1.3.1.3.7).
    case everyone
    /// Rule 6: container 0, which has no members.
    case defaultContainer = "default"
    /// The category is hidden from every watcher (MS-PRES 1.3.1.2).
    case privateCategory = "private category"
    /// No container holds the category.
    case notPublished = "not published"
    /// Containers hold the category, but no rule matches the watcher (MS-PRES 1.3.1.3.4).
    case noMatch = "no member matches"

    /// The rules that can select a container, in the order of evaluation.
    public static let inOrder: [ResolutionRule] = [
        .user, .domain, .sameEnterprise, .federated, .publicCloud, .everyone, .defaultContainer,
    ]

    /// The rule as text, such as `user` or `no member matches`.
    public var description: String { rawValue }
}

/// The container from which a watcher sees the instances of one category, and the deciding rule (MS-PRES 3.2.5.3).
///
/// The description is `container N (rule)` or `blocked (rule)`.
public struct ContainerResolution: Hashable, Sendable, CustomStringConvertible {
    /// The container; nil: the watcher is blocked for the category and sees it as unpublished.
    public let container: ContainerID?
    /// The deciding rule.
    public let rule: ResolutionRule

    /// Creates a resolution.
    public init(container: ContainerID?, rule: ResolutionRule) {
        self.container = container
        self.rule = rule
    }

    /// `container N (rule)` or `blocked (rule)`.
    public var description: String {
        container.map { "container \($0) (\(rule))" } ?? "blocked (\(rule))"
    }
}

/// Resolves the container that a watcher sees (MS-PRES 3.2.5.3).
///
/// Candidates are the containers that hold the category. Rules apply in the order of ``ResolutionRule/inOrder``; within a rule the
/// highest number wins, so that a low container with the watcher as `user` precedes a high one with the class of the watcher.
public struct ContainerResolver: Sendable {
    /// The memberships by container; container 0 needs none.
    public var memberships: [ContainerID: ContainerMembership]
    /// Private categories and the interpretation of `domain` and `everyone` members.
    public var policy: EnhancedPresencePolicy

    /// Creates a resolver.
    public init(memberships: [ContainerID: ContainerMembership], policy: EnhancedPresencePolicy = .standard) {
        self.memberships = memberships
        self.policy = policy
    }

    /// Resolves one category.
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

    /// The matching candidates of each rule in order; the first row with a candidate decides.
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
