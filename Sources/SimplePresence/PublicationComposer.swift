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
        /// With this body the presentity's publications would be larger than they may be together (RFC 3261 21.4.11: 413).
        public static let tooLarge = Code("too-large")
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
    public var limits: CompositionLimits
    /// The presentity's URI, which the composed document carries whatever the publications say.
    public let entity: String
    /// What all publications together are.
    public private(set) var size = PublicationSize()
    private var publications: [Publication] = []
    private var lastNumber: UInt64 = 0
    /// Ids of the composed document.
    private var ids: Set<String> = []

    public init(entity: String, limits: CompositionLimits = CompositionLimits()) {
        self.entity = entity
        self.limits = limits
    }

    public var isEmpty: Bool { publications.isEmpty }

    /// The composition of all publications; without tuples when there are none. Made anew at each call.
    public var document: PIDFDocument { Composition(publications).document(entity: entity) }

    /// Entity-tags of the live publications, oldest first.
    public var tags: [String] { publications.map(\.tag) }

    /// When the next publication expires.
    public var nextExpiry: DateTime? { publications.map(\.until).min() }

    /// Takes a publication with a body: a new one, or with `replacing` the next version of one (RFC 3903 4.1, 4.3).
    ///
    /// A body that is no larger than the one it replaces is taken, even where a limit was lowered meanwhile.
    /// - Parameters:
    ///   - until: When it expires.
    ///   - now: Its age, where it has no timestamps of its own.
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

    /// Prolongs a publication without a body (RFC 3903 4.2); ``document`` stays as it is.
    public mutating func refresh(_ oldTag: String, tag: String, until: DateTime) throws(CompositionError) {
        let index = try find(oldTag)
        try check(tag, besides: index)
        publications[index].tag = tag
        publications[index].until = until
    }

    /// Takes a publication away (RFC 3903 4.4).
    public mutating func remove(_ tag: String) throws(CompositionError) {
        drop(publications.remove(at: try find(tag)))
    }

    /// Takes away what has expired: `until` itself is too late.
    ///
    /// - Returns: Whether there was any.
    @discardableResult
    public mutating func expire(at now: DateTime) -> Bool {
        let expired = publications.filter { $0.until <= now }
        expired.forEach { drop($0) }
        publications.removeAll { $0.until <= now }
        return !expired.isEmpty
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
        publication.size = PublicationSize(published)
        take(&publication, published)
        lastNumber = max(lastNumber, standing.number)
        publications.append(publication)
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

/// One publication as it came, with the ids that it has in the composed document.
struct Publication: Hashable, Sendable {
    var tag: String
    var until: DateTime
    var arrived = DateTime(nanosecondsSince1970: 0)
    /// Grows with every body; decides between equal ages.
    var number: UInt64 = 0
    var document = PIDFDocument(entity: "")
    var size = PublicationSize()
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
