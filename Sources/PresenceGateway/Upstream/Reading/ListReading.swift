import PresenceDocuments
import SIPCore

extension UpstreamContent {
    /// State of a resource list entry without presence (MS-PRES 2.2.2.4.2, RFC 4662 5.5).
    struct InstanceState: Equatable {
        var state: RLMIInstance.State
        var reason: String?
        /// SIP status of the subscription that failed (MS-PRES 2.2.2.4.2).
        var statusCode: Int?
        /// Pool to subscribe at, with `resubscribe` only (MS-PRES 3.4.5.1.3.1).
        var poolFqdn: String?
    }

    /// Adds the entries of a resource list that are not active (MS-PRES 2.2.2.4.2).
    mutating func takeList(_ list: RLMIDocument) {
        hasList = true
        for resource in list.resources {
            for instance in resource.instances where instance.state != .active {
                report(on: CategoryRequest.address(resource.uri)?.aorKey) {
                    $0.instanceState = InstanceState(
                        state: instance.state, reason: instance.reason, statusCode: instance.statusCode, poolFqdn: instance.poolFqdn)
                }
            }
        }
    }
}
