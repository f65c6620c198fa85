import EnhancedPresence
import PresenceDocuments
import PresenceRules
import XMLCore

/// Row of the bridge table: a container, and the handling and transformations of the rules that stand for it.
public struct ContainerGrants: Hashable, Sendable {
    /// Number of the container.
    public var container: ContainerID
    /// First part of the ids of rules that Isthmus writes for the container.
    package var ruleID: String
    /// Handling that members of the container get.
    public var handling: SubscriptionHandling
    /// Transformations of a rule for the container.
    package var transformations: [RuleTransformation]

    /// Permissions of the transformations.
    public let grants: PresenceGrants

    private init(_ container: Int, _ ruleID: String, _ handling: SubscriptionHandling, _ transformations: [RuleTransformation]) {
        self.container = ContainerID(container) ?? .default
        self.ruleID = ruleID
        self.handling = handling
        self.transformations = transformations
        grants = PresenceGrants(transformations)
    }

    /// Rows of the table; where two rows grant the same, rules without an id of Isthmus belong to the last of them.
    public static let rows: [ContainerGrants] = [
        // Availability alone: no activities, no note, no user input.
        ContainerGrants(100, "isthmus-100", .allow, all(.services, .persons)),
        ContainerGrants(
            200, "isthmus-200", .allow,
            all(.services, .persons) + [
                .attribute(.activities, true), .attribute(.class, true), .attribute(.placeType, true), .attribute(.statusIcon, true),
                .attribute(.timeOffset, true), .userInput(.bare), .attribute(.note, true),
                .unknownAttribute(ElementName(namespace: XMLNamespace.timedStatus.uri, localName: "timed-status"), true),
            ]),
        ContainerGrants(300, "isthmus-300", .allow, all(.services, .persons, .devices) + [.allAttributes]),
        ContainerGrants(400, "isthmus-400", .allow, all(.services, .persons, .devices) + [.allAttributes]),
        ContainerGrants(32_000, "isthmus-blocked", .politeBlock, []),
    ]

    private static func all(_ components: PresenceComponent...) -> [RuleTransformation] {
        components.map { .components($0, ComponentSelection(all: true)) }
    }

    /// The row of a container; nil for containers that rules cannot express.
    public static func row(of container: ContainerID) -> ContainerGrants? { rows.first { $0.container == container } }

    /// The row whose form the actions and transformations of a rule have; nil if there is none.
    static func row(of rule: PresenceRule) -> ContainerGrants? {
        guard let handling = rule.handling, rule.otherActions.isEmpty, !rule.transformations.contains(where: \.isUnknown) else {
            return nil
        }
        let grants = PresenceGrants(rule.transformations)
        let matching = rows.filter { $0.handling == handling && $0.grants.isSubset(of: grants) && grants.isSubset(of: $0.grants) }
        return matching.first { $0.wrote(rule.id) } ?? matching.last
    }

    /// Whether a rule id is one that Isthmus gives to rules of this row.
    func wrote(_ id: String) -> Bool { id == ruleID || id.hasPrefix(ruleID + "-") }

    /// Whether a rule id is one that Isthmus gives to rules for users and domains of this row.
    func wroteMembers(_ id: String) -> Bool {
        wrote(id) && !NetworkDomains.types.contains { id.hasPrefix(ruleID + "-" + $0.rawValue) }
    }
}

extension RuleTransformation {
    /// Whether the transformation, or a selector in it, is unknown.
    var isUnknown: Bool {
        switch self {
        case .other: true
        case .components(_, let selection): selection.members.contains { if case .other = $0 { true } else { false } }
        default: false
        }
    }
}
