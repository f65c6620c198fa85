// MS-PRES 2.2.2.2.1 and 6.10: the publish request.

import XMLCore

/// Instance to create, change or delete (MS-PRES 2.2.2.2.1).
public struct CategoryPublication: Hashable, Sendable {
    /// Category of the instance.
    public var categoryName: CategoryName
    /// Number of the instance, chosen by the publisher.
    public var instance: UInt32
    /// Container of the instance.
    public var container: ContainerID
    /// Version that the publisher believes to be current; 0 for a new instance.
    public var version: UInt32
    /// Rule that ends the life of the instance.
    public var expireType: ExpireType
    /// Seconds of life with expireType `time`; 0 deletes the instance, whatever its type.
    public var expires: UInt32?
    /// Data, byte for byte; nil for an instance with an empty body.
    public var body: XMLFragment?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]

    public init(
        categoryName: CategoryName, instance: UInt32, container: ContainerID, version: UInt32, expireType: ExpireType,
        expires: UInt32? = nil, body: XMLFragment? = nil, attributes: [XMLAttribute] = []
    ) {
        self.categoryName = categoryName
        self.instance = instance
        self.container = container
        self.version = version
        self.expireType = expireType
        self.expires = expires
        self.body = body
        self.attributes = attributes
    }

    /// Whether the instance is to be deleted (MS-PRES 1.3.1.6.3).
    public var isRemoval: Bool { expires == 0 }
}

/// Batch of publications, committed as a whole or not at all (MS-PRES 2.2.2.2.1, 3.2.5.1.2).
public struct CategoryPublishDocument: Hashable, Sendable {
    /// Publisher URI with its scheme.
    public var uri: String
    /// Publications in order; at least one when parsed.
    public var publications: [CategoryPublication]
    /// Unknown parts of the `publications` element.
    public var listForeign: ForeignContent
    /// Unknown parts of the `publish` element.
    public var foreign: ForeignContent

    public init(
        uri: String, publications: [CategoryPublication], listForeign: ForeignContent = ForeignContent(),
        foreign: ForeignContent = ForeignContent()
    ) {
        self.uri = uri
        self.publications = publications
        self.listForeign = listForeign
        self.foreign = foreign
    }
}

// MARK: elements

private enum PublishNames {
    static let publish = XMLName("publish", in: .msRichPresence)
    static let publications = XMLName("publications", in: .msRichPresence)
    static let publication = XMLName("publication", in: .msRichPresence)
}

// MARK: decode

extension CategoryPublishDocument: MSRTCDocument {
    /// Root element `publish` of ``XMLCore/XMLNamespace/msRichPresence``.
    public static let rootName = PublishNames.publish
    /// Media type `application/msrtc-category-publish+xml`.
    public static let mediaType = DocumentMediaType("application/msrtc-category-publish+xml")
    static let rule: StaticString = "MS-PRES 6.10"

    /// Reads the request; requires at least one publication, each with at most one body element.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        guard let list = element.first(PublishNames.publications) else {
            throw element.missing(element: "publications", rule: Self.rule)
        }
        var attributes = AttributeReader(list, rule: Self.rule)
        self.init(uri: try attributes.requiredString("uri"), publications: [])
        listForeign.attributes = attributes.others(besides: ["uri"])
        for child in list.children {
            if child.is(PublishNames.publication) {
                publications.append(try CategoryPublication(reading: child))
            } else {
                listForeign.elements.append(child.fragment())
            }
        }
        foreign.attributes = AttributeReader(element, rule: Self.rule).others(besides: [])
        foreign.elements = element.children.filter { !$0.is(PublishNames.publications) }.map { $0.fragment() }
        guard !publications.isEmpty else { throw list.missing(element: "publication", rule: Self.rule) }
    }
}

extension CategoryPublication {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        let rule = CategoryPublishDocument.rule
        var attributes = AttributeReader(element, rule: rule)
        let name: CategoryName = try attributes.requiredToken("categoryName")
        let instance = try attributes.requiredUnsigned("instance")
        let version = try attributes.requiredUnsigned("version")
        guard let container = try attributes.container("container") else {
            throw element.missing(attribute: "container", rule: rule)
        }
        let expireType: ExpireType = try attributes.requiredToken("expireType")
        guard expireType.isKnown else {
            throw element.invalid(
                "expireType", value: expireType.rawValue, expected: "static, endpoint, user or time", rule: rule)
        }
        self.init(
            categoryName: name, instance: instance, container: container, version: version, expireType: expireType,
            expires: try attributes.unsigned("expires"))
        self.attributes = attributes.others(besides: [
            "categoryName", "instance", "version", "container", "expireType", "expires",
        ])
        var children = element.children.makeIterator()
        body = children.next()?.fragment()
        if let second = children.next() {
            throw second.invalid(second.localName, value: "", expected: "allowed: a publication holds one element", rule: rule)
        }
    }
}

// MARK: encode

extension CategoryPublishDocument {
    /// Writes the `publish` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("publish")
        writer.namespace("", .msRichPresence)
        writer.attributes(foreign.attributes)
        writer.start("publications")
        writer.attribute("uri", uri)
        writer.attributes(listForeign.attributes)
        for publication in publications {
            writer.start("publication")
            writer.attribute("categoryName", publication.categoryName.rawValue)
            writer.attribute("instance", String(publication.instance))
            writer.attribute("container", String(publication.container.rawValue))
            writer.attribute("version", String(publication.version))
            writer.attribute("expireType", publication.expireType.rawValue)
            writer.attribute("expires", ifPresent: publication.expires)
            writer.attributes(publication.attributes)
            if let body = publication.body { writer.fragment(body) }
            writer.end()
        }
        writer.fragments(listForeign.elements)
        writer.end()
        writer.fragments(foreign.elements)
        writer.end()
    }
}
