import PresenceDocuments
import XMLCore

/// Simple type of a text or attribute value (XML Schema Part 2).
enum SchemaValue: Hashable, Sendable {
    case string
    case boolean
    case dateTime
    /// `xs:ID`: a name, unique in the document.
    case identifier
    case anyURI
    case nonNegativeInteger
    case oneOf([String])

    /// Sentence about a value that is not of the type; nil when it is.
    func flaw(in value: String) -> String? {
        switch self {
        case .string, .anyURI: return nil
        case .boolean: return ["true", "false", "1", "0"].contains(value) ? nil : "is no boolean"
        case .dateTime: return DateTime(value) == nil ? "is no dateTime" : nil
        case .identifier: return XMLNameSyntax.isNCName(Array(value.utf8)[...]) ? nil : "is no ID: a name without colon"
        case .nonNegativeInteger:
            return !value.isEmpty && value.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 } ? nil : "is no nonNegativeInteger"
        case .oneOf(let values): return values.contains(value) ? nil : "is none of \(values.joined(separator: ", "))"
        }
    }
}

/// Attribute without namespace.
struct SchemaAttribute: Sendable {
    var name: String
    var type: SchemaValue
    var isRequired: Bool

    static func required(_ name: String, _ type: SchemaValue = .string) -> SchemaAttribute {
        SchemaAttribute(name: name, type: type, isRequired: true)
    }

    static func optional(_ name: String, _ type: SchemaValue = .string) -> SchemaAttribute {
        SchemaAttribute(name: name, type: type, isRequired: false)
    }
}

/// Content model. Every model here is deterministic: the next child alone decides how it continues.
indirect enum SchemaParticle: Sendable {
    case element(XMLName)
    /// Element of any namespace but this one (`##other`), validated where its declaration is known (lax).
    case other(XMLNamespace)
    case sequence([SchemaParticle])
    case choice([SchemaParticle])
    case repeated(SchemaParticle, ClosedRange<Int>)

    static func optional(_ particle: SchemaParticle) -> SchemaParticle { .repeated(particle, 0...1) }
    static func any(_ particle: SchemaParticle) -> SchemaParticle { .repeated(particle, 0...Int.max) }
    static func some(_ particle: SchemaParticle) -> SchemaParticle { .repeated(particle, 1...Int.max) }
}

/// Declaration of an element.
struct SchemaElement: Sendable {
    enum Content: Sendable {
        case empty
        case text(SchemaValue)
        case children(SchemaParticle)
    }

    var content: Content
    var attributes: [SchemaAttribute] = []
    /// Whether attributes of other namespaces are allowed.
    var allowsOtherAttributes = false
    /// Whether `xml:lang` is allowed.
    var allowsLanguage = false

    static func text(_ type: SchemaValue) -> SchemaElement { SchemaElement(content: .text(type)) }
    static let empty = SchemaElement(content: .empty)
}

/// Schema of the documents of an application usage, with the schemas that extend it.
struct DocumentSchema: Sendable {
    /// Sections of the standards that define it, for phrases.
    var rule: String
    /// Document element.
    var root: XMLName
    /// Declarations, also of elements below others: in these schemas a name has one type wherever it is.
    var elements: [XMLName: SchemaElement]
    /// Elements of extending schemas, which a wildcard takes.
    var extensions: [XMLName: SchemaElement] = [:]
    /// Namespaces that are known entirely, so that a wildcard takes none of their elements without declaration.
    var closedNamespaces: [String] = []
}
