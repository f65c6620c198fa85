import PresenceDocuments

extension ContainerResolver {
    /// The member that decided a resolution (MS-PRES 3.2.5.3); nil if no member did, as for container 0.
    public func member(deciding resolution: ContainerResolution, for watcher: WatcherIdentity) -> ContainerMember? {
        guard let container = resolution.container, let membership = memberships[container] else { return nil }
        return membership.members.first { member in
            let value = member.value ?? ""
            switch (resolution.rule, member.type) {
            case (.user, .user): return PresenceAddress(value) == watcher.address
            case (.domain, .domain):
                let domain = PresenceAddress("@" + value).domain
                return domain == watcher.address.domain
                    || (policy.domainMembersMatchSubdomains && watcher.address.domain.hasSuffix("." + domain))
            case (.sameEnterprise, .sameEnterprise), (.federated, .federated), (.publicCloud, .publicCloud), (.everyone, .everyone):
                return true
            default: return false
            }
        }
    }
}

extension EnhancedPresentity {
    /// The containers that hold an instance of the category, highest number first.
    public func containers(holding category: CategoryName) -> [ContainerID] { store.containers(holding: category) }

    /// Whether the pair is an input of aggregation (MS-PRES 3.8.5).
    public static func isAggregated(_ pair: ContainerCategory) -> Bool { Aggregation.inputs.contains(pair) }
}
