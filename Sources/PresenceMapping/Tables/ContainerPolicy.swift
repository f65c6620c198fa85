/// What one container of an enterprise user is for, where that is agreed outside MS-PRES (1.3.1.3): a row of `container-policy`.
public struct ContainerPolicy: Sendable, Hashable {
    public var container: Int
    public var name: String
    /// The classes of watchers that see it where nobody says otherwise: `sameEnterprise`, `federated`, `publicCloud`.
    public var members: [String]
    /// The categories that are published into it on behalf of a user's PIDF source.
    public var publishes: [String]
    /// Whether a state published into it is no more than a number: no activity, no times, no place.
    public var isReduced: Bool
}

extension MappingTables {
    /// The rows of `container-policy`, in their order.
    public var containerPolicies: [ContainerPolicy] {
        (tables["container-policy"]?.rows ?? []).compactMap { row in
            row.integer("container").map {
                ContainerPolicy(
                    container: $0, name: row.text("name") ?? "", members: row.texts("members"), publishes: row.texts("publishes"),
                    isReduced: row.flag("reduced"))
            }
        }
    }
}
