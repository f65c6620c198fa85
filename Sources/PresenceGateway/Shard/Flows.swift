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

/// The flows of a shard.
struct Flows {
    let border: BorderFlow
    let subscriptions: SubscriptionsFlow
    let presentities: PresentitiesFlow
    let upstream: UpstreamFlow
    let publications: PublicationsFlow
    let homeServer: HomeServerFlow
    /// The flows by number, from 1.
    let clients: [any KernelClient]

    init(_ gateway: Gateway) {
        border = BorderFlow(gateway)
        subscriptions = SubscriptionsFlow(gateway)
        presentities = PresentitiesFlow(gateway)
        upstream = UpstreamFlow(gateway)
        publications = PublicationsFlow(gateway)
        homeServer = HomeServerFlow(gateway)
        clients = [border, subscriptions, presentities, upstream, publications, homeServer]
    }
}
