// MS-PRES 2.2.2.1 and 6.2: the categories document, in which published data reach watchers and the user's own endpoints.

import XMLCore

/// Body of a category: a document if the category is known here, else the element byte for byte.
public indirect enum CategoryBody: Hashable, Sendable {
    case state(StateDocument)
    case note(NoteDocument)
    case contactCard(ContactCardDocument)
    case services(ServicesDocument)
    case device(DeviceDocument)
    case calendarData(CalendarDataDocument)
    case legacyInterop(LegacyInteropDocument)
    /// Body of another category, or one that was not to be read.
    case raw(XMLFragment)
}

/// Element `category` of a categories document: an instance, or the marker that there is none (MS-PRES 2.2.2.1).
///
/// Watchers get name, instance and publishTime only; the user's own endpoints get all attributes (MS-PRES 2.2.2.1, 3.2.5.3).
public struct CategoryElement: Hashable, Sendable {
    /// Category of the instance.
    public var name: CategoryName
    /// Number of the instance; absent in empty markers, which readers take as 0.
    public var instance: UInt32?
    /// Time of the commit by the server; written in UTC with three fraction digits and no zone letter.
    public var publishTime: DateTime?
    /// Container of the instance; nil when absent.
    public var container: ContainerID?
    /// Version of the instance; nil when absent.
    public var version: UInt32?
    /// Rule that ends the life of the instance; nil when absent.
    public var expireType: ExpireType?
    /// Endpoint that published the instance; nil when absent.
    public var endpointID: String?
    /// Seconds of life left, for instances with expireType `time`.
    public var expires: Int64?
    /// Body; nil for an instance with an empty body, and for markers.
    public var body: CategoryBody?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements after the first, which the standard does not define.
    public var additionalContent: [XMLFragment]

    /// Creates an element; omitted attributes are absent.
    public init(
        name: CategoryName, instance: UInt32? = nil, publishTime: DateTime? = nil, container: ContainerID? = nil,
        version: UInt32? = nil, expireType: ExpireType? = nil, endpointID: String? = nil, expires: Int64? = nil,
        body: CategoryBody? = nil, attributes: [XMLAttribute] = [], additionalContent: [XMLFragment] = []
    ) {
        self.name = name
        self.instance = instance
        self.publishTime = publishTime
        self.container = container
        self.version = version
        self.expireType = expireType
        self.endpointID = endpointID
        self.expires = expires
        self.body = body
        self.attributes = attributes
        self.additionalContent = additionalContent
    }

    /// Whether the element marks that nothing is published: no instance, publishTime, version and body (MS-PRES 3.2.5.3, 4.2.2).
    public var isEmptyMarker: Bool { instance == nil && publishTime == nil && version == nil && body == nil }
}

/// Category instances of one presentity (MS-PRES 2.2.2.1, 6.2).
public struct CategoriesDocument: Hashable, Sendable {
    /// Presentity URI with its scheme.
    public var uri: String
    /// Category elements in document order.
    public var categories: [CategoryElement]
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Unknown children of the root.
    public var extensions: [XMLFragment]

    public init(
        uri: String, categories: [CategoryElement] = [], attributes: [XMLAttribute] = [], extensions: [XMLFragment] = []
    ) {
        self.uri = uri
        self.categories = categories
        self.attributes = attributes
        self.extensions = extensions
    }
}

/// Treatment of category bodies when a document is read.
public enum CategoryBodyReading: Hashable, Sendable {
    /// Keep every body byte for byte.
    case raw
    /// Read bodies of known categories; a fault in one refuses the document.
    case strict
    /// Read bodies of known categories; keep a faulty one byte for byte (MS-PRES 2.2.2.7).
    case tolerant
    /// Same as strict, but keep a body that is not a document of its category byte for byte: for a liberal ``DocumentReader``,
    /// which omits flaws inside a body.
    case liberal
}

// MARK: elements

private enum CategoriesNames {
    static let categories = XMLName("categories", in: .msCategories)
    static let category = XMLName("category", in: .msCategories)
}

// MARK: decode

extension CategoriesDocument: MSRTCDocument {
    /// Root element `categories` of ``XMLCore/XMLNamespace/msCategories``.
    public static let rootName = CategoriesNames.categories
    /// Media type `application/msrtc-event-categories+xml`.
    public static let mediaType = DocumentMediaType("application/msrtc-event-categories+xml")
    static let rule: StaticString = "MS-PRES 6.2"

    /// Reads the document; a fault in the body of a known category refuses it (``CategoryBodyReading/strict``).
    public init(reading element: XMLElement) throws(DocumentError) {
        try self.init(reading: element, bodies: .strict)
    }

    /// Reads the document, with category bodies as specified.
    public init(reading element: XMLElement, bodies: CategoryBodyReading) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(uri: try attributes.requiredString("uri"))
        self.attributes = attributes.others(besides: ["uri"])
        for child in element.children {
            if child.is(CategoriesNames.category) {
                categories.append(try CategoryElement(reading: child, bodies: bodies))
            } else {
                extensions.append(child.fragment())
            }
        }
    }
}

extension CategoryElement {
    init(reading element: XMLElement, bodies: CategoryBodyReading) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: CategoriesDocument.rule)
        self.init(name: try attributes.requiredToken("name"))
        instance = try attributes.unsigned("instance")
        publishTime = try attributes.dateTime("publishTime")
        container = try attributes.container("container")
        version = try attributes.unsigned("version")
        expireType = attributes.token("expireType")
        endpointID = attributes.string("endpointId")
        expires = try attributes.integer("expires")
        self.attributes = attributes.others(besides: Self.attributeNames)
        for child in element.children {
            if body == nil {
                body = try CategoryBody(reading: child, of: name, bodies: bodies)
            } else {
                additionalContent.append(child.fragment())
            }
        }
    }

    private static let attributeNames: Set<String> = [
        "name", "instance", "publishTime", "container", "version", "expireType", "endpointId", "expires",
    ]
}

extension CategoryBody {
    init(reading element: XMLElement, of category: CategoryName, bodies: CategoryBodyReading) throws(DocumentError) {
        switch bodies {
        case .raw:
            self = .raw(element.fragment())
        case .strict:
            self = try Self.read(element, of: category)
        case .tolerant:
            do throws(DocumentError) {
                self = try Self.read(element, of: category)
            } catch {
                self = .raw(element.fragment())
            }
        case .liberal:
            do throws(DocumentError) {
                self = try Self.read(element, of: category)
            } catch {
                guard error.place?.range == element.sourceRange else { throw error }
                self = .raw(element.fragment())
            }
        }
    }

    private static func read(_ element: XMLElement, of category: CategoryName) throws(DocumentError) -> CategoryBody {
        switch category {
        case .state, .dndState: .state(try StateDocument(reading: element))
        case .note: .note(try NoteDocument(reading: element))
        case .contactCard: .contactCard(try ContactCardDocument(reading: element))
        case .services: .services(try ServicesDocument(reading: element))
        case .device: .device(try DeviceDocument(reading: element))
        case .calendarData, .workingHours: .calendarData(try CalendarDataDocument(reading: element))
        case .legacyInterop: .legacyInterop(try LegacyInteropDocument(reading: element))
        default: .raw(element.fragment())
        }
    }

    /// Reads a raw body of a known category; other bodies are returned unchanged.
    /// - Throws: ``DocumentError`` if the body of a known category is not its document.
    public func read(as category: CategoryName) throws(DocumentError) -> CategoryBody {
        guard case .raw(let fragment) = self else { return self }
        let element: XMLElement
        do { element = try fragment.parsed() } catch { throw DocumentError(error) }
        return try Self.read(element, of: category)
    }

    /// Body as a self-contained element; nil if its encoded form cannot be parsed.
    public var fragment: XMLFragment? {
        switch self {
        case .state(let document): document.fragment
        case .note(let document): document.fragment
        case .contactCard(let document): document.fragment
        case .services(let document): document.fragment
        case .device(let document): document.fragment
        case .calendarData(let document): document.fragment
        case .legacyInterop(let document): document.fragment
        case .raw(let fragment): fragment
        }
    }
}

// MARK: encode

extension CategoriesDocument {
    /// Writes the `categories` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("categories")
        writer.namespace("", .msCategories)
        writer.attribute("uri", uri)
        writer.attributes(attributes)
        for category in categories { category.write(to: &writer) }
        writer.fragments(extensions)
        writer.end()
    }
}

extension CategoryElement {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("category")
        writer.attribute("name", name.rawValue)
        writer.attribute("instance", ifPresent: instance)
        writer.attribute("publishTime", ifPresent: publishTime?.publishTime)
        writer.attribute("container", ifPresent: container.map { String($0.rawValue) })
        writer.attribute("version", ifPresent: version)
        writer.attribute("expireType", ifPresent: expireType)
        writer.attribute("endpointId", ifPresent: endpointID)
        writer.attribute("expires", ifPresent: expires)
        writer.attributes(attributes)
        body?.write(to: &writer)
        writer.fragments(additionalContent)
        writer.end()
    }
}

extension CategoryBody {
    fileprivate func write(to writer: inout XMLWriter) {
        switch self {
        case .state(let document): document.write(to: &writer)
        case .note(let document): document.write(to: &writer)
        case .contactCard(let document): document.write(to: &writer)
        case .services(let document): document.write(to: &writer)
        case .device(let document): document.write(to: &writer)
        case .calendarData(let document): document.write(to: &writer)
        case .legacyInterop(let document): document.write(to: &writer)
        case .raw(let fragment): writer.fragment(fragment)
        }
    }
}
