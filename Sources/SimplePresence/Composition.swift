import PresenceDocuments
import XMLCore

/// The composition policy: pure functions from publications to one document.
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
        for publication in publications {
            let document = publication.document
            for note in document.notes where !result.notes.contains(note) { result.notes.append(note) }
            for fragment in document.extensions where !result.extensions.contains(fragment) { result.extensions.append(fragment) }
            for attribute in document.attributes
            where !result.attributes.contains(where: { $0.localName == attribute.localName && $0.namespace == attribute.namespace }) {
                result.attributes.append(attribute)
            }
            result.rpid.fill(from: document.rpid)
            result.cipid.fill(from: document.cipid)
            result.exact = result.exact ?? document.exact
            result.linkedIdentities = result.linkedIdentities ?? document.linkedIdentities
            result.cid = result.cid ?? document.cid
        }
        return result
    }

    /// Oldest body first, in the order of each document.
    private func tuples() -> [PIDFTuple] {
        var result: [[PIDFTuple]] = []
        // Two publications with one id and one contact are reports on one service: the newer counts.
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
        var result: [PIDFPerson] = []
        for (publication, person) in newestFirst({ $0.persons }, age: { $0.timestamp }) {
            if let index = result.firstIndex(where: { $0.rpid.classes.map(\.text) == person.rpid.classes.map(\.text) }) {
                result[index].fill(from: person)
            } else {
                var person = person
                person.id = publication.ids[person.id] ?? person.id
                result.append(person)
            }
        }
        return result
    }

    private func devices() -> [PIDFDevice] {
        var result: [PIDFDevice] = []
        for (publication, device) in newestFirst({ $0.devices }, age: { $0.timestamp }) {
            if let index = result.firstIndex(where: { $0.deviceID == device.deviceID }) {
                result[index].fill(from: device)
            } else {
                var device = device
                device.id = publication.ids[device.id] ?? device.id
                result.append(device)
            }
        }
        return result
    }

    /// The parts of every publication, by their own timestamps or else the moment they arrived, then by the order of the bodies.
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

extension PIDFPerson {
    /// Takes from an older report what this one does not say.
    mutating func fill(from older: PIDFPerson) {
        rpid.fill(from: older.rpid)
        cipid.fill(from: older.cipid)
        if notes.isEmpty { notes = older.notes }
        if timestamp == nil { timestamp = older.timestamp }
        for fragment in older.extensions
        where !extensions.contains(where: { $0.localName == fragment.localName && $0.namespace == fragment.namespace }) {
            extensions.append(fragment)
        }
    }
}

extension PIDFDevice {
    /// Takes from an older report what this one does not say.
    mutating func fill(from older: PIDFDevice) {
        rpid.fill(from: older.rpid)
        cipid.fill(from: older.cipid)
        capabilities = capabilities ?? older.capabilities
        if notes.isEmpty { notes = older.notes }
        if timestamp == nil { timestamp = older.timestamp }
        for fragment in older.extensions
        where !extensions.contains(where: { $0.localName == fragment.localName && $0.namespace == fragment.namespace }) {
            extensions.append(fragment)
        }
    }
}

extension RPID {
    /// Takes from an older source each kind of element that is missing here.
    mutating func fill(from older: RPID) {
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
    mutating func fill(from older: CIPID) {
        card = card ?? older.card
        displayName = displayName ?? older.displayName
        homepage = homepage ?? older.homepage
        icon = icon ?? older.icon
        map = map ?? older.map
        sound = sound ?? older.sound
    }
}
