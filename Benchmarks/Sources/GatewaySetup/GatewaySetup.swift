import FederationRouting
import PresenceGateway
import PresenceRules
import SIPCore
import Traffic

extension GatewayConfiguration {
    /// Configuration with two hosted domains, watchers on their own connections, and a remote SIMPLE domain behind `far`.
    public static func benchmark(listeners: [TransportAddress], remoteAddress: TransportAddress) -> GatewayConfiguration {
        var configuration = GatewayConfiguration(
            nodeName: "edge1.example.net", listeners: listeners,
            domains: [
                Traffic.hostedDomain: DomainConfiguration(side: .simple, hosted: true, unruled: .allow),
                Traffic.enterpriseDomain: DomainConfiguration(side: .enterprise, hosted: true, network: .sameEnterprise),
                Traffic.watcherDomain: DomainConfiguration(side: .simple, route: remoteAddress),
                Traffic.remoteDomain: DomainConfiguration(side: .simple, route: remoteAddress),
            ])
        configuration.trust(DomainTrust(peers: "127.0.0.0/8", "192.0.2.0/24"))
        configuration.limits.subscriptionsPerPresentity = 100_000
        configuration.limits.subscriptionsPerWatcher = 100_000
        return configuration
    }
}
