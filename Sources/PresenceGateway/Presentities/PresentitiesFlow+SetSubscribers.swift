import EnhancedPresence
import PresenceDocuments
import SIPCore

/// SERVICE of the user about the own enhanced presence.
extension PresentitiesFlow {
    /// Acknowledges one subscriber; the 200 has no body, self dialogs get the whole list (MS-PRES 3.6.5).
    func setSubscribers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        try commit(service, at: now) { presentity, _ in
            try presentity.setSubscribers(SetSubscribersDocument(parsing: service.request.body, limits: documentLimits), by: service.sender)
        }
    }
}
