import EnhancedPresence
import PresenceDocuments
import SIPCore

extension Gateway {
    /// Publishes categories (MS-PRES 3.2.5.1.2).
    func publishCategories(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let key = service.parties.presentityKey
        try commit(service, at: now) { presentity, moment in
            let document = try categoryPublish(service.request.body)
            let change = try presentity.publish(document, by: service.sender, at: moment)
            // An unregistered endpoint is present as long as its connection is open.
            if !service.isRegistered, let connection = service.flow.connection, let id = service.sender.endpointID {
                publishingConnections.note(id, of: key, over: connection)
            }
            return change
        } answer: { response, presentity, change, moment in
            response.headers.append(.contentType, WatcherFormat.roamingSelfType)
            response.body = presentity.publishAnswer(after: change, at: moment).encoded()
        }
    }

    /// Reads the document of a publish request, with the user's canonical URI in place of an alias.
    func categoryPublish(_ body: [UInt8]) throws(DocumentError) -> CategoryPublishDocument {
        var document = try CategoryPublishDocument(parsing: body, limits: documentLimits)
        if let named = SIPURI(document.uri) { document.uri = configuration.canonical(named).addressOfRecord().description }
        return document
    }
}
