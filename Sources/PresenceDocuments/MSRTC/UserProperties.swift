// MS-PRES 2.2.2.7.4 and 7.6: the `userProperties` category.

import XMLCore

/// Properties that the server sends to the user, mostly from a directory (MS-PRES 2.2.2.7.4).
public struct UserPropertiesDocument: Hashable, Sendable {
    /// Telephone line.
    public struct Line: Hashable, Sendable {
        /// Line as a `tel:` URI.
        public var uri: String
        /// Kind of line: `Uc`, `UcPrivate`, `Rcc` or `Dual`; other tokens are allowed.
        public var type: String
        /// SIP URI of the line server; nil when absent.
        public var server: String?

        public init(_ uri: String, type: String, server: String? = nil) {
            self.uri = uri
            self.type = type
            self.server = server
        }
    }

    /// Telephone lines in document order.
    public var lines: [Line]
    /// Mode: `None`, `Uc`, `Rcc`, `Dual` or `NoAudioVideo`; other tokens are allowed.
    public var telephonyMode: String?
    /// Fax number; nil when absent.
    public var facsimileTelephoneNumber: String?
    /// Street address; nil when absent.
    public var streetAddress: String?
    /// City, the element `l`; nil when absent.
    public var city: String?
    /// State or province, the element `st`; nil when absent.
    public var state: String?
    /// Country code of two letters (ISO 3166); nil when absent.
    public var countryCode: String?
    /// Postal code; nil when absent.
    public var postalCode: String?
    /// URL of the home page, the element `wWWHomePage`; nil when absent.
    public var webPage: String?
    /// Elements without a field here, such as voice mail and conference data; kept and written again.
    public var others: [XMLFragment]

    public init(
        lines: [Line] = [], telephonyMode: String? = nil, facsimileTelephoneNumber: String? = nil, streetAddress: String? = nil,
        city: String? = nil, state: String? = nil, countryCode: String? = nil, postalCode: String? = nil, webPage: String? = nil,
        others: [XMLFragment] = []
    ) {
        self.lines = lines
        self.telephonyMode = telephonyMode
        self.facsimileTelephoneNumber = facsimileTelephoneNumber
        self.streetAddress = streetAddress
        self.city = city
        self.state = state
        self.countryCode = countryCode
        self.postalCode = postalCode
        self.webPage = webPage
        self.others = others
    }

    /// Elements with one text, in the order of the schema.
    private static var texts: [(name: XMLName, path: WritableKeyPath<UserPropertiesDocument, String?>)] {
        [
            (XMLName("telephonyMode", in: .msCategories), \.telephonyMode),
            (XMLName("facsimileTelephoneNumber", in: .msCategories), \.facsimileTelephoneNumber),
            (XMLName("streetAddress", in: .msCategories), \.streetAddress), (XMLName("l", in: .msCategories), \.city),
            (XMLName("st", in: .msCategories), \.state), (XMLName("countryCode", in: .msCategories), \.countryCode),
            (XMLName("postalCode", in: .msCategories), \.postalCode), (XMLName("wWWHomePage", in: .msCategories), \.webPage),
        ]
    }
}

// MARK: elements

private enum PropertiesNames {
    static let lines = XMLName("lines", in: .msCategories)
    static let line = XMLName("line", in: .msCategories)
}

// MARK: decode

extension UserPropertiesDocument: MSRTCDocument {
    /// Root element `userProperties`, in the namespace of the categories document, which bodies inherit from their parent (MS-PRES
    /// 7.6).
    public static let rootName = XMLName("userProperties", in: .msCategories)
    static let rule: StaticString = "MS-PRES 7.6"

    /// Reads the `userProperties` element; requires `lineType` of each line.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init()
        for child in element.children {
            if child.is(PropertiesNames.lines) {
                for line in child.all(PropertiesNames.line) {
                    var attributes = AttributeReader(line, rule: Self.rule)
                    // Line breaks surround values in practice (MS-PRES 2.2.2.7.4).
                    lines.append(
                        Line(
                            line.trimmedText, type: try attributes.requiredString("lineType"), server: attributes.string("lineServer")))
                }
            } else if let (_, path) = Self.texts.first(where: { child.is($0.name) }) {
                self[keyPath: path] = child.trimmedText
            } else {
                others.append(child.fragment())
            }
        }
    }
}

// MARK: encode

extension UserPropertiesDocument {
    /// Writes the `userProperties` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("userProperties")
        writer.namespace("", .msCategories)
        if !lines.isEmpty {
            writer.start("lines")
            for line in lines {
                writer.start("line")
                writer.attribute("lineType", line.type)
                writer.attribute("lineServer", ifPresent: line.server)
                writer.text(line.uri)
                writer.end()
            }
            writer.end()
        }
        for (name, path) in Self.texts { writer.element(name.localName, ifPresent: self[keyPath: path]) }
        writer.fragments(others)
        writer.end()
    }
}
