// MS-PRES 2.2.2.3, 6.6 and 6.7: data of a user for the user's own endpoints.

import XMLCore

/// Part of the user's own data (MS-PRES 2.2.2.3.1).
public struct RoamingScope: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// Categories that the user published.
    public static let categories: RoamingScope = "categories"
    /// Containers with their members.
    public static let containers: RoamingScope = "containers"
    /// Subscribers to the user's presence.
    public static let subscribers: RoamingScope = "subscribers"
    /// Delegates; requested by `roamingEx`, of another namespace.
    public static let delegates: RoamingScope = "delegates"

    public var description: String { rawValue }
}

/// Self subscription request: the parts that the endpoint requests (MS-PRES 2.2.2.3.1, 6.6).
public struct RoamingListDocument: Hashable, Sendable {
    /// Parts in document order, each once; at least one when parsed.
    public var scopes: [RoamingScope]
    /// Elements other than scopes, `presenceSeparator` included, and attributes.
    public var foreign: ForeignContent

    public init(scopes: [RoamingScope], foreign: ForeignContent = ForeignContent()) {
        self.scopes = scopes
        self.foreign = foreign
    }
}

/// Data of the user: answer to publish and self subscriptions, body of self notifications (MS-PRES 2.2.2.3.2, 6.7).
public struct RoamingDataDocument: Hashable, Sendable {
    /// Categories; nil if the document has none.
    public var categories: CategoriesDocument?
    /// Containers; nil if the document has none.
    public var containers: ContainersDocument?
    /// Subscribers; nil if the document has none.
    public var subscribers: SubscribersDocument?
    /// Delegates; nil if the document has none.
    public var delegates: DelegatesDocument?
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    /// Creates a document; by default without parts.
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
    /// Root element `roamingList` of ``XMLCore/XMLNamespace/msRoamingSelf``.
    public static let rootName = RoamingNames.roamingList
    /// Same media type as that of ``RoamingDataDocument``.
    public static let mediaType = RoamingDataDocument.mediaType
    static let rule: StaticString = "MS-PRES 6.6"

    /// Reads the `roamingList` element; requires at least one scope, repeated ones count once.
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
    /// Root element `roamingData` of ``XMLCore/XMLNamespace/msRoamingSelf``.
    public static let rootName = RoamingNames.roamingData
    /// Media type `application/vnd-microsoft-roaming-self+xml`.
    public static let mediaType = DocumentMediaType("application/vnd-microsoft-roaming-self+xml")
    static let rule: StaticString = "MS-PRES 6.7"

    /// Reads the document with category bodies kept byte for byte.
    public init(reading element: XMLElement) throws(DocumentError) {
        try self.init(reading: element, bodies: .raw)
    }

    /// Reads the document, with category bodies as specified.
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
    /// Reads a roamingData document, or a categories or containers document alone, for tools.
    /// - Parameter bodies: Treatment of category bodies.
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
    /// Writes the `roamingList` element with its namespace declared.
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
    /// Writes the `roamingData` element with its namespace declared.
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
