import XMLCore

/// Why a presence document was refused; always the fault of whoever wrote it.
///
/// The message names the element, the value and the rule: `RFC 3863 4.1.1: presence without entity`.
public struct DocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let name: String
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// Not XML that we read; see ``XMLCore/XMLError``.
        public static let notWellFormed = Code("not-well-formed")
        /// Larger than a limit allows.
        public static let limit = Code("limit")
        /// Another root element or namespace than the format's.
        public static let wrongDocument = Code("wrong-document")
        /// A required element or attribute is missing.
        public static let missing = Code("missing")
        /// A value is not one that the standard allows.
        public static let invalidValue = Code("invalid-value")
        /// An extension that must be understood is not.
        public static let notUnderstood = Code("not-understood")
        /// Not in an encoding that a strict reading takes.
        public static let encoding = Code("encoding")
    }

    public var code: Code
    public var message: String
    /// Nil only when there is no document to point into.
    public var position: XMLPosition?
    /// What a liberal reading leaves out; nil: nothing less than the document.
    public var place: Place?

    public init(code: Code, message: String, position: XMLPosition? = nil, place: Place? = nil) {
        self.code = code
        self.message = message
        self.position = position
        self.place = place
    }

    public init(_ error: XMLError) {
        self.init(code: error.code == .limit ? .limit : .notWellFormed, message: error.message, position: error.position)
    }

    public var description: String { position.map { "\($0): \(message)" } ?? message }

    // MARK: the usual refusals

    /// `RULE: ELEMENT 'VALUE' is not WHAT`
    public static func invalid(_ what: String, _ value: String, in element: XMLElement, rule: String) -> DocumentError {
        let shown = value.count > 60 ? String(value.prefix(60)) + "…" : value
        let attribute = what.hasPrefix("attribute ") ? String(what.dropFirst("attribute ".count)) : nil
        return DocumentError(
            code: .invalidValue, message: "\(rule): \(what) in '\(element.localName)' has the invalid value '\(shown)'",
            position: element.position, place: place(of: element, attribute: attribute))
    }

    /// `RULE: ELEMENT without WHAT`
    public static func missing(_ what: String, in element: XMLElement, rule: String) -> DocumentError {
        DocumentError(
            code: .missing, message: "\(rule): \(element.localName) without \(what)", position: element.position,
            place: Place(range: element.sourceRange))
    }

    /// The root is not the expected one; tells apart a wrong name and a wrong namespace.
    public static func wrongRoot(_ element: XMLElement, expected: XMLName, rule: String) -> DocumentError {
        let namespace = element.namespace
        let found = element.localName.prefix(60) + (namespace.isEmpty ? " without namespace" : " in namespace \(namespace.prefix(120))")
        let wanted =
            expected.localName + (expected.namespace.uri.isEmpty ? " without namespace" : " in namespace \(expected.namespace.uri)")
        return DocumentError(
            code: .wrongDocument, message: "\(rule): the root element is \(found), expected \(wanted)", position: element.position,
            place: Place(range: element.sourceRange))
    }
}
