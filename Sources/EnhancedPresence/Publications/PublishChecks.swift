import PresenceDocuments
import XMLCore

/// Checks of a publish request before the version check (MS-PRES 3.2.5.4).
///
/// The order decides the status of a request with several errors: 403 From and To, 400 form, 403 names and pairs, 488 endpoint, 413
/// sizes; 409 comes last, by the caller.
struct PublishChecks {
    let policy: EnhancedPresencePolicy
    let store: CategoryStore
    let presentity: PresenceAddress

    func check(_ request: CategoryPublishDocument, by endpoint: PublishingEndpoint) throws(EnhancedPresenceRefusal) {
        let to = PresenceAddress(endpoint.to)
        guard PresenceAddress(endpoint.from) == to else {
            throw refusal(403, "the From URI differs from the To URI (MS-PRES 3.2.5.4)")
        }
        guard PresenceAddress(request.uri) == to, to == presentity else {
            throw refusal(400, "publications uri \"\(request.uri)\" is not the To URI (MS-PRES 3.2.5.4)")
        }
        try checkForm(request)
        try checkPlaces(request)
        if !endpoint.isRegistered || endpoint.endpointID == nil,
            let bound = request.publications.first(where: { $0.expireType == .endpoint && !$0.isRemoval })
        {
            throw refusal(488, "\(bound.id) is bound to an endpoint that is not registered (MS-PRES 3.2.5.4)")
        }
        try checkSizes(request)
    }

    private func checkForm(_ request: CategoryPublishDocument) throws(EnhancedPresenceRefusal) {
        var seen = Set<PublicationID>()
        for publication in request.publications {
            let id = publication.id
            guard publication.expireType.isKnown else {
                throw refusal(400, "expireType \"\(publication.expireType)\" of \(id) is unknown (MS-PRES 6.10)")
            }
            if publication.expireType == .time, publication.expires == nil {
                throw refusal(400, "\(id) has expireType time without expires (MS-PRES 3.2.5.4)")
            }
            if publication.expireType != .time, let expires = publication.expires, expires != 0 {
                throw refusal(
                    400, "\(id) has expires \(expires) with expireType \(publication.expireType) (MS-PRES 2.2.2.2.1)")
            }
            guard seen.insert(id).inserted else { throw refusal(400, "\(id) is published twice (MS-PRES 3.2.5.4)") }
            if let body = publication.body, body.is(StateDocument.rootName) { try checkState(body, of: id) }
        }
    }

    /// Refuses unreadable states, because they are aggregated; other bodies are not parsed.
    private func checkState(_ body: XMLFragment, of id: PublicationID) throws(EnhancedPresenceRefusal) {
        do {
            _ = try StateDocument(reading: body.parsed())
        } catch {
            throw refusal(400, "the body of \(id) is no state: \(error) (MS-PRES 3.2.5.4)")
        }
    }

    private func checkPlaces(_ request: CategoryPublishDocument) throws(EnhancedPresenceRefusal) {
        for publication in request.publications {
            let id = publication.id
            if let registered = policy.registeredCategories, !registered.contains(id.category) {
                throw refusal(403, "category \"\(id.category)\" is not registered (MS-PRES 3.2.5.4)")
            }
            if policy.readOnly.contains(id.pair) {
                throw refusal(
                    403, "\(id.category) is read-only in container \(id.container) (MS-PRES 3.2.5.4)", .readOnlyPublication)
            }
            let isReserved = policy.computesAggregates && !publication.isRemoval && Aggregation.reserved.contains(id)
            if isReserved || store[id]?.isComputed == true {
                throw refusal(403, "\(id) is computed by the server (MS-PRES 3.2.5.4, 3.8)", .readOnlyPublication)
            }
        }
    }

    private func checkSizes(_ request: CategoryPublishDocument) throws(EnhancedPresenceRefusal) {
        var count = store.count
        var bytes: [CategoryName: Int] = [:]
        for publication in request.publications {
            let id = publication.id
            let current = store[id]
            if publication.isRemoval {
                guard let current else { continue }
                count -= 1
                bytes[id.category, default: store.byteCount(of: id.category)] -= current.bodyBytes
                continue
            }
            let size = publication.body?.source.count ?? 0
            guard size <= policy.publicationByteLimit else {
                throw refusal(413, "\(id) has \(size) bytes, more than \(policy.publicationByteLimit) (MS-PRES 3.2.5.4)", .categorySize)
            }
            if current == nil { count += 1 }
            bytes[id.category, default: store.byteCount(of: id.category)] += size - (current?.bodyBytes ?? 0)
        }
        guard count <= policy.instanceLimit else {
            throw refusal(413, "\(count) instances are more than \(policy.instanceLimit) (MS-PRES 3.2.5.4)", .categorySize)
        }
        for (category, size) in bytes where size > policy.categoryByteLimit {
            throw refusal(
                413, "category \(category) has \(size) bytes, more than \(policy.categoryByteLimit) (MS-PRES 3.2.5.4)", .categorySize)
        }
    }

    private func refusal(_ status: Int, _ message: String, _ diagnostic: Diagnostic? = nil) -> EnhancedPresenceRefusal {
        EnhancedPresenceRefusal(status: status, diagnostic: diagnostic, message: message)
    }
}
