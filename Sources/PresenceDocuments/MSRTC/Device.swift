// MS-PRES 2.2.2.7.2 and 7.4: the `device` category.

import XMLCore

/// Capabilities of one device of a user (MS-PRES 2.2.2.7.2).
public struct DeviceDocument: Hashable, Sendable {
    /// Identifier of the endpoint; compare ignoring case.
    public var endpointID: String
    /// Capability lists in document order.
    public var capabilities: [CapabilityList]
    /// Time zone as written; ignored on receipt, kept and written again.
    public var timezone: String?
    /// Name of the machine; nil when absent.
    public var machineName: String?
    /// Major schema version as written; nil when absent.
    public var majorVersion: UInt32?
    /// Minor schema version as written; nil when absent.
    public var minorVersion: UInt32?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute]
    /// Elements without a field here, by schema generation (MS-PRES 7.1); kept and written again.
    public var extensions: ExtensionBlock

    public init(
        endpointID: String, capabilities: [CapabilityList] = [], timezone: String? = nil, machineName: String? = nil,
        majorVersion: UInt32? = nil, minorVersion: UInt32? = nil, attributes: [XMLAttribute] = [],
        extensions: ExtensionBlock = ExtensionBlock()
    ) {
        self.endpointID = endpointID
        self.capabilities = capabilities
        self.timezone = timezone
        self.machineName = machineName
        self.majorVersion = majorVersion
        self.minorVersion = minorVersion
        self.attributes = attributes
        self.extensions = extensions
    }
}

// MARK: elements

private enum DeviceNames {
    static let device = XMLName("device", in: .msDevice)
    static let capabilities = XMLName("capabilities", in: .msDevice)
    static let timezone = XMLName("timezone", in: .msDevice)
    static let machineName = XMLName("machineName", in: .msDevice)
}

// MARK: decode

extension DeviceDocument: MSRTCDocument {
    /// Root element `device` of ``XMLCore/XMLNamespace/msDevice``.
    public static let rootName = DeviceNames.device
    static let rule: StaticString = "MS-PRES 7.4"

    /// Reads the `device` element; requires `endpointId`.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(endpointID: try attributes.requiredString("endpointId"))
        majorVersion = try attributes.unsigned("majorVersion")
        minorVersion = try attributes.unsigned("minorVersion")
        self.attributes = attributes.others(besides: ["endpointId", "majorVersion", "minorVersion"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case DeviceNames.capabilities:
                capabilities.append(try CapabilityList(reading: child, in: .msDevice, rule: Self.rule))
            case DeviceNames.timezone: timezone = child.trimmedText
            case DeviceNames.machineName: machineName = child.trimmedText
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

// MARK: encode

extension DeviceDocument {
    /// Writes the `device` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("device")
        writer.namespace("", .msDevice)
        writer.attribute("endpointId", endpointID)
        writer.attribute("majorVersion", ifPresent: majorVersion)
        writer.attribute("minorVersion", ifPresent: minorVersion)
        writer.attributes(attributes)
        for list in capabilities { list.write(to: &writer) }
        writer.element("timezone", ifPresent: timezone)
        writer.element("machineName", ifPresent: machineName)
        writer.generations(extensions)
        writer.end()
    }
}
