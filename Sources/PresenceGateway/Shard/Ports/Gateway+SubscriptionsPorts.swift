import Registration
import SIPCore

/// Answers to the notifier; the requirements that are missing here are methods of the shard, or answers to other flows.
extension Gateway: SubscriptionsPorts {
    func isRemoteEnd(_ key: String, _ request: SIPRequest, _ flow: Flow) -> Bool { flows.border.isRemoteEnd(key, request, flow) }
    func binding(of user: String, endpoint: EndpointID) -> Binding? {
        flows.homeServer.home.registrar.binding(of: user, endpoint: endpoint)
    }
}
