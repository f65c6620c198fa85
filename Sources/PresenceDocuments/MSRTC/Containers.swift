// MS-PRES 6.1 and 6.3: container numbers, members, and the `containers` document of roaming-self.

import XMLCore

/// Number of a container, 0 to 32767 (MS-PRES 6.1). The container policy defines the meaning of the known numbers.
public struct ContainerID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    /// Number, at most ``maximum``.
    public let rawValue: UInt16

    /// Creates a number; nil above 32767.
    public init?(rawValue: UInt16) {
        guard rawValue <= Self.maximum else { return nil }
        self.rawValue = rawValue
    }

    /// Creates a number; nil outside 0 to 32767.
    public init?(_ number: Int) {
        guard let value = UInt16(exactly: number) else { return nil }
        self.init(rawValue: value)
    }

    private init(unchecked: UInt16) { rawValue = unchecked }

    /// Largest number that the schema allows.
    public static let maximum: UInt16 = 32767

    /// Container without a member list, visible to all users (MS-PRES 1.3.1.3.3).
    public static let `default` = ContainerID(unchecked: 0)

    public var description: String { String(rawValue) }

    public static func < (left: ContainerID, right: ContainerID) -> Bool { left.rawValue < right.rawValue }
}

/// Rule that recognises a member of a container (MS-PRES 2.2.2.5.1).
public struct ContainerMemberType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// One user, by the SIP URI in `value`.
    public static let user: ContainerMemberType = "user"
    /// All users of one domain, in `value`.
    public static let domain: ContainerMemberType = "domain"
    /// All users of the presentity's enterprise.
    public static let sameEnterprise: ContainerMemberType = "sameEnterprise"
    /// All users of federated domains.
    public static let federated: ContainerMemberType = "federated"
    /// All users of public clouds.
    public static let publicCloud: ContainerMemberType = "publicCloud"
    /// All users.
    public static let everyone: ContainerMemberType = "everyone"

    /// Types that the schema lists.
    public static let known: Set<ContainerMemberType> = [.user, .domain, .sameEnterprise, .federated, .publicCloud, .everyone]

    /// Whether a member of this type has a value (MS-PRES 3.5.5.2).
    public var takesValue: Bool { self == .user || self == .domain }

    public var description: String { rawValue }
}

/// Member of a container (MS-PRES 2.2.2.5.1).
public struct ContainerMember: Hashable, Sendable {
    /// Rule that recognises the member.
    public var type: ContainerMemberType
    /// URI of a user or name of a domain, as written, with or without scheme.
    public var value: String?

    public init(_ type: ContainerMemberType, value: String? = nil) {
        self.type = type
        self.value = value
    }
}

/// Container with its complete membership (MS-PRES 6.3).
public struct ContainerElement: Hashable, Sendable {
    /// Number of the container.
    public var id: ContainerID
    /// Version of the membership, independent of the versions of publications (MS-PRES 3.5.5.2).
    public var version: UInt32
    /// Members in document order.
    public var members: [ContainerMember]

    public init(id: ContainerID, version: UInt32, members: [ContainerMember] = []) {
        self.id = id
        self.version = version
        self.members = members
    }
}

/// Containers part of roaming-self data (MS-PRES 6.3).
public struct ContainersDocument: Hashable, Sendable {
    /// Containers in document order.
    public var containers: [ContainerElement]

    public init(containers: [ContainerElement] = []) {
        self.containers = containers
    }
}

// MARK: elements

private enum ContainerNames {
    static let containers = XMLName("containers", in: .msContainers)
    static let container = XMLName("container", in: .msContainers)
    static let member = XMLName("member", in: .msContainers)
}

// MARK: decode

extension ContainersDocument: MSRTCDocument {
    /// Root element `containers` of ``XMLCore/XMLNamespace/msContainers``.
    public static let rootName = ContainerNames.containers
    static let rule: StaticString = "MS-PRES 6.3"

    /// Reads the `containers` element; requires `id` and `version` of each container.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: Self.rule)
        self.init()
        for child in element.children where child.is(ContainerNames.container) {
            containers.append(try ContainerElement(reading: child))
        }
    }
}

extension ContainerElement {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: ContainersDocument.rule)
        guard let id = try attributes.container("id") else { throw element.missing(attribute: "id", rule: ContainersDocument.rule) }
        self.init(id: id, version: try attributes.requiredUnsigned("version"))
        for child in element.children where child.is(ContainerNames.member) {
            members.append(try ContainerMember(reading: child, rule: ContainersDocument.rule))
        }
    }
}

extension ContainerMember {
    init(reading element: XMLElement, rule: StaticString) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(try attributes.requiredToken("type"), value: attributes.string("value"))
    }
}

// MARK: encode

extension ContainersDocument {
    /// Writes the `containers` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("containers")
        writer.namespace("", .msContainers)
        for container in containers {
            writer.start("container")
            writer.attribute("id", String(container.id.rawValue))
            writer.attribute("version", String(container.version))
            for member in container.members {
                writer.start("member")
                writer.attribute("type", member.type.rawValue)
                writer.attribute("value", ifPresent: member.value)
                writer.end()
            }
            writer.end()
        }
        writer.end()
    }
}
