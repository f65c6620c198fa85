import PresenceDocuments

/// Refusal of a publish, refresh or removal: the entity-tag or a limit of the presentity does not allow it.
public struct CompositionError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of refusal, compared by its name.
    package struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Lower-case words joined by hyphens, such as `unknown-tag`.
        package let name: String
        /// Creates a kind with that name; the kinds used here are the constants below.
        package init(_ name: String) { self.name = name }
        package var description: String { name }

        /// No live publication has that entity-tag (RFC 3903 6 step 4: 412).
        package static let unknownTag = Code("unknown-tag")
        /// The new entity-tag is in use.
        package static let tagInUse = Code("tag-in-use")
        /// The presentity has as many publications as its limits allow.
        package static let tooManyPublications = Code("too-many-publications")
        /// With this body the presentity's publications together would exceed their size limit (RFC 3261 21.4.11: 413).
        package static let tooLarge = Code("too-large")
    }

    /// Kind of refusal, from which the status of the response follows.
    package var code: Code
    /// English sentence for logs and responses, with the entity and the limit or the section that is broken.
    public var message: String
    public var description: String { message }
}

/// Publications of one presentity and the document composed of them (RFC 3903 4.5, RFC 4479 5).
///
/// Publications are kept unchanged, so that removing one restores the values of the others. Policy: tuples stay apart under unique
/// ids; among tuples with the same id, contact and classes only the newest is kept. Persons of one class are merged element by
/// element, the newest first; so are reports on one device. Pure: time is an argument.
public struct PublicationComposer: Hashable, Sendable {
    /// Limits that ``publish(_:tag:replacing:until:at:)`` checks; lowering them drops no publication.
    public var limits: CompositionLimits
    /// Presentity URI: the `entity` of the composed document, whatever the publications carry.
    public let entity: String
    /// Sum of the sizes of all publications.
    public private(set) var size = PublicationSize()
    private var publications: [Publication] = []
    private var lastNumber: UInt64 = 0
    /// Ids in use in the composed document.
    private var ids: Set<String> = []

    /// Creates a composer without publications.
    public init(entity: String, limits: CompositionLimits = CompositionLimits()) {
        self.entity = entity
        self.limits = limits
    }

    /// Whether there are no publications; expired ones count until ``expire(at:)``.
    public var isEmpty: Bool { publications.isEmpty }

    /// Composes all publications; has no tuples when there are none. Computed anew at every access.
    public var document: PIDFDocument { Composition(publications).document(entity: entity) }

    /// Documents of the publications as they were published, in order of their creation.
    package var published: [PIDFDocument] { publications.map(\.document) }

    /// Entity-tags of the publications, in order of their creation.
    package var tags: [String] { publications.map(\.tag) }

    /// Earliest expiry of a publication; nil without publications.
    package var nextExpiry: DateTime? { publications.map(\.until).min() }

    /// Adds a publication, or with `replacing` the next version of one (RFC 3903 4.1, 4.3).
    ///
    /// A size limit refuses only values that grow, even if the limit was lowered meanwhile.
    /// - Parameters:
    ///   - until: Expiry of the publication.
    ///   - now: Arrival time, used as the age of parts without a timestamp.
    /// - Throws: `unknownTag`, `tagInUse`, `tooManyPublications` or `tooLarge`; the publications are unchanged then.
    public mutating func publish(
        _ published: PIDFDocument, tag: String, replacing oldTag: String? = nil, until: DateTime, at now: DateTime
    ) throws(CompositionError) {
        var publication: Publication
        let index: Int
        if let oldTag {
            index = try find(oldTag)
            try check(tag, besides: index)
            publication = publications[index]
        } else {
            try check(tag, besides: nil)
            guard publications.count < limits.publications else {
                throw CompositionError(
                    code: .tooManyPublications, message: "\(entity) has \(publications.count) publications, as many as allowed")
            }
            index = publications.count
            publication = Publication(tag: tag, until: until)
        }
        let newSize = PublicationSize(published)
        if let excess = (size - publication.size + newSize).excess(over: limits.size, from: size) {
            throw CompositionError(
                code: .tooLarge,
                message: "\(excess.value) \(excess.name) in all publications of \(entity), more than the \(excess.limit) allowed")
        }
        lastNumber += 1
        publication.tag = tag
        publication.until = until
        publication.arrived = now
        publication.number = lastNumber
        if index < publications.count { drop(publications[index]) }
        publication.size = newSize
        take(&publication, published)
        if index < publications.count { publications[index] = publication } else { publications.append(publication) }
    }

    /// Extends a publication without a body (RFC 3903 4.2); ``document`` does not change.
    package mutating func refresh(_ oldTag: String, tag: String, until: DateTime) throws(CompositionError) {
        let index = try find(oldTag)
        try check(tag, besides: index)
        publications[index].tag = tag
        publications[index].until = until
    }

    /// Removes a publication (RFC 3903 4.4); throws `unknownTag` when none has that tag.
    public mutating func remove(_ tag: String) throws(CompositionError) {
        drop(publications.remove(at: try find(tag)))
    }

    /// Removes publications with an expiry at or before `now`.
    ///
    /// - Returns: Whether any was removed.
    @discardableResult
    public mutating func expire(at now: DateTime) -> Bool {
        let expired = publications.filter { $0.until <= now }
        expired.forEach { drop($0) }
        publications.removeAll { $0.until <= now }
        return !expired.isEmpty
    }

    /// State of a live publication besides its document, to be kept across a restart.
    package struct Standing: Hashable, Sendable {
        /// Sequence number of its newest body; grows with every body of the presentity.
        package var number: UInt64
        /// Arrival of its newest body.
        package var arrived: DateTime
        /// Expiry; ``expire(at:)`` removes the publication from this time on.
        package var until: DateTime
        /// Composed id by document id, where the two differ.
        package var ids: [String: String]

        package init(number: UInt64, arrived: DateTime, until: DateTime, ids: [String: String]) {
            self.number = number
            self.arrived = arrived
            self.until = until
            self.ids = ids
        }
    }

    /// State of a live publication; nil when none has that tag.
    package func standing(of tag: String) -> Standing? {
        publications.first { $0.tag == tag }.map {
            Standing(number: $0.number, arrived: $0.arrived, until: $0.until, ids: $0.ids.filter { $0.key != $0.value })
        }
    }

    /// Restores a publication from before a restart; call in ascending order of ``Standing/number``. Limits are not checked.
    package mutating func restore(_ published: PIDFDocument, tag: String, standing: Standing) {
        var publication = Publication(tag: tag, until: standing.until)
        publication.arrived = standing.arrived
        publication.number = standing.number
        publication.ids = standing.ids
        publication.size = PublicationSize(published)
        take(&publication, published)
        lastNumber = max(lastNumber, standing.number)
        publications.append(publication)
    }

    /// Removes a publication, whether it exists or not.
    package mutating func forget(_ tag: String) {
        if let index = publications.firstIndex(where: { $0.tag == tag }) { drop(publications.remove(at: index)) }
    }

    private func find(_ tag: String) throws(CompositionError) -> Int {
        if let index = publications.firstIndex(where: { $0.tag == tag }) { return index }
        throw CompositionError(code: .unknownTag, message: "RFC 3903 6: no publication of \(entity) has that entity-tag")
    }

    private func check(_ tag: String, besides index: Int?) throws(CompositionError) {
        guard let other = publications.firstIndex(where: { $0.tag == tag }), other != index else { return }
        throw CompositionError(code: .tagInUse, message: "RFC 3903 4.1: an entity-tag is used twice")
    }

    private mutating func take(_ publication: inout Publication, _ published: PIDFDocument) {
        publication.take(published, taken: ids)
        ids.formUnion(publication.ids.values)
        size = size + publication.size
    }

    private mutating func drop(_ publication: Publication) {
        ids.subtract(publication.ids.values)
        size = size - publication.size
    }
}

/// One publication, unchanged, with the ids of its parts in the composed document.
struct Publication: Hashable, Sendable {
    var tag: String
    var until: DateTime
    var arrived = DateTime(nanosecondsSince1970: 0)
    /// Sequence number of the body; decides between equal timestamps.
    var number: UInt64 = 0
    var document = PIDFDocument(entity: "")
    var size = PublicationSize()
    /// Composed id by document id; kept across versions, so that watchers see stable ids.
    var ids: [String: String] = [:]

    init(tag: String, until: DateTime) {
        self.tag = tag
        self.until = until
    }

    /// Replaces the document and assigns ids: tuples, persons and devices share one id space (XML Schema part 2 3.3.8).
    mutating func take(_ published: PIDFDocument, taken: Set<String>) {
        document = published
        let own = published.tuples.map(\.id) + published.persons.map(\.id) + published.devices.map(\.id)
        let present = Set(own)
        var kept = ids.filter { present.contains($0.key) }
        var used = Set(kept.values)
        for id in own where kept[id] == nil {
            var free = id
            var number = 2
            while used.contains(free) || taken.contains(free) {
                free = "\(id)-\(number)"
                number += 1
            }
            used.insert(free)
            kept[id] = free
        }
        ids = kept
    }
}
