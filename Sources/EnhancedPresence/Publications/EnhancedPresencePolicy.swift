import PresenceDocuments

/// What an enhanced presence server may decide for itself: names, read-only places and quotas (MS-PRES 3.2.5.4, 3.5.5.5).
///
/// The standard names the quotas without numbers; those here are defaults for a configuration to change.
public struct EnhancedPresencePolicy: Hashable, Sendable {
    /// Names that may be published; nil allows every name (MS-PRES 3.2.5.4).
    public var registeredCategories: Set<CategoryName>?
    /// Names that no watcher ever sees (MS-PRES 1.3.1.2).
    public var privateCategories: Set<CategoryName>
    /// Where only the server publishes (MS-PRES 3.2.5.4, 3.2.6.2).
    public var readOnly: Set<ContainerCategory>
    /// Whether a `domain` member also stands for its sub-domains; 3.2.5.3 wants equality, 2.2.2.5.1 speaks of a suffix.
    public var domainMembersMatchSubdomains: Bool
    /// Whether an `everyone` member of a container above 0 counts after all other rules (MS-PRES 1.3.1.3.7).
    public var everyoneMembersCount: Bool
    /// Whether aggregates, services, working hours and do-not-disturb are computed (MS-PRES 3.8.5).
    public var computesAggregates: Bool
    /// What is done where the standard contradicts itself.
    public var choices: StandardChoices
    /// Largest body of one publication, in bytes.
    public var publicationByteLimit: Int
    /// Largest sum of the bodies of one category over all instances and containers, in bytes.
    public var categoryByteLimit: Int
    /// Most instances of one presentity.
    public var instanceLimit: Int
    /// Most members over all containers of one presentity.
    public var memberLimit: Int
    /// Most containers with a membership of one presentity.
    public var containerLimit: Int
    /// Quotas of subscribers, delegates and contacts.
    public var roaming = RoamingPolicy()

    public init(
        registeredCategories: Set<CategoryName>? = CategoryName.registered,
        privateCategories: Set<CategoryName> = CategoryName.alwaysPrivate, readOnly: Set<ContainerCategory> = [],
        domainMembersMatchSubdomains: Bool = false, everyoneMembersCount: Bool = true, computesAggregates: Bool = true,
        choices: StandardChoices = .standard, publicationByteLimit: Int = 65_536,
        categoryByteLimit: Int = 262_144, instanceLimit: Int = 1_000, memberLimit: Int = 1_000, containerLimit: Int = 256
    ) {
        self.registeredCategories = registeredCategories
        self.privateCategories = privateCategories
        self.readOnly = readOnly
        self.domainMembersMatchSubdomains = domainMembersMatchSubdomains
        self.everyoneMembersCount = everyoneMembersCount
        self.computesAggregates = computesAggregates
        self.choices = choices
        self.publicationByteLimit = publicationByteLimit
        self.categoryByteLimit = categoryByteLimit
        self.instanceLimit = instanceLimit
        self.memberLimit = memberLimit
        self.containerLimit = containerLimit
    }

    /// The defaults, with userProperties read-only in the container of the user's own endpoints (MS-PRES 3.2.6.2).
    public static let standard = EnhancedPresencePolicy(
        readOnly: [ContainerCategory(category: .userProperties, container: .selfOnly)])
}

extension ContainerID {
    /// What only the user's own endpoints see; it has no members (product convention, MS-PRES 4.4.2).
    public static let selfOnly = ContainerID(rawValue: 1) ?? .default
}
