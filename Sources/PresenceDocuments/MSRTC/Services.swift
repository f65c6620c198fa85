// MS-PRES 2.2.2.7.3 and 7.5: the `services` category.

import XMLCore

/// Address of a user and its capabilities (MS-PRES 2.2.2.7.3).
public struct ServiceElement: Hashable, Sendable {
    /// URI of the service; nil when absent.
    public var uri: String?
    /// Capabilities of the service; nil when absent.
    public var capabilities: CapabilityList?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        uri: String?, capabilities: CapabilityList? = nil, attributes: [XMLAttribute] = [],
        extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.uri = uri
        self.capabilities = capabilities
        self.attributes = attributes
        self.extensions = extensions
    }
}

/// Services by which a user can be reached (MS-PRES 2.2.2.7.3); the list may be empty.
public struct ServicesDocument: Hashable, Sendable {
    /// Services in document order.
    public var services: [ServiceElement]
    /// Major schema version as written; nil when absent.
    public var majorVersion: UInt32?
    /// Minor schema version as written; nil when absent.
    public var minorVersion: UInt32?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        services: [ServiceElement] = [], majorVersion: UInt32? = nil, minorVersion: UInt32? = nil,
        attributes: [XMLAttribute] = [], extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.services = services
        self.majorVersion = majorVersion
        self.minorVersion = minorVersion
        self.attributes = attributes
        self.extensions = extensions
    }
}

// MARK: elements

private enum ServiceNames {
    static let services = XMLName("services", in: .msService)
    static let service = XMLName("service", in: .msService)
    static let capabilities = XMLName("capabilities", in: .msService)
}

// MARK: decode

extension ServicesDocument: MSRTCDocument {
    /// Root element `services` of ``XMLCore/XMLNamespace/msService``.
    public static let rootName = ServiceNames.services
    static let rule: StaticString = "MS-PRES 7.5"

    /// Reads the `services` element; throws ``DocumentError`` for another root or a value that the schema does not allow.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(majorVersion: try attributes.unsigned("majorVersion"), minorVersion: try attributes.unsigned("minorVersion"))
        self.attributes = attributes.others(besides: ["majorVersion", "minorVersion"])
        var extensions = ExtensionReader()
        for child in element.children {
            if child.is(ServiceNames.service) {
                services.append(try ServiceElement(reading: child))
            } else {
                extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension ServiceElement {
    init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: ServicesDocument.rule)
        self.init(uri: attributes.string("uri"))
        self.attributes = attributes.others(besides: ["uri"])
        var extensions = ExtensionReader()
        for child in element.children {
            if child.is(ServiceNames.capabilities), capabilities == nil {
                capabilities = try CapabilityList(reading: child, in: .msService, rule: ServicesDocument.rule)
            } else {
                extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

// MARK: encode

extension ServicesDocument {
    /// Writes the `services` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("services")
        writer.namespace("", .msService)
        writer.attribute("majorVersion", ifPresent: majorVersion)
        writer.attribute("minorVersion", ifPresent: minorVersion)
        writer.attributes(attributes)
        for service in services {
            writer.start("service")
            writer.attribute("uri", ifPresent: service.uri)
            writer.attributes(service.attributes)
            service.capabilities?.write(to: &writer)
            writer.generations(service.extensions)
            writer.end()
        }
        writer.generations(extensions)
        writer.end()
    }
}
