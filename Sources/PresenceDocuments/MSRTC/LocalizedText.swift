import XMLCore

/// Text in one language: the `LCIDType` of the category schemas (MS-PRES 7.2, 7.3).
public struct LocalizedText: Hashable, Sendable {
    /// Text as written, with white space.
    public var text: String
    /// Locale identifier, such as 1033; nil if the publisher gave none.
    public var lcid: UInt32?
    /// Time of the publisher's last change of this text, in UTC.
    public var updated: DateTime?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(_ text: String, lcid: UInt32? = nil, updated: DateTime? = nil, attributes: [XMLAttribute] = []) {
        self.text = text
        self.lcid = lcid
        self.updated = updated
        self.attributes = attributes
    }
}

extension LocalizedText {
    init(reading element: XMLElement, rule: StaticString) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        lcid = try attributes.unsigned("LCID")
        updated = try attributes.dateTime("updated")
        self.attributes = attributes.others(besides: ["LCID", "updated"])
        text = element.text
    }

    func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        writer.attribute("LCID", ifPresent: lcid)
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attributes(attributes)
        if !text.isEmpty { writer.text(text) }
        writer.end()
    }
}
