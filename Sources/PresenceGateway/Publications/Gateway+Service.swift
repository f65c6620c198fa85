import EnhancedPresence
import FederationRouting
import PresenceDocuments
import Registration
import SIPCore
import SIPEvents
import XMLCore

/// Kinds of SERVICE by Content-Type (MS-SIP 3.6).
enum ServiceKind: String, CaseIterable {
    /// Publication of categories (MS-PRES 3.2.5.1.2).
    case categoryPublish = "application/msrtc-category-publish+xml"
    /// Container memberships (MS-PRES 3.5.5).
    case setContainerMembers = "application/msrtc-setcontainermembers+xml"
    /// Acknowledged subscribers (MS-PRES 3.6.5.1).
    case setSubscribers = "application/msrtc-presence-setsubscriber+xml"
    /// Delegates (MS-PRES 3.9.5.1).
    case setDelegates = "application/msrtc-setdelegate+xml"
    /// Contacts, groups, access control (MS-SIP 2.2.4.2).
    case operation = "application/soap+xml"

    static let accepted = allCases.map(\.rawValue).joined(separator: ", ")
}

/// A SERVICE about a user of a hosted domain, after the checks that all kinds share.
struct ServiceRequest {
    let request: SIPRequest
    let transaction: ServerTransactionID?
    let flow: Flow
    let parties: RequestScreening.Parties
    /// The publishing endpoint; counts as registered if its domain requires no registration.
    let sender: PublishingEndpoint
    /// Whether the endpoint is registered, even if its domain does not require it.
    let isRegistered: Bool
}

extension Gateway {
    /// Limits for documents in requests; the length limit is that of bodies.
    var documentLimits: XMLLimits {
        var limits = XMLLimits.standard
        limits.bytes = configuration.limits.bodyBytes
        return limits
    }

    func receiveService(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant
    ) throws(Refusal) {
        guard let to = request.headers.to?.uri else { throw .badRequest("RFC 3261 20.39: To cannot be read") }
        if Self.isDirectorySearch(request) { return try searchDirectory(request, transaction, at: now) }
        let parties = try screening.parties(request, presentity: to)
        if publishingHop(of: parties.presentity, side: .simple) != nil,
            request.body.isEmpty || request.headers.contentType?.essence == ServiceKind.categoryPublish.rawValue
        {
            return try relayCategories(request, transaction, flow, parties, at: now)
        }
        guard parties.presentityDomain.hosted else {
            throw Refusal(.notFound, "this node is not the home server of that user", errorID: 4005)
        }
        guard let type = request.headers.contentType?.essence else {
            throw .badRequest("MS-PRES 3.2.5.4: a publish request needs a body", errorID: 4001)
        }
        guard let kind = ServiceKind(rawValue: type) else { throw .unsupportedMediaType(accept: ServiceKind.accepted) }
        let endpoint = EndpointID(of: request.headers)
        let isRegistered = endpoint.map { home.registrar.binding(of: parties.presentityKey, endpoint: $0) != nil } ?? false
        let sender = PublishingEndpoint(
            from: parties.watcher.description, to: parties.presentity.description,
            endpointID: endpoint.map { Self.spelling(of: $0, in: request.headers) },
            isRegistered: isRegistered || !parties.presentityDomain.requiresRegistration)
        let service = ServiceRequest(
            request: request, transaction: transaction, flow: flow, parties: parties, sender: sender, isRegistered: isRegistered)
        switch kind {
        case .categoryPublish: try publishCategories(service, at: now)
        case .setContainerMembers: try setContainerMembers(service, at: now)
        case .setSubscribers: try setSubscribers(service, at: now)
        case .setDelegates: try setDelegates(service, at: now)
        case .operation: try performOperation(service, at: now)
        }
    }

    /// The endpoint as spelled in its own Contact (MS-PRES 2.2.2.1).
    private static func spelling(of endpoint: EndpointID, in headers: SIPHeaders) -> String {
        guard let instance = headers.contact?.sipInstance, EndpointID(instance) == endpoint else { return endpoint.description }
        var text = Substring(instance)
        if text.hasPrefix("<") { text = text.dropFirst().dropLast() }
        if text.lowercased().hasPrefix("urn:uuid:") { text = text.dropFirst(9) }
        return String(text)
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
        } catch {
            throw .unreadable(error, "the request's document cannot be read")
        }
        keep(presentity)
        var response = SIPResponse(to: service.request, status: .ok, toTag: tokens.tag())
        answer(&response, presentity.enhanced, changed, moment)
        counters.publicationsAccepted += 1
        respond(response, service.transaction, at: now)
        // Earlier PUBLISH requests of this tick take effect before this change.
        composePublished(presentity)
        presentity.noteEnhanced(changed)
        if let before { placeWatchers(of: presentity, before: before, at: now) }
        notifyAll(of: presentity, changed, at: now)
    }
}

extension Refusal {
    init(_ refusal: EnhancedPresenceRefusal) {
        self.init(
            SIPStatus(rawValue: refusal.status), refusal.diagnostic?.reason ?? refusal.message,
            errorID: refusal.diagnostic.map { UInt32(clamping: $0.id) },
            body: refusal.fault.map { Body(contentType: WatcherFormat.faultType, bytes: $0.encoded()) })
    }
}
