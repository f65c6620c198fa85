// MS-PRES 6.1 and 6.3: container numbers, members, and the `containers` document of roaming-self.

import XMLCore

/// The number of a container, 0 to 32767 (MS-PRES 6.1). What the known numbers mean is data of the container policy.
public struct ContainerID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: UInt16

    /// Fails above 32767.
    public init?(rawValue: UInt16) {
        guard rawValue <= Self.maximum else { return nil }
        self.rawValue = rawValue
    }

    /// Fails outside 0 to 32767.
    public init?(_ number: Int) {
        guard let value = UInt16(exactly: number) else { return nil }
        self.init(rawValue: value)
    }

    private init(unchecked: UInt16) { rawValue = unchecked }

    /// Largest number that the schema allows.
    public static let maximum: UInt16 = 32767

    /// The container without a member list, which everybody may see (MS-PRES 1.3.1.3.3).
    public static let `default` = ContainerID(unchecked: 0)

    public var description: String { String(rawValue) }

    public static func < (left: ContainerID, right: ContainerID) -> Bool { left.rawValue < right.rawValue }
}

/// How a member of a container is recognised (MS-PRES 2.2.2.5.1).
public struct ContainerMemberType: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawValue: String

    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// One SIP URI, in `value`.
    public static let user: ContainerMemberType = "user"
    /// Everybody of one domain, in `value`.
    public static let domain: ContainerMemberType = "domain"
    public static let sameEnterprise: ContainerMemberType = "sameEnterprise"
    public static let federated: ContainerMemberType = "federated"
    public static let publicCloud: ContainerMemberType = "publicCloud"
    public static let everyone: ContainerMemberType = "everyone"

    /// Every type that the schema lists.
    public static let known: Set<ContainerMemberType> = [.user, .domain, .sameEnterprise, .federated, .publicCloud, .everyone]

    /// Whether a member of this type carries a value (MS-PRES 3.5.5.2).
    public var takesValue: Bool { self == .user || self == .domain }

    public var description: String { rawValue }
}

/// A member of a container (MS-PRES 2.2.2.5.1).
public struct ContainerMember: Hashable, Sendable {
    public var type: ContainerMemberType
    /// URI of a user or name of a domain as written, with or without scheme.
    public var value: String?

    public init(_ type: ContainerMemberType, value: String? = nil) {
        self.type = type
        self.value = value
    }
}

/// A container with its complete membership (MS-PRES 6.3).
public struct ContainerElement: Hashable, Sendable {
    public var id: ContainerID
    /// Version of the membership, apart from the versions of publications (MS-PRES 3.5.5.2).
    public var version: UInt32
    public var members: [ContainerMember]

    public init(id: ContainerID, version: UInt32, members: [ContainerMember] = []) {
        self.id = id
        self.version = version
        self.members = members
    }
}

/// The containers part of roaming-self data (MS-PRES 6.3).
public struct ContainersDocument: Hashable, Sendable {
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
    public static let rootName = ContainerNames.containers
    static let rule: StaticString = "MS-PRES 6.3"

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
