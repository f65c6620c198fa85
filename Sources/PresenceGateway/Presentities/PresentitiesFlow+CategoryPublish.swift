import EnhancedPresence
import PresenceDocuments
import SIPCore

/// SERVICE that changes the enhanced presence of a hosted user.
extension PresentitiesFlow {
    /// Publishes categories (MS-PRES 3.2.5.1.2).
    func publishCategories(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let key = service.parties.presentityKey
        try commit(service, at: now) { presentity, moment in
            let document = try categoryPublish(service.request.body)
            let change = try presentity.publish(document, by: service.sender, at: moment)
            // An unregistered endpoint is present as long as its connection is open.
            if !service.isRegistered, let connection = service.flow.connection, let id = service.sender.endpointID {
                endpoints.note(id, of: key, over: connection)
            }
            return change
        } answer: { response, presentity, change, moment in
            response.headers.append(.contentType, WatcherFormat.roamingSelfType)
            response.body = presentity.publishAnswer(after: change, at: moment).encoded()
        }
    }

    /// Changes the state of a user, answers, and then notifies the user's own endpoints and watchers.
    /// - Parameters:
    ///   - placesWatchers: whether memberships may change, and with them which watchers are blocked.
    ///   - change: applies all or nothing; a refusal or unreadable document becomes the answer.
    ///   - answer: completes the 200.
    func commit(
        _ service: ServiceRequest, placesWatchers: Bool = false, at now: Instant,
        _ change: (inout EnhancedPresentity, DateTime) throws -> PresentityChange,
        answer: (inout SIPResponse, EnhancedPresentity, PresentityChange, DateTime) -> Void = { _, _, _, _ in }
    ) throws(Refusal) {
        let moment = DateTime(now)
        let presentity = try presentity(service.parties.presentityKey, service.parties.presentity)
        defer { settle(presentity) }
        let changed: PresentityChange
        let before = placesWatchers ? presentity.enhanced : nil
        do {
            changed = try presentity.change { try change(&$0, moment) }
        } catch let refusal as EnhancedPresenceRefusal {
            throw Refusal(refusal)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw .unreadable(error, "the request's document cannot be read")
        }
        table.keep(presentity)
        var response = SIPResponse(to: service.request, status: .ok, toTag: tokens.tag())
        answer(&response, presentity.enhanced, changed, moment)
        counters.publicationsAccepted += 1
        respond(response, service.transaction, at: now)
        // Earlier PUBLISH requests of this tick take effect before this change.
        composePublished(presentity)
        presentity.noteEnhanced(changed)
        if let before { blocking.placeWatchers(of: presentity, before: before, at: now) }
        notifyAll(of: presentity, changed, at: now)
    }
}
