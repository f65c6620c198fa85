import EnhancedPresence
import PresenceDocuments
import SIPCore

extension Gateway {
    /// Changes who sees which container; the 200 has no body (MS-PRES 3.5.5).
    func setContainerMembers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        try commit(service, at: now) { presentity, _ in
            try presentity.setContainerMembers(SetContainerMembersDocument(parsing: service.request.body), by: service.sender)
        }
    }
}
