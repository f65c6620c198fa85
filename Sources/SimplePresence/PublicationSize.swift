import PresenceDocuments
import XMLCore

/// Size of one publication, or of all publications of a presentity.
public struct PublicationSize: Hashable, Sendable {
    /// Octets of the encoded documents.
    public var octets: Int
    /// Elements of every kind, at every depth.
    public var elements: Int
    /// Notes of presence, tuples, persons and devices (RFC 3863 4.1.6, RFC 4479 3).
    public var notes: Int
    /// Elements of unknown vocabularies in presence, tuples, persons and devices.
    public var extensions: Int

    /// Creates a size; omitted values are 0.
    public init(octets: Int = 0, elements: Int = 0, notes: Int = 0, extensions: Int = 0) {
        self.octets = octets
        self.elements = elements
        self.notes = notes
        self.extensions = extensions
    }

    init(_ document: PIDFDocument) {
        let written = document.encode()
        octets = written.count
        elements = Self.startTags(in: written)
        notes = document.notes.count
        extensions = document.extensions.count
        for tuple in document.tuples {
            notes += tuple.notes.count
            extensions += tuple.extensions.count + tuple.statusExtensions.count
        }
        for person in document.persons {
            notes += person.notes.count
            extensions += person.extensions.count
        }
        for device in document.devices {
            notes += device.notes.count
            extensions += device.extensions.count
        }
    }

    /// Counts start tags: encoded text has no `<`, but one in a comment or CDATA section of an unknown element counts too.
    private static func startTags(in written: [UInt8]) -> Int {
        var count = 0
        var isTag = false
        for byte in written {
            if isTag, byte != UInt8(ascii: "/"), byte != UInt8(ascii: "!"), byte != UInt8(ascii: "?") { count += 1 }
            isTag = byte == UInt8(ascii: "<")
        }
        return count
    }

    static func + (left: PublicationSize, right: PublicationSize) -> PublicationSize {
        PublicationSize(
            octets: left.octets + right.octets, elements: left.elements + right.elements, notes: left.notes + right.notes,
            extensions: left.extensions + right.extensions)
    }

    static func - (left: PublicationSize, right: PublicationSize) -> PublicationSize {
        PublicationSize(
            octets: left.octets - right.octets, elements: left.elements - right.elements, notes: left.notes - right.notes,
            extensions: left.extensions - right.extensions)
    }

    /// Returns the first value that exceeds its limit and grew since `before`, with its name and limit; nil when there is none.
    func excess(over limit: PublicationSize, from before: PublicationSize) -> (name: String, value: Int, limit: Int)? {
        let numbers: [(String, KeyPath<PublicationSize, Int>)] = [
            ("octets", \.octets), ("elements", \.elements), ("notes", \.notes), ("extensions", \.extensions),
        ]
        for (name, path) in numbers where self[keyPath: path] > limit[keyPath: path] && self[keyPath: path] > before[keyPath: path] {
            return (name, self[keyPath: path], limit[keyPath: path])
        }
        return nil
    }
}

/// Limits for all publications of one presentity together.
public struct CompositionLimits: Hashable, Sendable {
    /// Largest number of publications.
    public var publications: Int
    /// Largest sum of the sizes.
    public var size: PublicationSize

    /// Creates limits; by default 200 publications, 262,144 octets, 5,000 elements, 1,000 notes and 1,000 extensions.
    public init(
        publications: Int = 200, size: PublicationSize = PublicationSize(octets: 262_144, elements: 5_000, notes: 1_000, extensions: 1_000)
    ) {
        self.publications = publications
        self.size = size
    }
}
