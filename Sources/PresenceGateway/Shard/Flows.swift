import SIPCore

/// The numbers of the flows in tickets.
extension FlowID {
    static let border = FlowID(rawValue: 1)
    static let subscriptions = FlowID(rawValue: 2)
    static let presentities = FlowID(rawValue: 3)
    static let upstream = FlowID(rawValue: 4)
    static let publications = FlowID(rawValue: 5)
    static let homeServer = FlowID(rawValue: 6)
}

/// The flows of a shard; an object, so that an access costs one reference.
final class Flows {
    let border: BorderFlow
    let subscriptions: SubscriptionsFlow
    let presenceSubscriptions: PresenceSubscriptions
    let presentities: PresentitiesFlow
    let upstream: UpstreamFlow
    let publications: PublicationsFlow
    let homeServer: HomeServerFlow
    /// The flows by number, from 1.
    let clients: [any KernelClient]
    /// The flows that serve requests, in the order of Allow.
    var handlers = RequestHandlers()

    init(_ gateway: Gateway) {
        border = BorderFlow(gateway.kernel, gateway.context, gateway, shard: gateway.shard, of: gateway.shards)
        subscriptions = SubscriptionsFlow(gateway.kernel, gateway.context, gateway)
        presenceSubscriptions = PresenceSubscriptions(
            gateway.kernel, gateway.context, notifier: subscriptions, admission: gateway, hosted: gateway, remote: gateway)
        homeServer = HomeServerFlow(gateway.kernel, gateway.context, gateway)
        subscriptions.use(.standard(presenceSubscriptions, homeServer))
        presentities = PresentitiesFlow(gateway.kernel, gateway.context, gateway)
        upstream = UpstreamFlow(gateway.kernel, gateway.context, gateway)
        publications = PublicationsFlow(gateway.kernel, gateway.context, gateway)
        clients = [border.probes, subscriptions, presentities, upstream, publications, homeServer]
        handlers.add(subscriptions)
        handlers.add(upstream)
        handlers.add(publications)
        handlers.add(homeServer)
        handlers.add(OptionsHandler(gateway))
    }

    /// The stored record of a key; nil: nothing to store.
    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .presentity, .publication, .shownWatcher, .signOff: presentities.record(of: key)
        case .dialog: subscriptions.record(of: key)
        case .upstreamSubscription: upstream.record(of: key)
        case .registration, .contacts, .accessList: homeServer.record(of: key)
        case .bridge: publications.record(of: key)
        }
    }
}
