// MS-PRES 2.2.2.2.1 and 6.10: the publish request.

import XMLCore

/// One instance to create, change or delete (MS-PRES 2.2.2.2.1).
public struct CategoryPublication: Hashable, Sendable {
    public var categoryName: CategoryName
    public var instance: UInt32
    public var container: ContainerID
    /// The version that the publisher believes to be current; 0 for a new instance.
    public var version: UInt32
    public var expireType: ExpireType
    /// Seconds of life with expireType `time`; 0 deletes the instance whatever its type.
    public var expires: UInt32?
    /// The data, verbatim; absent for an instance with an empty body.
    public var body: XMLFragment?
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

/// A batch of publications that is committed whole or not at all (MS-PRES 2.2.2.2.1, 3.2.5.1.2).
public struct CategoryPublishDocument: Hashable, Sendable {
    /// The publisher, with its scheme.
    public var uri: String
    public var publications: [CategoryPublication]
    /// Of the `publications` element.
    public var listForeign: ForeignContent
    /// Of the `publish` element.
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
    public static let rootName = PublishNames.publish
    public static let mediaType = DocumentMediaType("application/msrtc-category-publish+xml")
    static let rule: StaticString = "MS-PRES 6.10"

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
