import XMLCore

/// Treatment of flaws in a document.
public enum ReadingPolicy: Hashable, Sendable {
    /// Refuse the document at the first flaw: for publications, because the publisher learns of the refusal.
    case strict
    /// Omit a flawed optional part and read the rest: for notifications, because a refused NOTIFY leaves watchers with outdated
    /// state.
    case liberal
}

/// Flaw that a liberal reading accepted.
public struct DocumentFlaw: Hashable, Sendable, CustomStringConvertible {
    /// Treatment of a flawed part.
    public enum Treatment: String, Hashable, Sendable {
        /// The attribute or element was left out.
        case dropped
        /// The intended value was unambiguous and was used.
        case repaired
    }

    /// Refusal by a strict reading; positions refer to the document without the parts dropped before.
    public var error: DocumentError
    /// Treatment of the flawed part.
    public var treatment: Treatment

    public var description: String { "\(treatment.rawValue): \(error.message)" }
}

/// Reader of documents under one policy, which collects their flaws.
///
/// The readers of the formats are strict. A liberal reading removes the refused part from the source, or writes its intended value,
/// and reads again, until the document is read, the refusal is about the document itself, or ``flawLimit`` is reached.
public struct DocumentReader: Sendable {
    /// Policy for all documents of this reader.
    public let policy: ReadingPolicy
    /// Flaws of all documents read so far.
    public private(set) var flaws: [DocumentFlaw] = []

    /// Largest number of flaws of one document; each costs another parse.
    public static let flawLimit = 32

    public init(_ policy: ReadingPolicy) { self.policy = policy }

    /// Reads one document.
    /// - Throws: The refusal of a strict reading; in a liberal one the first that cannot be omitted.
    public mutating func read<Document>(
        _ source: [UInt8], using parser: XMLParser, as make: (XMLElement) throws(DocumentError) -> Document
    ) throws(DocumentError) -> Document {
        var bytes = source
        var found: [DocumentFlaw] = []
        if policy == .liberal, let recoded = XMLDeclaredEncoding.recoded(source) {
            bytes = recoded.bytes
            found.append(.init(error: DocumentError(code: .encoding, message: "XML 1.0 4.3.3: \(recoded.note)"), treatment: .repaired))
        }
        while true {
            let tree: XMLTree
            do throws(XMLError) { tree = try parser.parse(bytes) } catch { throw DocumentError(error) }
            do throws(DocumentError) {
                let document = try make(tree.root)
                flaws += found
                return document
            } catch {
                guard policy == .liberal, found.count < Self.flawLimit, let rest = Self.mended(tree, error) else { throw error }
                bytes = rest.bytes
                found.append(.init(error: error, treatment: rest.treatment))
            }
        }
    }

    /// Reads one document of a format; see ``read(_:using:as:)``.
    public mutating func read<Document: PresenceDocument>(_ source: [UInt8], using parser: XMLParser) throws(DocumentError) -> Document {
        try read(source, using: parser) { root throws(DocumentError) in try Document(root) }
    }

    /// Reads PIDF; a liberal reading accepts the full form of partial presence (RFC 5262 3) too, which some notifiers send under
    /// the type of PIDF.
    public mutating func readPIDF(_ source: [UInt8], using parser: XMLParser) throws(DocumentError) -> PIDFDocument {
        try read(source, using: parser)
    }

    // MARK: repair

    /// Document without the refused part, or with its intended value; nil if the document itself was refused.
    private static func mended(_ tree: XMLTree, _ error: DocumentError) -> (bytes: [UInt8], treatment: DocumentFlaw.Treatment)? {
        if error.code == .wrongDocument, tree.root.is(PartialPIDFDocument.full) {
            return (tree.root.document(as: PIDFName.presence, without: ["version"]), .repaired)
        }
        guard error.code != .notUnderstood, let place = error.place else { return nil }
        let source = tree.source
        guard place.range.upperBound <= source.count, !place.range.isEmpty else { return nil }
        if let value = place.value, let meant = meaning(of: source[value]) {
            return (source[..<value.lowerBound] + meant + source[value.upperBound...], .repaired)
        }
        guard place.range != tree.root.sourceRange else { return nil }
        return (Array(source[..<place.range.lowerBound] + source[place.range.upperBound...]), .dropped)
    }

    /// Intended value: `T` in place of a blank in a time (RFC 3339 5.6), and a priority cut to three decimals (RFC 3863 4.1.5).
    private static func meaning(of value: ArraySlice<UInt8>) -> [UInt8]? {
        let text = String(decoding: value, as: UTF8.self).trimmed
        var bytes = Array(text.utf8)
        guard bytes.count <= 64 else { return nil }
        if bytes.count > 10, bytes[10] == 0x20 {
            bytes[10] = UInt8(ascii: "T")
            return DateTime(String(decoding: bytes, as: UTF8.self)) == nil ? nil : bytes
        }
        guard bytes.count > 5, bytes[1] == UInt8(ascii: "."), bytes.dropFirst(2).allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Array(bytes.prefix(5)).withUnsafeBufferPointer { Decimal.thousandths($0) } == nil ? nil : Array(bytes.prefix(5))
    }
}

extension DocumentError {
    /// Part of the source that was refused.
    public struct Place: Hashable, Sendable {
        /// Range of the element, or of one attribute with the white space before it.
        public var range: Range<Int>
        /// Range of the refused value; nil if something is missing.
        public var value: Range<Int>?
    }

    /// Place of the refused attribute, else of the element.
    static func place(of element: XMLElement, attribute: String?) -> Place {
        if let attribute, let range = element.sourceRange(ofAttribute: attribute) { return Place(range: range.whole, value: range.value) }
        var place = Place(range: element.sourceRange)
        guard element.isLeaf else { return place }
        // Text between the tags, if the element has no children.
        let source = element.sourceBytes
        if let open = source.firstIndex(of: UInt8(ascii: ">")), let close = source.lastIndex(of: UInt8(ascii: "<")), open < close {
            let start = element.sourceRange.lowerBound
            place.value = start + open + 1..<start + close
        }
        return place
    }
}
