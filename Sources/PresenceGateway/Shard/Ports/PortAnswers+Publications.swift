import EnhancedPresence
import Registration
import SIPCore

/// Answers to the publications; the requirements that are missing here have defaults.
extension PortAnswers: PublicationsPorts {
    func publish(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal) {
        try flows.presentities.receivePublish(request, transaction, parties, at: now)
    }

    func serve(_ service: ServiceRequest, _ kind: ServiceKind, at now: Instant) throws(Refusal) {
        switch kind {
        case .categoryPublish: try flows.presentities.publishCategories(service, at: now)
        case .setContainerMembers where flows.ruleMembers.decides(service):
            try flows.ruleMembers.setContainerMembers(service, at: now)
        case .setSubscribers where flows.ruleMembers.decides(service): try flows.ruleMembers.setSubscribers(service, at: now)
        case .setContainerMembers: try flows.presentities.members.set(by: service, at: now)
        case .setSubscribers: try flows.presentities.setSubscribers(service, at: now)
        case .setDelegates: try flows.presentities.setDelegates(service, at: now)
        case .operation: try flows.homeServer.performOperation(service, at: now)
        }
    }

    func serveSearch(_ request: SIPRequest, _ transaction: ServerTransactionID?, at now: Instant) throws(Refusal) -> Bool {
        guard HomeServerFlow.isDirectorySearch(request) else { return false }
        try flows.homeServer.searchDirectory(request, transaction, at: now)
        return true
    }

    func isRegistered(_ endpoint: EndpointID, of user: String) -> Bool {
        flows.homeServer.home.registrar.binding(of: user, endpoint: endpoint) != nil
    }

    func takeRestoreTurn(at now: Instant) -> Instant { flows.upstream.restorer.takeRestoreTurn(at: now) }
}
