// MS-PRES 2.2.2.7.6 and 7.7: the `legacyInterop` category.

import XMLCore

/// Number and token from which PIDF and MSRTC notifications are made (MS-PRES 2.2.2.7.6).
public struct LegacyInteropDocument: Hashable, Sendable {
    /// Availability number; required by the text of the standard, optional in its schema.
    public var availability: UInt32?
    /// Activity of the state that supplied the number.
    public var token: ActivityToken?
    /// Whether the user is in do-not-disturb; nil when absent.
    public var dndState: Bool?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(
        availability: UInt32?, token: ActivityToken? = nil, dndState: Bool? = nil, attributes: [XMLAttribute] = []
    ) {
        self.availability = availability
        self.token = token
        self.dndState = dndState
        self.attributes = attributes
    }
}

// MARK: decode

extension LegacyInteropDocument: MSRTCDocument {
    /// Root element `legacyInterop`, in the namespace of the categories document, which bodies inherit from their parent (MS-PRES
    /// 7.7).
    public static let rootName = XMLName("legacyInterop", in: .msCategories)
    static let rule: StaticString = "MS-PRES 7.7"

    /// Reads the `legacyInterop` element; throws ``DocumentError`` for another root or a value that the schema does not allow.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(
            availability: try attributes.unsigned("availability"), token: attributes.token("token"),
            dndState: try attributes.boolean("dndState"))
        self.attributes = attributes.others(besides: ["availability", "token", "dndState"])
    }
}

// MARK: encode

extension LegacyInteropDocument {
    /// Writes the `legacyInterop` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("legacyInterop")
        writer.namespace("", .msCategories)
        writer.attribute("availability", ifPresent: availability)
        writer.attribute("token", ifPresent: token)
        writer.attribute("dndState", ifPresent: dndState)
        writer.attributes(attributes)
        writer.end()
    }
}
