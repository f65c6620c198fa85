import SIPCore

/// What `check` says of listeners on all addresses: which address partners are given.
enum AddressNotes {
    static func notes(of configuration: ProgramConfiguration) -> [String] {
        guard configuration.advertisedHost == nil else { return [] }
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
