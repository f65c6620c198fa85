// The `note` category: MS-PRES 2.2.2.2.1 and 4.2 show it; no schema is printed.

import XMLCore

/// Kind of note (MS-PRES 4.2); other tokens are allowed.
public struct NoteType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// Text of the user.
    public static let personal: NoteType = "personal"
    /// Out-of-office message of the mailbox.
    public static let outOfOffice: NoteType = "OOF"

    public var description: String { rawValue }
}

/// Text of a note (MS-PRES 4.2).
public struct NoteBody: Hashable, Sendable {
    /// Kind of note; nil when absent.
    public var type: NoteType?
    /// Source of the text; usually empty.
    public var uri: String?
    /// Start of validity; nil when absent.
    public var startTime: DateTime?
    /// End of validity; nil when absent.
    public var endTime: DateTime?
    /// Text as written, with white space.
    public var text: String
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    /// Creates a text; by default of the kind `personal`, valid at any time.
    public init(
        _ text: String, type: NoteType? = .personal, uri: String? = nil, startTime: DateTime? = nil, endTime: DateTime? = nil,
        attributes: [XMLAttribute] = []
    ) {
        self.text = text
        self.type = type
        self.uri = uri
        self.startTime = startTime
        self.endTime = endTime
        self.attributes = attributes
    }

    /// Whether the text is to be shown at that moment: `startTime` included, `endTime` excluded.
    public func isShown(at moment: DateTime) -> Bool {
        if let startTime, moment < startTime { return false }
        if let endTime, moment >= endTime { return false }
        return true
    }
}

/// Notes of a user (MS-PRES 4.2); no body means that the note was cleared.
public struct NoteDocument: Hashable, Sendable {
    /// Texts in document order.
    public var bodies: [NoteBody]
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    /// Creates a note; by default a cleared one.
    public init(bodies: [NoteBody] = [], attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()) {
        self.bodies = bodies
        self.attributes = attributes
        self.extensions = extensions
    }
}

// MARK: elements

private enum NoteNames {
    static let note = XMLName("note", in: .msNote)
    static let body = XMLName("body", in: .msNote)
}

// MARK: decode

extension NoteDocument: MSRTCDocument {
    /// Root element `note` of ``XMLCore/XMLNamespace/msNote``.
    public static let rootName = NoteNames.note
    static let rule: StaticString = "MS-PRES 4.2"

    /// Reads the `note` element; throws ``DocumentError`` for another root or a value that the schema does not allow.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(attributes: AttributeReader(element, rule: Self.rule).others(besides: []))
        var extensions = ExtensionReader()
        for child in element.children {
            if child.is(NoteNames.body) {
                bodies.append(try NoteBody(reading: child))
            } else {
                extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension NoteBody {
    init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: NoteDocument.rule)
        self.init(element.text, type: attributes.token("type"), uri: attributes.string("uri"))
        startTime = try attributes.dateTime("startTime")
        endTime = try attributes.dateTime("endTime")
        self.attributes = attributes.others(besides: ["type", "uri", "startTime", "endTime"])
    }
}

// MARK: encode

extension NoteDocument {
    /// Writes the `note` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("note")
        writer.namespace("", .msNote)
        writer.attributes(attributes)
        for body in bodies {
            writer.start("body")
            writer.attribute("type", ifPresent: body.type)
            writer.attribute("uri", ifPresent: body.uri)
            writer.attribute("startTime", ifPresent: body.startTime?.text)
            writer.attribute("endTime", ifPresent: body.endTime?.text)
            writer.attributes(body.attributes)
            if !body.text.isEmpty { writer.text(body.text) }
            writer.end()
        }
        writer.generations(extensions)
        writer.end()
    }
}
