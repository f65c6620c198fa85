import PresenceDocuments

/// Settings that MS-PRES leaves to the server: registered names, read-only pairs and quotas (MS-PRES 3.2.5.4, 3.5.5.5).
///
/// The standard names the quotas without numbers; these defaults can be changed by configuration.
public struct EnhancedPresencePolicy: Hashable, Sendable {
    /// Categories that may be published; nil: all (MS-PRES 3.2.5.4).
    public var registeredCategories: Set<CategoryName>?
    /// Categories hidden from all watchers (MS-PRES 1.3.1.2).
    public var privateCategories: Set<CategoryName>
    /// Pairs in which only the server publishes (MS-PRES 3.2.5.4, 3.2.6.2).
    public var readOnly: Set<ContainerCategory>
    /// Whether a `domain` member also matches subdomains; 3.2.5.3 requires equality, 2.2.2.5.1 describes a suffix.
    public var domainMembersMatchSubdomains: Bool
    /// Whether an `everyone` member of a container above 0 matches after all other rules (MS-PRES 1.3.1.3.7).
    public var everyoneMembersCount: Bool
    /// Whether aggregates, services, working hours and do-not-disturb are computed (MS-PRES 3.8.5).
    public var computesAggregates: Bool
    /// Choices where the standard is contradictory or silent.
    public var choices: StandardChoices
    /// Largest body of one publication in bytes.
    public var publicationByteLimit: Int
    /// Largest sum of the bodies of one category over all instances and containers, in bytes.
    public var categoryByteLimit: Int
    /// Largest number of instances of one presentity.
    public var instanceLimit: Int
    /// Largest number of members over all containers of one presentity.
    public var memberLimit: Int
    /// Largest number of containers with a membership of one presentity.
    public var containerLimit: Int
    /// Quotas of subscribers, delegates and contacts.
    public var roaming = RoamingPolicy()

    /// Creates a policy; defaults are 64 KiB per publication, 256 KiB per category, 1,000 instances, 1,000 members and 256
    /// containers.
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

    /// The defaults, with userProperties read-only in container 1 (MS-PRES 3.2.6.2).
    public static let standard = EnhancedPresencePolicy(
        readOnly: [ContainerCategory(category: .userProperties, container: .selfOnly)])
}

extension ContainerID {
    /// Container 1, which only the user's own endpoints see; it has no members (product convention, MS-PRES 4.4.2).
    public static let selfOnly = ContainerID(rawValue: 1) ?? .default
}
