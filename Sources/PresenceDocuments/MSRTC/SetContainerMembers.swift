// MS-PRES 2.2.2.5.2 and 6.11: the request that changes the members of containers.

import XMLCore

/// Member to add to or to remove from a container (MS-PRES 2.2.2.5.2).
public struct ContainerMemberChange: Hashable, Sendable {
    /// Action; the schema has `remove`, the text `delete`: both are read, `remove` is written (MS-PRES 2.2.2.5.2, 6.11).
    public enum Action: Hashable, Sendable {
        case add
        case remove
    }

    /// Whether to add or to remove the member.
    public var action: Action
    /// Member to add or to remove.
    public var member: ContainerMember
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(_ action: Action, _ member: ContainerMember, foreign: ForeignContent = ForeignContent()) {
        self.action = action
        self.member = member
        self.foreign = foreign
    }
}

/// Changes of one container (MS-PRES 2.2.2.5.2).
public struct ContainerChange: Hashable, Sendable {
    /// Number of the container; not 0, which has no member list.
    public var id: ContainerID
    /// Version of the membership that the sender believes to be current; 0 for a new container.
    public var version: UInt32
    /// Changes in order; at least one when parsed.
    public var changes: [ContainerMemberChange]
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(
        id: ContainerID, version: UInt32, changes: [ContainerMemberChange], foreign: ForeignContent = ForeignContent()
    ) {
        self.id = id
        self.version = version
        self.changes = changes
        self.foreign = foreign
    }
}

/// Changes of container memberships, committed as a whole or not at all (MS-PRES 2.2.2.5.2, 3.5.5.2).
public struct SetContainerMembersDocument: Hashable, Sendable {
    /// Containers to change; at least one when parsed.
    public var containers: [ContainerChange]
    /// Attributes and elements without a field here; kept and written again.
    public var foreign: ForeignContent

    public init(containers: [ContainerChange], foreign: ForeignContent = ForeignContent()) {
        self.containers = containers
        self.foreign = foreign
    }
}

// MARK: elements

private enum SetMembersNames {
    static let setContainerMembers = XMLName("setContainerMembers", in: .msContainerManagement)
    static let container = XMLName("container", in: .msContainerManagement)
    static let member = XMLName("member", in: .msContainerManagement)
}

// MARK: decode

extension SetContainerMembersDocument: MSRTCDocument {
    /// Root element `setContainerMembers` of ``XMLCore/XMLNamespace/msContainerManagement``.
    public static let rootName = SetMembersNames.setContainerMembers
    /// Media type `application/msrtc-setcontainermembers+xml`.
    public static let mediaType = DocumentMediaType("application/msrtc-setcontainermembers+xml")
    static let rule: StaticString = "MS-PRES 6.11"

    /// Reads the request; requires at least one container, each with a change, and refuses container 0 and unknown member types.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init(containers: [])
        foreign.attributes = AttributeReader(element, rule: Self.rule).others(besides: [])
        for child in element.children {
            if child.is(SetMembersNames.container) {
                containers.append(try ContainerChange(reading: child))
            } else {
                foreign.elements.append(child.fragment())
            }
        }
        guard !containers.isEmpty else { throw element.missing(element: "container", rule: Self.rule) }
    }
}

extension ContainerChange {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        let rule = SetContainerMembersDocument.rule
        var attributes = AttributeReader(element, rule: rule)
        guard let id = try attributes.container("id") else { throw element.missing(attribute: "id", rule: rule) }
        guard id != .default else {
            throw element.invalid("id", value: "0", expected: "a container number from 1 to 32767", rule: rule)
        }
        self.init(id: id, version: try attributes.requiredUnsigned("version"), changes: [])
        foreign.attributes = attributes.others(besides: ["id", "version"])
        for child in element.children {
            if child.is(SetMembersNames.member) {
                changes.append(try ContainerMemberChange(reading: child))
            } else {
                foreign.elements.append(child.fragment())
            }
        }
        guard !changes.isEmpty else { throw element.missing(element: "member", rule: rule) }
    }
}

extension ContainerMemberChange {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        let rule = SetContainerMembersDocument.rule
        let member = try ContainerMember(reading: element, rule: rule)
        guard ContainerMemberType.known.contains(member.type) else {
            throw element.invalid("type", value: member.type.rawValue, expected: "a type of member", rule: rule)
        }
        switch element.attribute("action") {
        case nil, "add": self.init(.add, member)
        case "remove", "delete": self.init(.remove, member)
        case let other?: throw element.invalid("action", value: other, expected: "add or remove", rule: rule)
        }
        foreign.attributes = element.attributes.filter {
            !$0.namespace.isEmpty || !["type", "value", "action"].contains($0.localName)
        }
        foreign.elements = element.children.map { $0.fragment() }
    }
}

// MARK: encode

extension SetContainerMembersDocument {
    /// Writes the `setContainerMembers` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("setContainerMembers")
        writer.namespace("", .msContainerManagement)
        writer.attributes(foreign.attributes)
        for container in containers {
            writer.start("container")
            writer.attribute("id", String(container.id.rawValue))
            writer.attribute("version", String(container.version))
            writer.attributes(container.foreign.attributes)
            for change in container.changes {
                writer.start("member")
                writer.attribute("action", change.action == .add ? "add" : "remove")
                writer.attribute("type", change.member.type.rawValue)
                writer.attribute("value", ifPresent: change.member.value)
                writer.attributes(change.foreign.attributes)
                writer.fragments(change.foreign.elements)
                writer.end()
            }
            writer.fragments(container.foreign.elements)
            writer.end()
        }
        writer.fragments(foreign.elements)
        writer.end()
    }
}
