/// The convention for one container of an enterprise user, which MS-PRES leaves open (1.3.1.3): a row of `container-policy`.
public struct ContainerPolicy: Sendable, Hashable {
    /// The number of the container.
    public var container: Int
    /// The name of the container.
    public var name: String
    /// Classes of watchers that are members by default: `sameEnterprise`, `federated`, `publicCloud`.
    public var members: [String]
    /// Categories published to the container for a user with a PIDF source.
    public var publishes: [String]
    /// Whether a state in the container is reduced to the availability, without activity, times and location.
    public var isReduced: Bool
}

extension MappingTables {
    /// The rows of `container-policy`, in table order.
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
