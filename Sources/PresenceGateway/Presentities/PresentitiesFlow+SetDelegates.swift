import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore

/// SERVICE of the user about the own enhanced presence.
extension PresentitiesFlow {
    /// Changes one delegate; the 200 and every self dialog get the whole list (MS-PRES 3.9.5).
    func setDelegates(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        try commit(service, at: now) { presentity, _ in
            try presentity.setDelegates(
                SetDelegatesDocument(parsing: service.request.body, limits: documentLimits), by: service.sender, isUser: self.isUserHere)
        } answer: { response, presentity, _, _ in
            response.headers.append(.contentType, WatcherFormat.roamingSelfType)
            response.body = RoamingDataDocument(delegates: presentity.delegates.document).encoded()
        }
    }

    /// Whether the address is a user of a hosted enterprise domain (MS-PRES 3.9.5.1).
    private func isUserHere(_ address: PresenceAddress) -> Bool {
        guard !address.domain.isEmpty, let uri = SIPURI("sip:" + address.text), let domain = configuration.domain(uri.domainKey) else {
            return false
        }
        return domain.hosted && domain.side == .enterprise && domain.refuse == nil && isUser(uri.aorKey)
    }
}
