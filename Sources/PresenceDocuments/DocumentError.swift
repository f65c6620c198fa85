import XMLCore

/// Refusal of a presence document; its author is at fault.
///
/// The message names the element, the value and the rule: `RFC 3863 4.1.1: presence without entity`.
public struct DocumentError: Error, Hashable, Sendable, CustomStringConvertible {
    /// Kind of refusal, compared by its name.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        /// Lower-case words joined by hyphens, such as `invalid-value`.
        public let name: String
        /// Creates a kind with that name; the kinds used here are the constants below.
        public init(_ name: String) { self.name = name }
        public var description: String { name }

        /// XML that the parser refuses; see ``XMLCore/XMLError``.
        public static let notWellFormed = Code("not-well-formed")
        /// Larger than a limit allows.
        public static let limit = Code("limit")
        /// Root element or namespace of another format.
        public static let wrongDocument = Code("wrong-document")
        /// A required element or attribute is missing.
        public static let missing = Code("missing")
        /// A value that the standard does not allow.
        public static let invalidValue = Code("invalid-value")
        /// An extension that must be understood is unknown.
        public static let notUnderstood = Code("not-understood")
        /// An encoding that a strict reading does not accept.
        public static let encoding = Code("encoding")
    }

    /// Kind of refusal.
    public var code: Code
    /// English sentence with the rule, the element and the value.
    public var message: String
    /// Position in the document; nil if there is no document.
    public var position: XMLPosition?
    /// Part that a liberal reading can omit; nil if the document itself is refused.
    public var place: Place?

    public init(code: Code, message: String, position: XMLPosition? = nil, place: Place? = nil) {
        self.code = code
        self.message = message
        self.position = position
        self.place = place
    }

    /// Converts a refusal of the parser; every code but `limit` becomes `not-well-formed`.
    public init(_ error: XMLError) {
        self.init(code: error.code == .limit ? .limit : .notWellFormed, message: error.message, position: error.position)
    }

    public var description: String { position.map { "\($0): \(message)" } ?? message }

    // MARK: common refusals

    /// Invalid value: `RULE: WHAT in 'ELEMENT' has the invalid value 'VALUE'`, with the value cut to 60 characters.
    public static func invalid(_ what: String, _ value: String, in element: XMLElement, rule: String) -> DocumentError {
        let shown = value.count > 60 ? String(value.prefix(60)) + "…" : value
        let attribute = what.hasPrefix("attribute ") ? String(what.dropFirst("attribute ".count)) : nil
        return DocumentError(
            code: .invalidValue, message: "\(rule): \(what) in '\(element.localName)' has the invalid value '\(shown)'",
            position: element.position, place: place(of: element, attribute: attribute))
    }

    /// Missing part: `RULE: ELEMENT without WHAT`.
    public static func missing(_ what: String, in element: XMLElement, rule: String) -> DocumentError {
        DocumentError(
            code: .missing, message: "\(rule): \(element.localName) without \(what)", position: element.position,
            place: Place(range: element.sourceRange))
    }

    /// Unexpected root element; the message names both elements with their namespaces.
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
