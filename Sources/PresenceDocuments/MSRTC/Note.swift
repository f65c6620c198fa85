// The `note` category: MS-PRES 2.2.2.2.1 and 4.2 show it; no schema is printed.

import XMLCore

/// What a note is about (MS-PRES 4.2); any other token is legal.
public struct NoteType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// What the user typed.
    public static let personal: NoteType = "personal"
    /// The out-of-office message of the mailbox.
    public static let outOfOffice: NoteType = "OOF"

    public var description: String { rawValue }
}

/// One text of a note (MS-PRES 4.2).
public struct NoteBody: Hashable, Sendable {
    public var type: NoteType?
    /// Source of the text; usually empty.
    public var uri: String?
    public var startTime: DateTime?
    public var endTime: DateTime?
    public var text: String
    public var attributes: [XMLAttribute]

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

/// The texts that a user shows (MS-PRES 4.2); no body means that the note was cleared.
public struct NoteDocument: Hashable, Sendable {
    public var bodies: [NoteBody]
    public var attributes: [XMLAttribute]
    public var extensions: ExtensionBlock

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
    public static let rootName = NoteNames.note
    static let rule: StaticString = "MS-PRES 4.2"

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
