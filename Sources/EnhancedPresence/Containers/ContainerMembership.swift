import PresenceDocuments

/// The members of a container and the version of the list (MS-PRES 1.3.1.3, 3.5.1).
public struct ContainerMembership: Hashable, Sendable {
    /// The version; starts at 0 and grows with every request that names the container (MS-PRES 3.5.5.2).
    public private(set) var version: UInt32
    /// The members in the order in which they were added.
    public private(set) var members: [ContainerMember]
    private var users: Set<PresenceAddress> = []
    private var domains: Set<String> = []
    private var classes: Set<ContainerMemberType> = []

    /// Creates a membership; duplicate members are dropped.
    public init(version: UInt32 = 0, members: [ContainerMember] = []) {
        self.version = version
        self.members = []
        for member in members { add(member) }
    }

    /// Whether the address is a `user` member (MS-PRES 3.2.5.3 rule 1).
    public func hasUser(_ address: PresenceAddress) -> Bool { users.contains(address) }

    /// Whether the domain is a `domain` member or, with `orParent`, a subdomain of one (MS-PRES 3.2.5.3 rule 2).
    public func hasDomain(_ domain: String, orParent: Bool) -> Bool {
        guard !domain.isEmpty, !domains.isEmpty else { return false }
        if domains.contains(domain) { return true }
        return orParent && domains.contains { domain.hasSuffix("." + $0) }
    }

    /// Whether there is a member for a class of watchers (MS-PRES 3.2.5.3 rules 3 to 5).
    public func has(_ type: ContainerMemberType) -> Bool { classes.contains(type) }

    /// Applies changes in order. Adding a present or removing an absent member is no error; the version grows in any case (MS-PRES
    /// 3.5.5.2).
    mutating func apply(_ changes: [ContainerMemberChange]) {
        for change in changes {
            switch change.action {
            case .add: add(change.member)
            case .remove: remove(change.member)
            }
        }
        version = version == .max ? 1 : version + 1
    }

    private mutating func add(_ member: ContainerMember) {
        switch member.type {
        case .user:
            // Stored without scheme, as responses write it (MS-PRES 4.9.1).
            let address = PresenceAddress(member.value ?? "")
            if users.insert(address).inserted { members.append(ContainerMember(.user, value: address.text)) }
        case .domain:
            if domains.insert(Self.domain(member)).inserted { members.append(member) }
        default:
            if classes.insert(member.type).inserted { members.append(member) }
        }
    }

    private mutating func remove(_ member: ContainerMember) {
        switch member.type {
        case .user:
            let address = PresenceAddress(member.value ?? "")
            guard users.remove(address) != nil else { return }
            members.removeAll { $0.type == .user && PresenceAddress($0.value ?? "") == address }
        case .domain:
            let domain = Self.domain(member)
            guard domains.remove(domain) != nil else { return }
            members.removeAll { $0.type == .domain && Self.domain($0) == domain }
        default:
            guard classes.remove(member.type) != nil else { return }
            members.removeAll { $0.type == member.type }
        }
    }

    private static func domain(_ member: ContainerMember) -> String { PresenceAddress("@" + (member.value ?? "")).domain }
}
