import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import XMLCore

/// Documents and entity-tags of published state, for hosted and for relayed publications.
extension ShardMember {
    /// Limits for documents in requests; the length limit is that of bodies.
    var documentLimits: XMLLimits {
        var limits = XMLLimits.standard
        limits.bytes = configuration.limits.bodyBytes
        return limits
    }

    /// Reads the document of a publish request, with the user's canonical URI in place of an alias.
    func categoryPublish(_ body: [UInt8]) throws(DocumentError) -> CategoryPublishDocument {
        var document = try CategoryPublishDocument(parsing: body, limits: documentLimits)
        if let named = SIPURI(document.uri) { document.uri = configuration.canonical(named).addressOfRecord().description }
        return document
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
