import PresenceDocuments
import XMLCore

/// Composition policy: pure functions from all publications of a presentity to one document.
struct Composition {
    /// Newest body first.
    private let publications: [Publication]

    init(_ publications: [Publication]) {
        self.publications = publications.sorted { $0.number > $1.number }
    }

    func document(entity: String) -> PIDFDocument {
        var result = PIDFDocument(entity: entity)
        result.tuples = tuples()
        result.persons = persons()
        result.devices = devices()
        var notes: Set<PIDFNote> = []
        var extensions: Set<XMLFragment> = []
        var attributes: Set<ExpandedName> = []
        for publication in publications {
            let document = publication.document
            result.notes += document.notes.filter { notes.insert($0).inserted }
            result.extensions += document.extensions.filter { extensions.insert($0).inserted }
            result.attributes += document.attributes.filter { attributes.insert(ExpandedName($0)).inserted }
            result.rpid.fill(from: document.rpid)
            result.cipid.fill(from: document.cipid)
            result.exact = result.exact ?? document.exact
            result.linkedIdentities = result.linkedIdentities ?? document.linkedIdentities
            result.cid = result.cid ?? document.cid
        }
        return result
    }

    /// Returns tuples by publication, oldest body first, in document order.
    private func tuples() -> [PIDFTuple] {
        var result: [[PIDFTuple]] = []
        // Tuples with the same id, contact and classes report on one service: keep the newest.
        var known: Set<Service> = []
        for publication in publications {
            var own: [PIDFTuple] = []
            var seen: Set<String> = []
            for var tuple in publication.document.tuples where seen.insert(tuple.id).inserted {
                if let contact = tuple.contact?.uri, !contact.isEmpty,
                    !known.insert(Service(id: tuple.id, contact: contact, classes: tuple.rpid.classes.map(\.text))).inserted
                {
                    continue
                }
                tuple.id = publication.ids[tuple.id] ?? tuple.id
                own.append(tuple)
            }
            result.append(own)
        }
        return result.reversed().flatMap { $0 }
    }

    private struct Service: Hashable {
        var id: String
        var contact: String
        var classes: [String]
    }

    private func persons() -> [PIDFPerson] {
        merged({ $0.persons }, age: { $0.timestamp }) { $0.rpid.classes.map(\.text) }
    }

    private func devices() -> [PIDFDevice] {
        merged({ $0.devices }, age: { $0.timestamp }) { $0.deviceID }
    }

    /// Merges parts by key: takes the newest report and fills it from the older ones.
    private func merged<Part: ComposedPart, Key: Hashable>(
        _ parts: (PIDFDocument) -> [Part], age: (Part) -> DateTime?, by key: (Part) -> Key
    ) -> [Part] {
        var result: [Part] = []
        var places: [Key: Int] = [:]
        var extensions: [Set<ExpandedName>] = []
        for (publication, part) in newestFirst(parts, age: age) {
            let key = key(part)
            if let place = places[key] {
                result[place].fill(from: part)
                result[place].extensions += part.extensions.filter { extensions[place].insert(ExpandedName($0)).inserted }
            } else {
                places[key] = result.count
                extensions.append(Set(part.extensions.map { ExpandedName($0) }))
                var part = part
                part.id = publication.ids[part.id] ?? part.id
                result.append(part)
            }
        }
        return result
    }

    /// Sorts parts by their timestamp, else by the arrival of their publication, newest first; ties go to the newer body.
    private func newestFirst<Part>(_ parts: (PIDFDocument) -> [Part], age: (Part) -> DateTime?) -> [(publication: Publication, part: Part)]
    {
        var all: [(publication: Publication, part: Part)] = []
        for publication in publications {
            for part in parts(publication.document) { all.append((publication, part)) }
        }
        return all.sorted { one, two in
            let left = age(one.part) ?? one.publication.arrived
            let right = age(two.part) ?? two.publication.arrived
            return left == right ? one.publication.number > two.publication.number : left > right
        }
    }
}

/// Expanded name of an element or attribute, used to find duplicates.
private struct ExpandedName: Hashable {
    var namespace: String
    var localName: String

    init(_ fragment: XMLFragment) {
        namespace = fragment.namespace
        localName = fragment.localName
    }

    init(_ attribute: XMLAttribute) {
        namespace = attribute.namespace
        localName = attribute.localName
    }
}

/// Person or device: a part that is merged across publications.
private protocol ComposedPart {
    var id: String { get set }
    var extensions: [XMLFragment] { get set }
    /// Fills missing values from an older report, except ``extensions``.
    mutating func fill(from older: Self)
}

extension PIDFPerson: ComposedPart {
    fileprivate mutating func fill(from older: PIDFPerson) {
        rpid.fill(from: older.rpid)
        cipid.fill(from: older.cipid)
        if notes.isEmpty { notes = older.notes }
        if timestamp == nil { timestamp = older.timestamp }
    }
}

extension PIDFDevice: ComposedPart {
    fileprivate mutating func fill(from older: PIDFDevice) {
        rpid.fill(from: older.rpid)
        cipid.fill(from: older.cipid)
        capabilities = capabilities ?? older.capabilities
        if notes.isEmpty { notes = older.notes }
        if timestamp == nil { timestamp = older.timestamp }
    }
}

extension RPID {
    /// Fills each missing kind of element from an older source.
    fileprivate mutating func fill(from older: RPID) {
        if activities.isEmpty { activities = older.activities }
        if classes.isEmpty { classes = older.classes }
        if moods.isEmpty { moods = older.moods }
        if placeIs.isEmpty { placeIs = older.placeIs }
        if placeTypes.isEmpty { placeTypes = older.placeTypes }
        if privacies.isEmpty { privacies = older.privacies }
        if relationships.isEmpty { relationships = older.relationships }
        if serviceClasses.isEmpty { serviceClasses = older.serviceClasses }
        if spheres.isEmpty { spheres = older.spheres }
        if statusIcons.isEmpty { statusIcons = older.statusIcons }
        if timeOffsets.isEmpty { timeOffsets = older.timeOffsets }
        if userInputs.isEmpty { userInputs = older.userInputs }
    }
}

extension CIPID {
    fileprivate mutating func fill(from older: CIPID) {
        card = card ?? older.card
        displayName = displayName ?? older.displayName
        homepage = homepage ?? older.homepage
        icon = icon ?? older.icon
        map = map ?? older.map
        sound = sound ?? older.sound
    }
}
