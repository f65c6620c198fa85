// vnd-microsoft-provisioning-v2: what a client asks its home server to prescribe, and the answer.

import XMLCore

/// The names of the groups that a client wants (body of the SUBSCRIBE).
public struct ProvisioningGroupListDocument: Hashable, Sendable {
    public var groups: [String]

    public init(groups: [String]) { self.groups = groups }
}

/// The groups with their settings (body of the answer and of notifications); here every group is empty.
public struct ProvisionGroupListDocument: Hashable, Sendable {
    public var groups: [String]

    public init(groups: [String]) { self.groups = groups }
}

private enum ProvisioningNames {
    static let request = XMLName("provisioningGroupList", in: .msProvisioningGroupList)
    static let wanted = XMLName("provisioningGroup", in: .msProvisioningGroupList)
    static let answer = XMLName("provisionGroupList", in: .msProvisionGroupList)
    static let group = XMLName("provisionGroup", in: .msProvisionGroupList)
}

extension ProvisioningGroupListDocument: MSRTCDocument {
    public static let rootName = ProvisioningNames.request
    public static let mediaType = ProvisionGroupListDocument.mediaType
    static let rule: StaticString = "vnd-microsoft-provisioning-v2"

    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(groups: [])
        for child in element.children where child.is(ProvisioningNames.wanted) {
            var attributes = AttributeReader(child, rule: Self.rule)
            groups.append(try attributes.requiredString("name"))
        }
    }

    public func write(to writer: inout XMLWriter) {
        writer.start("provisioningGroupList")
        writer.namespace("", .msProvisioningGroupList)
        for group in groups {
            writer.start("provisioningGroup")
            writer.attribute("name", group)
            writer.end()
        }
        writer.end()
    }
}

extension ProvisionGroupListDocument: MSRTCDocument {
    public static let rootName = ProvisioningNames.answer
    public static let mediaType = DocumentMediaType("application/vnd-microsoft-roaming-provisioning-v2+xml")
    static let rule: StaticString = "vnd-microsoft-provisioning-v2"

    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(groups: [])
        for child in element.children where child.is(ProvisioningNames.group) {
            var attributes = AttributeReader(child, rule: Self.rule)
            groups.append(try attributes.requiredString("name"))
        }
    }

    public func write(to writer: inout XMLWriter) {
        writer.start("provisionGroupList")
        writer.namespace("", .msProvisionGroupList)
        for group in groups {
            writer.start("provisionGroup")
            writer.attribute("name", group)
            writer.end()
        }
        writer.end()
    }
}
