import XMLCore

/// How flaws of a document are treated.
public enum ReadingPolicy: Hashable, Sendable {
    /// The first flaw refuses the document: for what users publish, because they can be told.
    case strict
    /// A flawed optional part is passed over and the rest is read: for what peers notify, because a refused NOTIFY leaves its watchers
    /// with the state before.
    case liberal
}

/// A flaw that a liberal reading passed over.
public struct DocumentFlaw: Hashable, Sendable, CustomStringConvertible {
    public enum Treatment: String, Hashable, Sendable {
        /// The attribute or element was left out.
        case dropped
        /// The meaning was plain, and was read.
        case repaired
    }

    /// Why a strict reading refuses the document; positions count what was dropped before as gone.
    public var error: DocumentError
    public var treatment: Treatment

    public var description: String { "\(treatment.rawValue): \(error.message)" }
}

/// Reads documents under one policy and collects their flaws.
///
/// The readers of the formats are strict. A liberal reading takes the part that a refusal names out of the source, or writes it as it
/// was meant, and reads again, until the document is read, the refusal is about the document itself, or ``flawLimit`` is reached.
public struct DocumentReader: Sendable {
    public let policy: ReadingPolicy
    /// Of all documents that were read so far.
    public private(set) var flaws: [DocumentFlaw] = []

    /// Flaws of one document; each costs another parse.
    public static let flawLimit = 32

    public init(_ policy: ReadingPolicy) { self.policy = policy }

    /// Reads one document.
    /// - Throws: What a strict reading refuses, or what is left that cannot be passed over.
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

    public mutating func read<Document: PresenceDocument>(_ source: [UInt8], using parser: XMLParser) throws(DocumentError) -> Document {
        try read(source, using: parser) { root throws(DocumentError) in try Document(root) }
    }

    /// Reads PIDF, the whole form of partial presence too (RFC 5262 3), which some notifiers send under the type of PIDF.
    public mutating func readPIDF(_ source: [UInt8], using parser: XMLParser) throws(DocumentError) -> PIDFDocument {
        try read(source, using: parser)
    }

    // MARK: mending

    /// The document without what was refused; nil: it is the document itself that was.
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

    /// A value as it was meant: a blank for the T of a time (RFC 3339 5.6), and decimals of a priority beyond the third (RFC 3863 4.1.5).
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
    /// The part of the source that was refused.
    public struct Place: Hashable, Sendable {
        /// Of the element, or of one attribute with the white space before it.
        public var range: Range<Int>
        /// Of the value that was refused; nil: something is missing.
        public var value: Range<Int>?
    }

    /// The place of an attribute that was refused, else of the element.
    static func place(of element: XMLElement, attribute: String?) -> Place {
        if let attribute, let range = element.sourceRange(ofAttribute: attribute) { return Place(range: range.whole, value: range.value) }
        var place = Place(range: element.sourceRange)
        guard element.isLeaf else { return place }
        // The text between the tags, where there is nothing else.
        let source = element.sourceBytes
        if let open = source.firstIndex(of: UInt8(ascii: ">")), let close = source.lastIndex(of: UInt8(ascii: "<")), open < close {
            let start = element.sourceRange.lowerBound
            place.value = start + open + 1..<start + close
        }
        return place
    }
}
