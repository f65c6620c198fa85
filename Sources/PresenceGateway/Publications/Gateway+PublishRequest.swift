import SIPCore
import SIPEvents

/// Checks of PUBLISH that do not depend on the compositor (RFC 3903 6).
extension Gateway {
    /// Checks the package, the publisher and the type of the document.
    func checkPublication(_ request: SIPRequest, _ parties: RequestScreening.Parties) throws(Refusal) {
        guard let event = request.headers.event, event.package == EventToken.presence else { throw packages.badEvent }
        guard parties.watcherKey == parties.presentityKey else {
            throw .forbidden("RFC 3903 6: only the presentity itself may publish")
        }
        if !request.body.isEmpty, request.headers.contentType?.essence != WatcherFormat.pidfType {
            throw .unsupportedMediaType(accept: WatcherFormat.pidfType)
        }
    }

    /// Applies a PUBLISH to the presentity's entity-tags; the caller keeps `table` once everything else succeeds.
    func publish(
        _ request: SIPRequest, in table: inout PublicationTable, at now: Instant
    ) throws(Refusal) -> (operation: PublicationTable.Operation, tag: EntityTag, expires: Int) {
        let tags = request.headers.values(.sipIfMatch).flatMap { $0.split(separator: ",") }.map {
            EntityTag(String($0.drop { $0 == " " }.prefix { $0 != " " }))
        }
        let outcome = table.receive(
            ifMatch: tags, hasBody: !request.body.isEmpty, expires: request.headers.expires.map { Int(clamping: $0) },
            newTag: EntityTag(tokens.entityTag()), at: now)
        switch outcome {
        case .malformed: throw .badRequest("RFC 3903 6: a PUBLISH has a body or exactly one entity-tag")
        case .unknownTag: throw Refusal(.conditionalRequestFailed, "RFC 3903 6: no publication has this entity-tag")
        case .tooBrief(let minimum): throw .tooBrief(minimum)
        case .full:
            counters.limitsReached += 1
            throw .unavailable("too many publications of this presentity", retryAfter: configuration.timing.retryAfter)
        case .accepted(let operation, let tag, let expires): return (operation, tag, expires)
        }
    }
}
