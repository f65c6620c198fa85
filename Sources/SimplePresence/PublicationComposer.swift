import PresenceDocuments

/// Why a publication was not taken; the publisher's fault, or of all publishers together.
public struct CompositionError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let name: String
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// No live publication has that entity-tag (RFC 3903 6 step 4: 412).
        public static let unknownTag = Code("unknown-tag")
        /// The new entity-tag is in use.
        public static let tagInUse = Code("tag-in-use")
        /// The presentity has as many publications as it may.
        public static let tooManyPublications = Code("too-many-publications")
    }

    public var code: Code
    public var message: String
    public var description: String { message }
}

/// The publications of one presentity and the one document composed of them (RFC 3903 4.5, RFC 4479 5).
///
/// Every publication is kept as it came, so that taking one away brings back what the others say. The policy:
/// tuples stay apart under unique ids, unless two have the same id and the same contact, where the newer counts; persons of one class
/// become one, element by element from the newest that has it; so do reports on one device. Pure: time is an argument.
public struct PublicationComposer: Hashable, Sendable {
    /// Publications that one presentity may have at a time.
    public var maximumPublications: Int
    /// The presentity's URI, which the composed document carries whatever the publications say.
    public let entity: String
    /// The composition of all publications; without tuples when there are none.
    public private(set) var document: PIDFDocument
    private var publications: [Publication] = []
    private var lastNumber: UInt64 = 0

    public init(entity: String, maximumPublications: Int = 64) {
        self.entity = entity
        self.maximumPublications = maximumPublications
        document = PIDFDocument(entity: entity)
    }

    public var isEmpty: Bool { publications.isEmpty }

    /// Entity-tags of the live publications, oldest first.
    public var tags: [String] { publications.map(\.tag) }

    /// When the next publication expires.
    public var nextExpiry: DateTime? { publications.map(\.until).min() }

    /// Takes a publication with a body: a new one, or with `replacing` the next version of one (RFC 3903 4.1, 4.3).
    ///
    /// - Parameters:
    ///   - until: When it expires.
    ///   - now: Its age, where it has no timestamps of its own.
    /// - Returns: Whether the composed document changed.
    @discardableResult
    public mutating func publish(
        _ published: PIDFDocument, tag: String, replacing oldTag: String? = nil, until: DateTime, at now: DateTime
    ) throws(CompositionError) -> Bool {
        var publication: Publication
        let index: Int
        if let oldTag {
            index = try find(oldTag)
            try check(tag, besides: index)
            publication = publications[index]
        } else {
            try check(tag, besides: nil)
            guard publications.count < maximumPublications else {
                throw CompositionError(
                    code: .tooManyPublications, message: "\(entity) has \(publications.count) publications, as many as allowed")
            }
            index = publications.count
            publication = Publication(tag: tag, until: until)
        }
        lastNumber += 1
        publication.tag = tag
        publication.until = until
        publication.arrived = now
        publication.number = lastNumber
        let taken = Set(publications.enumerated().filter { $0.offset != index }.flatMap { $0.element.ids.values })
        publication.take(published, taken: taken)
        if index < publications.count { publications[index] = publication } else { publications.append(publication) }
        return compose()
    }

    /// Prolongs a publication without a body (RFC 3903 4.2); the composed document stays as it is.
    public mutating func refresh(_ oldTag: String, tag: String, until: DateTime) throws(CompositionError) {
        let index = try find(oldTag)
        try check(tag, besides: index)
        publications[index].tag = tag
        publications[index].until = until
    }

    /// Takes a publication away (RFC 3903 4.4).
    ///
    /// - Returns: Whether the composed document changed.
    @discardableResult
    public mutating func remove(_ tag: String) throws(CompositionError) -> Bool {
        publications.remove(at: try find(tag))
        return compose()
    }

    /// Takes away what has expired: `until` itself is too late.
    ///
    /// - Returns: Whether the composed document changed.
    @discardableResult
    public mutating func expire(at now: DateTime) -> Bool {
        let before = publications.count
        publications.removeAll { $0.until <= now }
        return publications.count == before ? false : compose()
    }

    /// What is known of a live publication besides its document.
    public struct Standing: Hashable, Sendable {
        /// Its place by the arrival of the newest body; grows.
        public var number: UInt64
        public var arrived: DateTime
        public var until: DateTime
        /// From an id of the document to that of the composition, where they differ.
        public var ids: [String: String]

        public init(number: UInt64, arrived: DateTime, until: DateTime, ids: [String: String]) {
            self.number = number
            self.arrived = arrived
            self.until = until
            self.ids = ids
        }
    }

    /// The standing of a live publication; nil when none has that tag.
    public func standing(of tag: String) -> Standing? {
        publications.first { $0.tag == tag }.map {
            Standing(number: $0.number, arrived: $0.arrived, until: $0.until, ids: $0.ids.filter { $0.key != $0.value })
        }
    }

    /// Takes a publication back as it was before a restart; give them in the order of their numbers.
    public mutating func restore(_ published: PIDFDocument, tag: String, standing: Standing) {
        var publication = Publication(tag: tag, until: standing.until)
        publication.arrived = standing.arrived
        publication.number = standing.number
        publication.ids = standing.ids
        publication.take(published, taken: Set(publications.flatMap { $0.ids.values }).union(standing.ids.values))
        lastNumber = max(lastNumber, standing.number)
        publications.append(publication)
        _ = compose()
    }

    private func find(_ tag: String) throws(CompositionError) -> Int {
        if let index = publications.firstIndex(where: { $0.tag == tag }) { return index }
        throw CompositionError(code: .unknownTag, message: "RFC 3903 6: no publication of \(entity) has that entity-tag")
    }

    private func check(_ tag: String, besides index: Int?) throws(CompositionError) {
        guard let other = publications.firstIndex(where: { $0.tag == tag }), other != index else { return }
        throw CompositionError(code: .tagInUse, message: "RFC 3903 4.1: an entity-tag is used twice")
    }

    private mutating func compose() -> Bool {
        let composed = Composition(publications).document(entity: entity)
        defer { document = composed }
        return composed != document
    }
}

/// One publication as it came, with the ids that it has in the composed document.
struct Publication: Hashable, Sendable {
    var tag: String
    var until: DateTime
    var arrived = DateTime(nanosecondsSince1970: 0)
    /// Grows with every body; decides between equal ages.
    var number: UInt64 = 0
    var document = PIDFDocument(entity: "")
    /// From an id of the document to that of the composition; kept from version to version, so that watchers see steady ids.
    var ids: [String: String] = [:]

    init(tag: String, until: DateTime) {
        self.tag = tag
        self.until = until
    }

    /// Replaces the document and settles its ids: tuples, persons and devices share one space (XML Schema part 2 3.3.8).
    mutating func take(_ published: PIDFDocument, taken: Set<String>) {
        document = published
        let own = published.tuples.map(\.id) + published.persons.map(\.id) + published.devices.map(\.id)
        var kept = ids.filter { own.contains($0.key) }
        var used = taken.union(kept.values)
        for id in own where kept[id] == nil {
            var free = id
            var number = 2
            while used.contains(free) {
                free = "\(id)-\(number)"
                number += 1
            }
            used.insert(free)
            kept[id] = free
        }
        ids = kept
    }
}
