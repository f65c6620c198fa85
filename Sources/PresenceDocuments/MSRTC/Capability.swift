// MS-PRES 7.4 and 7.5: capabilities, the same in `services` and in `device` but for their namespace.

import XMLCore

/// Name of a capability (MS-PRES 2.2.2.7.3); other names are allowed.
public struct CapabilityName: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    public static let calendar: CapabilityName = "calendar"
    public static let remoteCallControl: CapabilityName = "remoteCallControl"
    public static let voice: CapabilityName = "voice"
    public static let video: CapabilityName = "video"
    /// Centralised conference control: `CCCP`.
    public static let conferenceControl: CapabilityName = "CCCP"
    public static let text: CapabilityName = "text"
    public static let gifInk: CapabilityName = "gifInk"
    public static let isfInk: CapabilityName = "isfInk"
    public static let breakthrough: CapabilityName = "breakthrough"
    public static let applicationSharing: CapabilityName = "applicationSharing"
    /// Contacts kept in the unified contact store: `ucs`.
    public static let unifiedContactStore: CapabilityName = "ucs"
    public static let containerIntegrity: CapabilityName = "containerIntegrity"
    public static let contentWhiteboard: CapabilityName = "contentWhiteboard"
    public static let contentPoll: CapabilityName = "contentPoll"
    public static let contentPowerPoint: CapabilityName = "contentPowerPoint"
    public static let contentNativeFile: CapabilityName = "contentNativeFile"
    public static let contentSharedNotes: CapabilityName = "contentSharedNotes"

    public var description: String { rawValue }
}

/// Capability of a device or service (MS-PRES 2.2.2.7.3).
public struct Capability: Hashable, Sendable {
    /// Name: the local name of the element.
    public var name: CapabilityName
    /// URI at which the capability is offered; nil when absent.
    public var uri: String?
    /// Whether the user's side can present it; absent means false.
    public var render: Bool?
    /// Whether the user's side can produce it; absent means false.
    public var capture: Bool?
    /// Whether the capability is for the user's own devices only; absent means false.
    public var publish: Bool?
    /// Version of the capability; nil when absent.
    public var version: UInt32?
    /// Availability of the device that offers it.
    public var deviceAvailability: UInt32?
    /// Whether this offer is preferred; nil when absent.
    public var preferred: Bool?
    /// Identifier of the preferred endpoint; nil when absent.
    public var preferredEndpointID: String?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Child elements, which the schema does not define; kept and written again.
    public var content: [XMLFragment]

    /// Creates a capability; omitted attributes are absent.
    public init(
        _ name: CapabilityName, uri: String? = nil, render: Bool? = nil, capture: Bool? = nil, publish: Bool? = nil,
        version: UInt32? = nil, deviceAvailability: UInt32? = nil, preferred: Bool? = nil, preferredEndpointID: String? = nil,
        attributes: [XMLAttribute] = [], content: [XMLFragment] = []
    ) {
        self.name = name
        self.uri = uri
        self.render = render
        self.capture = capture
        self.publish = publish
        self.version = version
        self.deviceAvailability = deviceAvailability
        self.preferred = preferred
        self.preferredEndpointID = preferredEndpointID
        self.attributes = attributes
        self.content = content
    }
}

/// Capabilities of one URI (MS-PRES 2.2.2.7.2, 2.2.2.7.3).
public struct CapabilityList: Hashable, Sendable {
    /// URI that offers the capabilities; nil when absent.
    public var uri: String?
    /// Whether this list is preferred; nil when absent.
    public var preferred: Bool?
    /// Capabilities in document order, known names or not.
    public var capabilities: [Capability]
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        uri: String? = nil, preferred: Bool? = nil, capabilities: [Capability] = [], attributes: [XMLAttribute] = [],
        extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.uri = uri
        self.preferred = preferred
        self.capabilities = capabilities
        self.attributes = attributes
        self.extensions = extensions
    }
}

// MARK: decode

extension Capability {
    init(reading element: XMLElement, rule: StaticString) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(CapabilityName(rawValue: element.localName), uri: attributes.string("uri"))
        render = try attributes.boolean("render")
        capture = try attributes.boolean("capture")
        publish = try attributes.boolean("publish")
        version = try attributes.unsigned("version")
        deviceAvailability = try attributes.unsigned("deviceAvailability")
        preferred = try attributes.boolean("preferred")
        preferredEndpointID = attributes.string("preferredEndpointId")
        self.attributes = attributes.others(besides: Self.attributeNames)
        content = element.children.map { $0.fragment() }
    }

    private static let attributeNames: Set<String> = [
        "uri", "render", "capture", "publish", "version", "deviceAvailability", "preferred", "preferredEndpointId",
    ]
}

extension CapabilityList {
    /// - Parameter namespace: Namespace of the category; each child in it is a capability, known or not.
    init(reading element: XMLElement, in namespace: XMLNamespace, rule: StaticString) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(uri: attributes.string("uri"), preferred: try attributes.boolean("preferred"))
        self.attributes = attributes.others(besides: ["uri", "preferred"])
        var extensions = ExtensionReader()
        for child in element.children {
            if child.isIn(namespace), !extensions.isOpen {
                capabilities.append(try Capability(reading: child, rule: rule))
            } else {
                extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

// MARK: encode

extension CapabilityList {
    func write(to writer: inout XMLWriter) {
        writer.start("capabilities")
        writer.attribute("preferred", ifPresent: preferred)
        writer.attribute("uri", ifPresent: uri)
        writer.attributes(attributes)
        for capability in capabilities { capability.write(to: &writer) }
        writer.generations(extensions)
        writer.end()
    }
}

extension Capability {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start(name.rawValue)
        writer.attribute("uri", ifPresent: uri)
        writer.attribute("render", ifPresent: render)
        writer.attribute("capture", ifPresent: capture)
        writer.attribute("publish", ifPresent: publish)
        writer.attribute("version", ifPresent: version)
        writer.attribute("preferred", ifPresent: preferred)
        writer.attribute("preferredEndpointId", ifPresent: preferredEndpointID)
        writer.attribute("deviceAvailability", ifPresent: deviceAvailability)
        writer.attributes(attributes)
        writer.fragments(content)
        writer.end()
    }
}
