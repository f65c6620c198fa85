import PresenceDocuments
import SIPCore
import SIPEvents
import SimplePresence

/// The PIDF documents that a presentity's endpoints published (RFC 3903), and their composition.
///
///     PUBLISH --accept--> outdated --compose--> composed --changed--> pending --takePending--> watchers are notified
///        |                   ^                      |
///        +--refused: no      +--expire, restore-----+--equal: nothing to notify
///           change
///
/// Several requests in one tick are composed once.
struct PublishedDocuments {
    private var table: PublicationTable
    private var composer: PublicationComposer
    /// Published documents by entity-tag, as received or as partial publications made them, for the store and for differences.
    private var bodies: [String: [UInt8]] = [:]
    /// The composition as of the last ``compose()``.
    private(set) var document: PIDFDocument
    /// Whether ``document`` is the composition of all present documents.
    private(set) var isComposed = true
    private var isPending = false

    init(entity: String, expiry: ExpiryPolicy, limits: CompositionLimits) {
        table = PublicationTable(expiry: expiry, limit: limits.publications)
        composer = PublicationComposer(entity: entity, limits: limits)
        document = PIDFDocument(entity: entity)
    }

    /// Whether no document is published.
    var isEmpty: Bool { composer.isEmpty }
    /// Number of live entity-tags.
    var count: Int { table.count }
    /// Earliest end of a publication.
    var nextDeadline: Instant? { table.nextDeadline }
    /// The documents as they were published, in the order of the composition.
    var published: [PIDFDocument] { composer.published }
    /// Number, times and identifiers of each document, in the order of the composition.
    var standings: [PublicationComposer.Standing] { composer.tags.compactMap { composer.standing(of: $0) } }

    // MARK: PUBLISH

    /// The entity-tags as a request finds them; ``accept(_:_:body:_:until:keepsBody:at:)`` takes them back.
    var entityTags: PublicationTable { table }

    /// Applies an accepted request. A refusal changes nothing.
    /// - Parameters:
    ///   - table: the entity-tags after the request.
    ///   - document: the parsed body; nil: the request has none.
    ///   - keepsBody: whether the body is needed, for the store or for a later difference (RFC 5264).
    /// - Returns: whether the composition may have changed.
    /// - Throws: if the composition would exceed its limits.
    mutating func accept(
        _ operation: PublicationTable.Operation, _ table: PublicationTable, body: [UInt8], _ document: PIDFDocument?, until: DateTime,
        keepsBody: Bool, at now: Instant
    ) throws(CompositionError) -> Bool {
        let mayChange = try compose(operation, document, until: until, at: DateTime(now))
        self.table = table
        if keepsBody || operation.entityTags.old.map({ bodies[$0.value] != nil }) == true { move(operation, body) }
        if mayChange { isComposed = false }
        return mayChange
    }

    private mutating func compose(
        _ operation: PublicationTable.Operation, _ document: PIDFDocument?, until: DateTime, at moment: DateTime
    ) throws(CompositionError) -> Bool {
        switch (operation, document) {
        case (.create(let tag), let document?):
            try composer.publish(document, tag: tag.value, until: until, at: moment)
            return true
        case (.modify(let old, let tag), let document?):
            try composer.publish(document, tag: tag.value, replacing: old.value, until: until, at: moment)
            return true
        case (.refresh(let old, let tag), _):
            try composer.refresh(old.value, tag: tag.value, until: until)
            return false
        case (.remove(let tag), _):
            try composer.remove(tag.value)
            return true
        default:
            return false
        }
    }

    private mutating func move(_ operation: PublicationTable.Operation, _ body: [UInt8]) {
        let (old, new) = operation.entityTags
        let kept = old.flatMap { bodies.removeValue(forKey: $0.value) }
        if let new { bodies[new.value] = body.isEmpty ? kept : body }
    }

    /// Removes what has expired.
    /// - Returns: the entity-tags that ended.
    mutating func expire(at now: Instant) -> [EntityTag] {
        let ended = table.advance(to: now)
        if composer.expire(at: DateTime(now)) { isComposed = false }
        for tag in ended { bodies[tag.value] = nil }
        return ended
    }

    /// The document of an entity-tag as it was published; nil: it is not kept.
    func body(of tag: String) -> [UInt8]? { bodies[tag] }

    // MARK: composition

    /// Composes the documents, unless none changed.
    /// - Returns: whether ``document`` changed.
    mutating func compose() -> Bool {
        guard !isComposed else { return false }
        isComposed = true
        let composed = composer.document
        guard composed != document else { return false }
        document = composed
        return true
    }

    /// Notes that the watchers are to be notified of ``document`` at the end of the tick.
    mutating func notePending() { isPending = true }

    /// - Returns: whether the watchers are to be notified; false until the next ``notePending()``.
    mutating func takePending() -> Bool {
        defer { isPending = false }
        return isPending
    }

    // MARK: store

    /// Restores a document of an earlier process.
    mutating func restore(_ document: PIDFDocument, body: [UInt8], tag: String, _ standing: PublicationComposer.Standing) {
        table.restore(EntityTag(tag), until: Instant(standing.until))
        composer.restore(document, tag: tag, standing: standing)
        bodies[tag] = body
        isComposed = false
    }

    /// A live document with its body as received; nil: no such entity-tag.
    func stored(_ tag: String) -> (body: [UInt8], standing: PublicationComposer.Standing)? {
        guard let standing = composer.standing(of: tag), let body = bodies[tag] else { return nil }
        return (body, standing)
    }

    /// Removes a document that is read again from the store.
    mutating func forget(_ tag: String) {
        table.forget(EntityTag(tag))
        composer.forget(tag)
        bodies[tag] = nil
        isComposed = false
    }
}

extension PublicationTable.Operation {
    /// The entity-tags that the operation ends and begins.
    var entityTags: (old: EntityTag?, new: EntityTag?) {
        switch self {
        case .create(let tag): (nil, tag)
        case .modify(let old, let tag), .refresh(let old, let tag): (old, tag)
        case .remove(let tag): (tag, nil)
        case .nothing: (nil, nil)
        }
    }
}
