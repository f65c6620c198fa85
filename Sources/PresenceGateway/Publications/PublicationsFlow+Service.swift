import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore

/// SERVICE (MS-PRES 3.2.5.4): relayed to the compositor of a simple domain, or served by the home server of a hosted domain.
extension PublicationsFlow {
    func receiveService(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let to = request.headers.to?.uri else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        if try ports.serveSearch(request, transaction, at: now) { return }
        let parties = try screening.parties(request, presentity: to)
        if pidf.publishingHop(of: parties.presentity) != nil,
            request.body.isEmpty || request.headers.contentType?.essence == ServiceKind.categoryPublish.rawValue
        {
            try checkRunning()
            return try pidf.relay(request, transaction, flow, parties, beside: categories.count, at: now)
        }
        guard parties.presentityDomain.hosted else {
            throw Refusal(.notFound, "this node is not the home server of that user", errorID: 4005)
        }
        guard let type = request.headers.contentType?.essence else {
            throw .badRequest("MS-PRES 3.2.5.4: a publish request needs a body", errorID: 4001)
        }
        guard let kind = ServiceKind(rawValue: type) else { throw .unsupportedMediaType(accept: ServiceKind.accepted) }
        let endpoint = EndpointID(of: request.headers)
        let isRegistered = endpoint.map { ports.isRegistered($0, of: parties.presentityKey) } ?? false
        let sender = PublishingEndpoint(
            from: parties.watcher.description, to: parties.presentity.description,
            endpointID: endpoint.map { Self.spelling(of: $0, in: request.headers) },
            isRegistered: isRegistered || !parties.presentityDomain.requiresRegistration)
        let service = ServiceRequest(
            request: request, transaction: transaction, flow: flow, parties: parties, sender: sender, isRegistered: isRegistered)
        try ports.serve(service, kind, at: now)
    }

    /// The endpoint as spelled in its own Contact (MS-PRES 2.2.2.1).
    private static func spelling(of endpoint: EndpointID, in headers: SIPHeaders) -> String {
        guard let instance = headers.contact?.sipInstance, EndpointID(instance) == endpoint else { return endpoint.description }
        var text = Substring(instance)
        if text.hasPrefix("<") { text = text.dropFirst().dropLast() }
        if text.lowercased().hasPrefix("urn:uuid:") { text = text.dropFirst(9) }
        return String(text)
    }
}
