import EnhancedPresence
import PresenceDocuments
import SIPCore

/// SERVICE of the user about the own enhanced presence.
extension PresentitiesFlow {
    /// Changes container memberships; the 200 has no body (MS-PRES 3.5.5).
    func setContainerMembers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        try commit(service, placesWatchers: true, at: now) { presentity, moment in
            var change = try presentity.setContainerMembers(
                SetContainerMembersDocument(parsing: service.request.body, limits: documentLimits), by: service.sender)
            // A registered client is notified of these values and may replace them with its own.
            if service.isRegistered, change.containers.contains(.blocked) {
                change.formUnion(presentity.publishBlockedDefaults(at: moment))
            }
            return change
        }
    }
}
