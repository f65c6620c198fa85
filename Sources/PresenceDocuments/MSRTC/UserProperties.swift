// MS-PRES 2.2.2.7.4 and 7.6: the `userProperties` category.

import XMLCore

/// What the server tells a user about himself, most of it from a directory (MS-PRES 2.2.2.7.4).
public struct UserPropertiesDocument: Hashable, Sendable {
    /// A telephone line.
    public struct Line: Hashable, Sendable {
        /// A `tel:` URI.
        public var uri: String
        /// `Uc`, `UcPrivate`, `Rcc` or `Dual`; any other token is legal.
        public var type: String
        /// The SIP URI of the line server.
        public var server: String?

        public init(_ uri: String, type: String, server: String? = nil) {
            self.uri = uri
            self.type = type
            self.server = server
        }
    }

    public var lines: [Line]
    /// `None`, `Uc`, `Rcc`, `Dual` or `NoAudioVideo`; any other token is legal.
    public var telephonyMode: String?
    public var facsimileTelephoneNumber: String?
    public var streetAddress: String?
    /// The element `l`.
    public var city: String?
    /// The element `st`.
    public var state: String?
    /// Two letters (ISO 3166).
    public var countryCode: String?
    public var postalCode: String?
    /// The element `wWWHomePage`.
    public var webPage: String?
    /// Elements of the category that this gateway has no name for, voice mail and conference data among them.
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

    /// The elements with one text, in the order of the schema.
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
    /// In the namespace of the categories document, which bodies inherit from their parent (MS-PRES 7.6).
    public static let rootName = XMLName("userProperties", in: .msCategories)
    static let rule: StaticString = "MS-PRES 7.6"

    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init()
        for child in element.children {
            if child.is(PropertiesNames.lines) {
                for line in child.all(PropertiesNames.line) {
                    var attributes = AttributeReader(line, rule: Self.rule)
                    // Values stand between line breaks in practice (MS-PRES 2.2.2.7.4).
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
