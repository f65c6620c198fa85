import EnhancedPresence
import PresenceDocuments
import SIPCore
import SIPEvents
import SimplePresence

/// PUBLISH for users of hosted domains (RFC 3903).
extension PresentitiesFlow {
    func receivePublish(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ parties: RequestScreening.Parties, at now: Instant
    ) throws(Refusal) {
        let presentity = try presentity(parties.presentityKey, parties.presentity)
        defer { settle(presentity) }
        var entityTags = presentity.documents.entityTags
        let (operation, tag, expires) = try publish(request, in: &entityTags, at: now)
        let until = DateTime(now + .seconds(expires))
        let sphere = authorization.dependsOnSphere(presentity.key) ? sphere(of: presentity.key, at: now) : nil
        let isPartial = !request.body.isEmpty && request.headers.contentType?.essence == WatcherFormat.pidfDiffType
        let body = isPartial ? try wholeDocument(request.body, operation, of: presentity) : request.body
        let isChanged = try accept(operation, entityTags, body, keepsBody: isPartial, until: until, of: presentity, at: now)
        var response = SIPResponse(to: request, status: .ok, toTag: tokens.tag())
        response.headers.append(.expires, String(expires))
        response.headers.append(.sipETag, tag.value)
        counters.publicationsAccepted += 1
        respond(response, transaction, at: now)
        if isChanged { notePublished(presentity) }
        // At once, and whether or not the composed document changes: no watcher is shown what the former sphere granted.
        if let sphere, self.sphere(of: presentity.key, at: now) != sphere { review.reviewWatchers(of: presentity.key, at: now) }
        table.schedule(presentity)
    }

    /// Applies an accepted request to the documents, and stores it.
    /// - Returns: whether the composed document may have changed.
    private func accept(
        _ operation: PublicationTable.Operation, _ entityTags: PublicationTable, _ body: [UInt8], keepsBody: Bool, until: DateTime,
        of presentity: HostedPresentity, at now: Instant
    ) throws(Refusal) -> Bool {
        let document = body.isEmpty ? nil : try document(body)
        do throws(CompositionError) {
            let isChanged = try presentity.accept(
                operation, entityTags, body: body, document, until: until, keepsBody: keepsBody || store != nil, at: now)
            keep(operation, of: presentity)
            return isChanged
        } catch {
            switch error.code {
            case .unknownTag: throw Refusal(.conditionalRequestFailed, "RFC 3903 6: no publication has this entity-tag")
            case .tooLarge:
                counters.limitsReached += 1
                throw Refusal(.requestEntityTooLarge, "RFC 3261 21.4.11: \(error.message)", errorID: 2010)
            default: throw .unavailable("too many publications of this presentity", retryAfter: configuration.timing.retryAfter)
            }
        }
    }

    /// The document that a partial publication results in (RFC 5264 4): the whole one of `pidf-full`, or the published one with the operations of
    /// `pidf-diff`, whose order the entity-tag gives.
    private func wholeDocument(
        _ body: [UInt8], _ operation: PublicationTable.Operation, of presentity: HostedPresentity
    ) throws(Refusal) -> [UInt8] {
        func unlessRefused<Result>(_ work: () throws(PartialPIDFError) -> Result) throws(Refusal) -> Result {
            do throws(PartialPIDFError) {
                return try work()
            } catch {
                throw .badRequest("RFC 5264 4: the partial document cannot be applied: \(error)", errorID: 4001)
            }
        }
        let partial = try unlessRefused { () throws(PartialPIDFError) in try PartialPIDFDocument(body) }
        let before = operation.entityTags.old.flatMap { presentity.documents.body(of: $0.value) }
        if case .difference = partial.content, before == nil {
            throw .badRequest("RFC 5264 4: a publication that differences change begins with pidf-full", errorID: 4001)
        }
        let whole = try unlessRefused { () throws(PartialPIDFError) in try partial.document(after: before ?? []) }
        guard whole.count <= configuration.limits.bodyBytes else { throw .bodyTooLarge }
        return whole
    }

    private func document(_ body: [UInt8]) throws(Refusal) -> PIDFDocument {
        do throws(DocumentError) {
            return try PIDFDocument.decode(body, using: parser)
        } catch {
            throw .badRequest("the published document cannot be read: \(error)", errorID: 4001)
        }
    }

    /// Stores a PUBLISH; a replaced or removed entity-tag is removed from the store.
    private func keep(_ operation: PublicationTable.Operation, of presentity: HostedPresentity) {
        guard store != nil else { return }
        let tags = operation.entityTags
        for tag in [tags.old, tags.new].compactMap(\.self) { keep(.publication(presentity: presentity.key, tag: tag.value)) }
        // The presentity's record holds the order of the two models.
        if presentity.hasEnhancedState { table.keep(presentity) }
    }

    // MARK: composition

    /// Composes the published documents, once for all requests of the tick; watchers are notified at its end.
    func composePublished(_ presentity: HostedPresentity) {
        if composeAgain(presentity) { presentity.notePublished() }
    }

    /// - Returns: whether the composed document changed.
    @discardableResult
    func composeAgain(_ presentity: HostedPresentity) -> Bool {
        if !presentity.documents.isComposed { counters.documentsComposed += 1 }
        guard presentity.composeDocuments(at: commitLog.now) else { return false }
        table.schedule(presentity)
        return true
    }
}
