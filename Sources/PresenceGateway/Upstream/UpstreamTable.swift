import SIPCore

/// The upstream subscriptions by number, indexed by domain and by server, so that an event of one partner visits its own subscriptions
/// only.
struct UpstreamTable {
    /// The address of a server, without its certificate name.
    private struct Server: Hashable {
        var transport: TransportProtocol
        var host: String
        var port: Int

        init(_ address: TransportAddress) { (transport, host, port) = (address.transport, address.host, address.port) }
    }

    private var subscriptions: [UInt64: UpstreamSubscription] = [:]
    private var ofDomain: [String: Set<UInt64>] = [:]
    private var ofServer: [Server: Set<UInt64>] = [:]

    var count: Int { subscriptions.count }
    var isEmpty: Bool { subscriptions.isEmpty }
    var values: Dictionary<UInt64, UpstreamSubscription>.Values { subscriptions.values }
    /// Domains with at least one upstream subscription.
    var domains: Dictionary<String, Set<UInt64>>.Keys { ofDomain.keys }

    subscript(number: UInt64) -> UpstreamSubscription? {
        get { subscriptions[number] }
        set {
            if let old = subscriptions[number], old !== newValue {
                ofDomain[old.domain.name]?.remove(number)
                if ofDomain[old.domain.name]?.isEmpty ?? false { ofDomain[old.domain.name] = nil }
                leave(old)
            }
            if let newValue, subscriptions[number] !== newValue { ofDomain[newValue.domain.name, default: []].insert(number) }
            subscriptions[number] = newValue
        }
    }

    func numbers(ofDomain name: String) -> Set<UInt64> { ofDomain[name] ?? [] }

    /// Numbers of subscriptions with a last SUBSCRIBE accepted by this server.
    func numbers(atServer address: TransportAddress) -> Set<UInt64> { ofServer[Server(address)] ?? [] }

    /// Notes the server that accepted a SUBSCRIBE.
    mutating func note(_ subscription: UpstreamSubscription, acceptedBy server: TransportAddress) {
        guard subscriptions[subscription.id] === subscription, subscription.verification.server != server else { return }
        leave(subscription)
        subscription.verification.noteServer(server)
        ofServer[Server(server), default: []].insert(subscription.id)
    }

    private mutating func leave(_ subscription: UpstreamSubscription) {
        guard let address = subscription.verification.server.map(Server.init) else { return }
        ofServer[address]?.remove(subscription.id)
        if ofServer[address]?.isEmpty ?? false { ofServer[address] = nil }
        subscription.verification.noteServer(nil)
    }
}
