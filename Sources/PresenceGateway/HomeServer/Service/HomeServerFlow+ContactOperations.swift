import EnhancedPresence
import FederationRouting
import PresenceDocuments
import SIPCore
import XMLCore

/// SOAP operations on a user's contacts, groups and access control list (MS-SIP 3.7.4, 3.7.5.1).
extension HomeServerFlow {
    /// The operation of one SOAP request.
    private enum Operation {
        case contacts(ContactOperation)
        case accessControl(SetACEOperation)
    }

    func performOperation(_ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let operation: Operation
        do throws(DocumentError) {
            operation = try Self.operation(service.request.body, limits: documentLimits)
        } catch {
            throw .unreadable(error, "MS-SIP 2.2.4.2").withFault(.badCall)
        }
        let parties = service.parties
        guard parties.presentityDomain.side == .enterprise, isUser(parties.presentityKey) else {
            throw Refusal(.notFound, "MS-SIP 3.7.4.3: To is no user of this server", errorID: 4005).withFault(.badCall)
        }
        guard parties.watcherKey == parties.presentityKey else {
            throw .forbidden("MS-SIP 3.7.4.3: From and To differ").withFault(.badCall)
        }
        switch operation {
        case .contacts(let operation): try change(operation, service, at: now)
        case .accessControl(let operation): try change(operation, service, at: now)
        }
    }

    private static func operation(_ body: [UInt8], limits: XMLLimits) throws(DocumentError) -> Operation {
        let element = try SOAPEnvelope(parsing: body, limits: limits).operation
        if let contacts = try ContactOperation(reading: element) { return .contacts(contacts) }
        if let accessControl = try SetACEOperation(reading: element) { return .accessControl(accessControl) }
        throw DocumentError(
            code: .notUnderstood, message: "operation '\(element.localName.prefix(60))' is not known here", position: element.position)
    }

    private func change(_ operation: ContactOperation, _ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let user = service.parties.presentityKey
        var list = home.lists.contacts(of: user)
        let outcome: ContactList.Outcome
        do throws(EnhancedPresenceRefusal) {
            outcome = try list.apply(operation)
        } catch {
            throw Refusal(error).withFault(error.status == 409 ? .wrongDelta(current: list.deltaNum) : .badCall)
        }
        try checkListLimit(user)
        home.lists.set(list, of: user)
        keep(.contacts(user))
        var response = SIPResponse(to: service.request, status: .ok, toTag: tokens.tag())
        if let group = outcome.newGroup {
            response.headers.append(.contentType, Self.soapType)
            response.body = ContactOperation.addGroupAnswer(groupID: group)
        }
        counters.publicationsAccepted += 1
        respond(response, service.transaction, at: now)
        notifyContacts(of: user, outcome.delta, at: now)
    }

    private func change(_ operation: SetACEOperation, _ service: ServiceRequest, at now: Instant) throws(Refusal) {
        let user = service.parties.presentityKey
        var list = home.lists.accessControl(of: user)
        do throws(EnhancedPresenceRefusal) {
            try list.set(operation)
        } catch {
            throw Refusal(error).withFault(error.status == 409 ? .wrongDelta(current: list.deltaNum) : .badCall)
        }
        try checkListLimit(user)
        home.lists.set(list, of: user)
        keep(.accessList(user))
        counters.publicationsAccepted += 1
        respond(SIPResponse(to: service.request, status: .ok, toTag: tokens.tag()), service.transaction, at: now)
        notifyAccessControl(of: user, at: now)
    }

    /// Limits the number of users with lists; the size of each list has its own limit.
    private func checkListLimit(_ user: String) throws(Refusal) {
        guard !home.lists.knows(user), home.lists.count >= configuration.limits.presentities else { return }
        counters.limitsReached += 1
        throw .unavailable("too many users on this node", retryAfter: configuration.timing.retryAfter)
    }

    static let soapType = "application/SOAP+xml"
}

extension Refusal {
    /// The refusal with a SOAP fault as its body (MS-PRES 4.1.2).
    fileprivate func withFault(_ fault: SOAPFault) -> Refusal {
        var refusal = self
        refusal.body = Body(contentType: HomeServerFlow.soapType, bytes: fault.encoded())
        return refusal
    }
}
