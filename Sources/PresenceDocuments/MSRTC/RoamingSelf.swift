// MS-PRES 2.2.2.3, 6.6 and 6.7: what a user's own endpoint asks for and gets.

import XMLCore

/// A part of the user's own data (MS-PRES 2.2.2.3.1).
public struct RoamingScope: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let categories: RoamingScope = "categories"
    public static let containers: RoamingScope = "containers"
    public static let subscribers: RoamingScope = "subscribers"
    /// Asked for by `roamingEx`, of another namespace.
    public static let delegates: RoamingScope = "delegates"

    public var description: String { rawValue }
}

/// The self subscription request: which parts the endpoint wants (MS-PRES 2.2.2.3.1, 6.6).
public struct RoamingListDocument: Hashable, Sendable {
    public var scopes: [RoamingScope]
    /// What follows the scopes, `presenceSeparator` included.
    public var foreign: ForeignContent

    public init(scopes: [RoamingScope], foreign: ForeignContent = ForeignContent()) {
        self.scopes = scopes
        self.foreign = foreign
    }
}

/// The user's own data: answer to publish and self subscriptions, body of self notifications (MS-PRES 2.2.2.3.2, 6.7).
public struct RoamingDataDocument: Hashable, Sendable {
    public var categories: CategoriesDocument?
    public var containers: ContainersDocument?
    public var subscribers: SubscribersDocument?
    public var delegates: DelegatesDocument?
    public var foreign: ForeignContent

    public init(
        categories: CategoriesDocument? = nil, containers: ContainersDocument? = nil, subscribers: SubscribersDocument? = nil,
        delegates: DelegatesDocument? = nil, foreign: ForeignContent = ForeignContent()
    ) {
        self.categories = categories
        self.containers = containers
        self.subscribers = subscribers
        self.delegates = delegates
        self.foreign = foreign
    }
}

// MARK: elements

private enum RoamingNames {
    static let roamingList = XMLName("roamingList", in: .msRoamingSelf)
    static let roaming = XMLName("roaming", in: .msRoamingSelf)
    static let roamingEx = XMLName("roamingEx", in: .msRoamingSelfEx)
    static let roamingData = XMLName("roamingData", in: .msRoamingSelf)
}

// MARK: decode

extension RoamingListDocument: MSRTCDocument {
    public static let rootName = RoamingNames.roamingList
    public static let mediaType = RoamingDataDocument.mediaType
    static let rule: StaticString = "MS-PRES 6.6"

    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(scopes: [])
        foreign.attributes = AttributeReader(element, rule: Self.rule).others(besides: [])
        for child in element.children {
            guard child.is(RoamingNames.roaming) || child.is(RoamingNames.roamingEx) else {
                foreign.elements.append(child.fragment())
                continue
            }
            var attributes = AttributeReader(child, rule: Self.rule)
            let scope: RoamingScope = try attributes.requiredToken("type")
            guard child.is(RoamingNames.roamingEx) || scope == .categories || scope == .containers || scope == .subscribers else {
                throw child.invalid("type", value: scope.rawValue, expected: "categories, containers or subscribers", rule: Self.rule)
            }
            if !scopes.contains(scope) { scopes.append(scope) }
        }
        guard !scopes.isEmpty else { throw element.missing(element: "roaming", rule: Self.rule) }
    }
}

extension RoamingDataDocument: MSRTCDocument {
    public static let rootName = RoamingNames.roamingData
    public static let mediaType = DocumentMediaType("application/vnd-microsoft-roaming-self+xml")
    static let rule: StaticString = "MS-PRES 6.7"

    public init(reading element: XMLElement) throws(DocumentError) {
        try self.init(reading: element, bodies: .raw)
    }

    /// Reads the document from its root element, the bodies of its categories as wanted.
    public init(reading element: XMLElement, bodies: CategoryBodyReading) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init()
        foreign.attributes = AttributeReader(element, rule: Self.rule).others(besides: [])
        for child in element.children {
            switch child {
            case CategoriesDocument.rootName: categories = try CategoriesDocument(reading: child, bodies: bodies)
            case ContainersDocument.rootName: containers = try ContainersDocument(reading: child)
            case SubscribersDocument.rootName: subscribers = try SubscribersDocument(reading: child)
            case DelegatesDocument.rootName: delegates = try DelegatesDocument(reading: child)
            default: foreign.elements.append(child.fragment())
            }
        }
    }
}

extension RoamingDataDocument {
    /// Reads a roamingData document, or its categories or its containers where they stand alone, for tools.
    /// - Parameter bodies: How the bodies of categories are read.
    public init(parsingPart bytes: [UInt8], bodies: CategoryBodyReading = .raw) throws(DocumentError) {
        let root: XMLElement
        do { root = try XMLTree.parse(bytes).root } catch { throw DocumentError(error) }
        switch root {
        case Self.rootName:
            try self.init(reading: root, bodies: bodies)
        case CategoriesDocument.rootName:
            self.init(categories: try CategoriesDocument(reading: root, bodies: bodies))
        case ContainersDocument.rootName:
            self.init(containers: try ContainersDocument(reading: root))
        default:
            throw DocumentError(
                code: .wrongDocument,
                message:
                    "\(Self.rule): the root element is \(root.localName.prefix(60)), expected roamingData, categories or containers of MS-PRES",
                position: root.position)
        }
    }
}

// MARK: encode

extension RoamingListDocument {
    public func write(to writer: inout XMLWriter) {
        writer.start("roamingList")
        writer.namespace("", .msRoamingSelf)
        writer.attributes(foreign.attributes)
        for scope in scopes {
            let isBase = scope == .categories || scope == .containers || scope == .subscribers
            writer.start(isBase ? "roaming" : "roamingEx")
            if !isBase { writer.namespace("", .msRoamingSelfEx) }
            writer.attribute("type", scope.rawValue)
            writer.end()
        }
        writer.fragments(foreign.elements)
        writer.end()
    }
}

extension RoamingDataDocument {
    public func write(to writer: inout XMLWriter) {
        writer.start("roamingData")
        writer.namespace("", .msRoamingSelf)
        writer.attributes(foreign.attributes)
        categories?.write(to: &writer)
        containers?.write(to: &writer)
        subscribers?.write(to: &writer)
        delegates?.write(to: &writer)
        writer.fragments(foreign.elements)
        writer.end()
    }
}
