import Registration
import SIPCore
import SIPEvents

/// What this shard keeps for the users of its hosted domains besides their presence: where they are signed in, and what their endpoints subscribe to.
struct HomeServer {
    var registrar: Registrar
    var dialogs = HomeDialogs()
    var lists: RoamingLists

    init(configuration: GatewayConfiguration) {
        registrar = Registrar(policy: Self.policy(configuration))
        lists = RoamingLists(policy: configuration.roamingPolicy)
    }

    /// What lives keeps what it was granted.
    mutating func reconfigure(_ configuration: GatewayConfiguration) {
        registrar.policy = Self.policy(configuration)
        lists.policy = configuration.roamingPolicy
    }

    private static func policy(_ configuration: GatewayConfiguration) -> Registrar.Policy {
        let range = configuration.timing.registration
        return Registrar.Policy(
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
            bindingsPerUser: configuration.limits.registrationsPerUser, bindings: configuration.limits.registrations,
            connectionGrace: configuration.timing.connectionGrace)
    }

    /// Names of the event packages that a user's own endpoints may subscribe to, as Allow-Events lists them.
    static let eventPackages = HomePackage.allCases.map(\.rawValue) + [EventPackage.presence.token]
}
