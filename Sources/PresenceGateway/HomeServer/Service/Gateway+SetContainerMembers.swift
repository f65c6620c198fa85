import EnhancedPresence
import PresenceDocuments
import SIPCore

extension Gateway {
    /// Changes who sees which container; the 200 has no body (MS-PRES 3.5.5).
    func setContainerMembers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        try commit(service, placesWatchers: true, at: now) { presentity, moment in
            var change = try presentity.setContainerMembers(
                SetContainerMembersDocument(parsing: service.request.body, limits: documentLimits), by: service.sender)
            // A client that signed in is told of it, and publishes its own values over these when it has any.
            if service.isRegistered, change.containers.contains(.blocked) {
                change.formUnion(presentity.publishBlockedDefaults(at: moment))
            }
            return change
        }
    }
}
