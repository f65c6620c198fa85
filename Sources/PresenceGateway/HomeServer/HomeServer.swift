import Registration
import SIPCore
import SIPEvents

/// Registrations and roaming lists of the users of hosted domains on this shard.
struct HomeServer {
    var registrar: Registrar
    var lists: RoamingLists

    init(configuration: GatewayConfiguration) {
        registrar = Registrar(policy: Self.policy(configuration))
        lists = RoamingLists(policy: configuration.roamingPolicy)
    }

    /// Applies a new configuration; existing registrations keep their lifetimes.
    mutating func reconfigure(_ configuration: GatewayConfiguration) {
        registrar.policy = Self.policy(configuration)
        lists.use(configuration.roamingPolicy)
    }

    private static func policy(_ configuration: GatewayConfiguration) -> Registrar.Policy {
        let range = configuration.timing.registration
        return Registrar.Policy(
            expiry: ExpiryPolicy(minimum: range.minimum, standard: range.standard, maximum: range.maximum),
            bindingsPerUser: configuration.limits.registrationsPerUser, bindings: configuration.limits.registrations,
            connectionGrace: configuration.timing.connectionGrace)
    }
}
