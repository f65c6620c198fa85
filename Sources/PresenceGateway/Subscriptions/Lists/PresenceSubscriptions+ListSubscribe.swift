import PresenceDocuments
import SIPCore
import SIPEvents

/// The resource list server: the SUBSCRIBE contains the list (RFC 4662 4, RFC 5367).
extension PresenceSubscriptions {
    /// Checks the headers of a SUBSCRIBE to a list, before any other check.
    ///
    /// - Parameter isKept: whether the list is one that the watcher keeps.
    /// - Throws: 421 without the required extensions, 406 if Accept does not name the list formats.
    func checkListHead(_ headers: SIPHeaders, isKept: Bool) throws(Refusal) {
        guard headers.offers("eventlist") else { throw .extensionRequired("eventlist", "RFC 4662 4.2: the resource is a list") }
        guard isKept || headers.hasToken(.require, ListRequest.tag) else {
            throw .extensionRequired(ListRequest.tag, "RFC 5367 4: this URI is for lists that come with the request")
        }
        let accepted = headers.accept.filter { $0.quality > 0 }
        for type in [WatcherFormat.rlmiType, WatcherFormat.relatedType] {
            guard let media = MediaType(type), accepted.contains(where: { $0.accepts(media) }) else {
                throw Refusal(.notAcceptable, "RFC 4662 4.5: Accept must name \(WatcherFormat.relatedType) and \(WatcherFormat.rlmiType)")
            }
        }
    }

    /// Reads the list in the body.
    ///
    /// - Throws: 415 for another type, 400 for a missing, unreadable or incomplete list, 413 for too many entries.
    func listRequest(_ request: SIPRequest) throws(Refusal) -> ListRequest {
        guard !request.body.isEmpty else { throw .badRequest("RFC 5367 4: the list is missing", errorID: 4001) }
        guard request.headers.contentType?.essence == ListRequest.contentType else {
            throw .unsupportedMediaType(accept: ListRequest.contentType)
        }
        if let disposition = request.headers.first("Content-Disposition"),
            disposition.prefix(while: { $0 != ";" && $0 != " " }).lowercased() != ListRequest.disposition
        {
            throw .unsupportedMediaType(accept: ListRequest.contentType)
        }
        let document: ResourceListsDocument
        do throws(DocumentError) {
            document = try ResourceListsDocument.decode(request.body, using: parser)
        } catch {
            if error.code == .limit { counters.limitsReached += 1 }
            throw .unreadable(error, "RFC 5367 4", limitID: 2012)
        }
        do throws(Refusal) {
            return try ListRequest(
                document, limit: configuration.limits.resourcesPerBatch, identities: configuration.identities)
        } catch {
            if error.status == .requestEntityTooLarge { counters.limitsReached += 1 }
            throw error
        }
    }

    /// Starts watching the presentities of a list; one that cannot be watched is listed as terminated (RFC 4662 5.5).
    func attachList(
        _ watcher: WatcherDialog, _ request: SIPRequest, parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) {
        var parties = parties
        for resource in watcher.resources {
            parties.name(resource.uri, key: resource.key)
            do throws(Refusal) {
                let loopMarkers = try HopMark(node: configuration.nodeName, presentity: resource.key).passOn(request.headers)
                attach(resource, to: watcher, parties: parties, loopMarkers: loopMarkers, isPoll: isPoll, at: now)
            } catch {
                // The request passed this gateway before: forwarding it again would loop.
                reject(resource, of: watcher, state: "terminated", reason: TerminationReason.noresource.rawValue)
            }
        }
        let wanted = watcher.resources.map { CategoryRequest.Resource(uri: $0.uri, key: $0.key, categories: [], context: nil) }
        noteSubscriber(request, parties, to: wanted, of: watcher, isPoll: isPoll, at: now)
    }
}
