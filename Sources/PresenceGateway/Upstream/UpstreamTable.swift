import SIPCore

/// The upstream subscriptions by number, indexed by domain and by server, so that an event of one partner visits its own subscriptions
/// only.
struct UpstreamTable {
    /// The address of a server, without its certificate name.
    private struct Place: Hashable {
        var transport: TransportProtocol
        var host: String
        var port: Int

        init(_ address: TransportAddress) { (transport, host, port) = (address.transport, address.host, address.port) }
    }

    private var legs: [UInt64: UpstreamSubscription] = [:]
    private var ofDomain: [String: Set<UInt64>] = [:]
    private var ofServer: [Place: Set<UInt64>] = [:]

    var count: Int { legs.count }
    var isEmpty: Bool { legs.isEmpty }
    var values: Dictionary<UInt64, UpstreamSubscription>.Values { legs.values }
    /// Domains with at least one upstream subscription.
    var domains: Dictionary<String, Set<UInt64>>.Keys { ofDomain.keys }

    subscript(number: UInt64) -> UpstreamSubscription? {
        get { legs[number] }
        set {
            if let old = legs[number], old !== newValue {
                ofDomain[old.domain.name]?.remove(number)
                if ofDomain[old.domain.name]?.isEmpty ?? false { ofDomain[old.domain.name] = nil }
                leave(old)
            }
            if let newValue, legs[number] !== newValue { ofDomain[newValue.domain.name, default: []].insert(number) }
            legs[number] = newValue
        }
    }

    func numbers(ofDomain name: String) -> Set<UInt64> { ofDomain[name] ?? [] }

    /// Numbers of subscriptions with a last SUBSCRIBE accepted by this server.
    func numbers(atServer address: TransportAddress) -> Set<UInt64> { ofServer[Place(address)] ?? [] }

    /// Notes the server that accepted a SUBSCRIBE.
    mutating func note(_ leg: UpstreamSubscription, acceptedBy server: TransportAddress) {
        guard legs[leg.id] === leg, leg.server != server else { return }
        leave(leg)
        leg.server = server
        ofServer[Place(server), default: []].insert(leg.id)
    }

    private mutating func leave(_ leg: UpstreamSubscription) {
        guard let place = leg.server.map(Place.init) else { return }
        ofServer[place]?.remove(leg.id)
        if ofServer[place]?.isEmpty ?? false { ofServer[place] = nil }
        leg.server = nil
    }
}
