import EnhancedPresence
import PresenceDocuments
import SIPCore

/// SERVICE of the user about the own enhanced presence.
extension PresentitiesFlow {
    /// Changes container memberships; the 200 has no body (MS-PRES 3.5.5).
    func setContainerMembers(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let isByRules = isDecidedByRules(service)
        try commit(service, placesWatchers: true, at: now) { presentity, moment in
            let document = try SetContainerMembersDocument(parsing: service.request.body, limits: documentLimits)
            // Members of earlier versions can be removed.
            if isByRules, document.containers.contains(where: { $0.changes.contains { $0.action == .add } }) {
                throw Refusal.decidedByRules
            }
            var change = try presentity.setContainerMembers(document, by: service.sender)
            // A registered client is notified of these values and may replace them with its own.
            if service.isRegistered, change.containers.contains(.blocked) {
                change.formUnion(presentity.publishBlockedDefaults(at: moment))
            }
            return change
        }
    }

    /// Whether presence rules decide about the watchers of the user.
    func isDecidedByRules(_ service: ServiceRequest) -> Bool {
        configuration.domain(service.parties.presentity.domainKey)?.unruledHandling != nil
    }
}
