import FederationRouting
import PresenceGateway
import SIPCore

/// Notes of `check` on a valid configuration that may not do what its author expects.
package enum ConfigurationNotes {
    package static func all(of configuration: ProgramConfiguration) -> [String] {
        addresses(of: configuration) + discovery(of: configuration) + unruled(of: configuration)
    }

    /// Notes hosted simple domains that leave the handling of watchers without a rule to the default.
    static func unruled(of configuration: ProgramConfiguration) -> [String] {
        configuration.domains.filter { $0.value.hosted && $0.value.side == .simple && $0.value.unruled == nil }.keys.sorted().map { name in
            "domains.\(name): its users are shown only to watchers that their presence rules allow, others get 403; earlier versions showed "
                + "them to every watcher: write `unruled: allow` for that, `unruled: block` for the new default"
        }
    }

    /// Notes that domains covered only by `*` are reached over TLS alone.
    static func discovery(of configuration: ProgramConfiguration) -> [String] {
        guard let others = configuration.domains[RoutingTable.fallbackName], others.side == .simple,
            let discovery = others.discovery, discovery != .tls
        else { return [] }
        let hasAddresses = others.trust.peers.contains { if case .addresses = $0 { true } else { false } }
        guard !hasAddresses else { return [] }
        return [
            "domains.*.discover: domains without TLS are refused, since nothing would prove that their NOTIFYs come from them; "
                + "write `discover: tls`, give such domains an entry of their own, or name addresses in `peers`"
        ]
    }

    /// Notes the address that partners receive from listeners on all addresses.
    static func addresses(of configuration: ProgramConfiguration) -> [String] {
        guard configuration.node.advertisedHost == nil else { return [] }
        var seen: [TransportAddress] = []
        var notes: [String] = []
        for (listener, advertised) in zip(configuration.listeners, configuration.advertised) {
            defer { seen.append(listener) }
            guard listener.isWildcard, advertised == nil,
                !seen.contains(where: { $0.transport == listener.transport && $0.family == listener.family })
            else { continue }
            var text =
                "listen: \(listener): partners are given the address of this machine that a connection or route to them has; "
                + "behind a NAT or a load balancer set `advertised`"
            if listener.transport == .tls {
                text += "; so too where partners connect to it: no certificate proves an address (RFC 5922 7.1)"
            }
            notes.append(text)
        }
        return notes
    }
}
