// vnd-microsoft-provisioning-v2: settings that a client requests from its home server, and the answer.

import XMLCore

/// Names of the groups that a client requests (body of the SUBSCRIBE).
public struct ProvisioningGroupListDocument: Hashable, Sendable {
    /// Group names in document order.
    public var groups: [String]

    public init(groups: [String]) { self.groups = groups }
}

/// Groups with their settings (body of the answer and of notifications); here every group is empty.
public struct ProvisionGroupListDocument: Hashable, Sendable {
    /// Group names in document order.
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
    /// Root element `provisioningGroupList` of ``XMLCore/XMLNamespace/msProvisioningGroupList``.
    public static let rootName = ProvisioningNames.request
    /// Same media type as that of ``ProvisionGroupListDocument``.
    public static let mediaType = ProvisionGroupListDocument.mediaType
    static let rule: StaticString = "vnd-microsoft-provisioning-v2"

    /// Reads the `provisioningGroupList` element; requires `name` of each group.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(groups: [])
        for child in element.children where child.is(ProvisioningNames.wanted) {
            var attributes = AttributeReader(child, rule: Self.rule)
            groups.append(try attributes.requiredString("name"))
        }
    }

    /// Writes the `provisioningGroupList` element with its namespace declared.
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
    /// Root element `provisionGroupList` of ``XMLCore/XMLNamespace/msProvisionGroupList``.
    public static let rootName = ProvisioningNames.answer
    /// Media type `application/vnd-microsoft-roaming-provisioning-v2+xml`.
    public static let mediaType = DocumentMediaType("application/vnd-microsoft-roaming-provisioning-v2+xml")
    static let rule: StaticString = "vnd-microsoft-provisioning-v2"

    /// Reads the `provisionGroupList` element; requires `name` of each group, settings are ignored.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(groups: [])
        for child in element.children where child.is(ProvisioningNames.group) {
            var attributes = AttributeReader(child, rule: Self.rule)
            groups.append(try attributes.requiredString("name"))
        }
    }

    /// Writes the `provisionGroupList` element with its namespace declared.
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
