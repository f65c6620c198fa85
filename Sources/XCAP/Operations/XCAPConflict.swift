import XMLCore

/// Reason of a 409 response (RFC 4825 11.1), with a phrase that names element, position and rule.
public enum XCAPConflict: Error, Hashable, Sendable, CustomStringConvertible {
    /// Field with a value that is not unique.
    public struct Existing: Hashable, Sendable {
        /// Path of the element or attribute, relative to the document: `resource-lists/list[2]/@name`.
        package var field: String
        /// Values that are free.
        package var alternatives: [String]

        /// Creates a field; by default without alternatives.
        public init(field: String, alternatives: [String] = []) {
            self.field = field
            self.alternatives = alternatives
        }
    }

    /// The document is not well-formed.
    case notWellFormed(String)
    /// The content is not exactly one element.
    case notXMLFragment(String)
    /// The directory, document or element to insert into does not exist; with the URI of the closest ancestor that does.
    case noParent(ancestor: String, phrase: String)
    /// The resulting document breaks its schema.
    case schemaValidation(String)
    /// The content is not an attribute value.
    case notXMLAttributeValue(String)
    /// A GET after the PUT would not give what was put.
    case cannotInsert(String)
    /// After the DELETE the URI would select another node.
    case cannotDelete(String)
    /// Values of the resulting document are not unique.
    case uniqueness([Existing], phrase: String)
    /// The resulting document breaks another rule of the application usage.
    case constraint(String)
    /// A reason of this server, as elements of its own namespace.
    case `extension`([XMLFragment], phrase: String)
    /// The resulting document would not be UTF-8.
    case notUTF8(String)

    /// Name of the element and phrase, for logs.
    public var description: String { "\(name): \(phrase)" }

    /// Name of the element in the error document.
    public var name: String {
        switch self {
        case .notWellFormed: "not-well-formed"
        case .notXMLFragment: "not-xml-frag"
        case .noParent: "no-parent"
        case .schemaValidation: "schema-validation-error"
        case .notXMLAttributeValue: "not-xml-att-value"
        case .cannotInsert: "cannot-insert"
        case .cannotDelete: "cannot-delete"
        case .uniqueness: "uniqueness-failure"
        case .constraint: "constraint-failure"
        case .extension: "extension"
        case .notUTF8: "not-utf-8"
        }
    }

    /// English sentence with element, position and rule.
    package var phrase: String {
        switch self {
        case .notWellFormed(let phrase), .notXMLFragment(let phrase), .noParent(_, let phrase), .schemaValidation(let phrase),
            .notXMLAttributeValue(let phrase), .cannotInsert(let phrase), .cannotDelete(let phrase), .uniqueness(_, let phrase),
            .constraint(let phrase), .extension(_, let phrase), .notUTF8(let phrase):
            phrase
        }
    }

    /// Encodes the error document, media type `application/xcap-error+xml`.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true, capacity: 512)
        writer.start("xcap-error")
        writer.namespace("", "urn:ietf:params:xml:ns:xcap-error")
        writer.start(name)
        if case .extension(let fragments, _) = self {
            for fragment in fragments { writer.fragment(fragment) }
            return writer.finish()
        }
        writer.attribute("phrase", String(phrase.prefix(500)))
        switch self {
        case .noParent(let ancestor, _):
            writer.element("ancestor", ancestor)
        case .uniqueness(let fields, _):
            for existing in fields {
                writer.start("exists")
                writer.attribute("field", existing.field)
                for value in existing.alternatives { writer.element("alt-value", value) }
                writer.end()
            }
        default: break
        }
        return writer.finish()
    }
}
