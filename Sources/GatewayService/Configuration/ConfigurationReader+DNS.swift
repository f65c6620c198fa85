import FederationRouting
import NameResolution
import PresenceGateway
import SIPCore
import Yams

/// `dns`: name servers, and lifetimes of their answers.
extension ConfigurationReader {
    mutating func readDNS(_ dns: ConfigurationNode) {
        let known = [
            "servers", "timeout-ms", "tries", "questions", "hosts", "ipv6-first", "entries", "stale-s", "wait-ms", "waiting", "targets",
        ]
        guard let fields = dns.fields(known) else { return }
        if let servers = fields["servers"], let elements = servers.elements() {
            if elements.isEmpty { servers.refuse("at least one server is needed; without the key those of the system are asked") }
            if elements.count > NameResolverOptions.serverLimit { servers.refuse("at most \(NameResolverOptions.serverLimit) servers") }
            configuration.names.servers = elements.compactMap(Self.server)
        }
        if let value = fields["timeout-ms"]?.integer(10...60_000) { configuration.names.timeout = .milliseconds(value) }
        if let value = fields["tries"]?.integer(1...10) { configuration.names.tries = value }
        if let value = fields["questions"]?.integer(1...100_000) { configuration.names.outstanding = value }
        if let hosts = fields["hosts"] {
            if hosts.node.scalar?.string == "false" {
                configuration.names.hostsFile = nil
            } else {
                configuration.names.hostsFile = hosts.string().map { path($0) }
            }
        }
        if let value = fields["ipv6-first"]?.bool() { configuration.core.naming.prefersIPv6 = value }
        if let value = fields["entries"]?.integer(1...10_000_000) {
            configuration.core.naming.cache.entries = value
            configuration.core.naming.hopTargets = value
        }
        if let value = fields["stale-s"]?.integer(0...604_800) { configuration.core.naming.staleness = .seconds(value) }
        if let value = fields["wait-ms"]?.integer(10...32_000) { configuration.core.naming.wait = .milliseconds(value) }
        if let value = fields["waiting"]?.integer(1...1_000_000) {
            configuration.core.naming.waiting = value
            configuration.core.naming.waitingPerTarget = max(value / 10, 1)
        }
        if let value = fields["targets"]?.integer(1...16) { configuration.core.naming.targetsPerRequest = value }
    }

    /// `ADDRESS`, `ADDRESS:PORT`, `[IPV6]:PORT` as c-ares reads it.
    private static func server(_ node: ConfigurationNode) -> String? {
        guard let text = node.string() else { return nil }
        // An IPv6 address without brackets has no port.
        let bare = text.filter { $0 == ":" }.count > 1 && !text.hasPrefix("[") ? "[\(text)]" : text
        guard let (host, port) = try? TransportAddress.parseHostPort(bare[...], defaultPort: 53), TransportAddress.isNumeric(host), port > 0
        else {
            node.refuse("must be the address of a DNS server, as in 192.0.2.53, 127.0.0.1:5353 or [2001:db8::53]:53")
            return nil
        }
        return host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
