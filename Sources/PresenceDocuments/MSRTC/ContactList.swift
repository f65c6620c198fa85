// MS-SIP 2.2.4.1 and 9.1, MS-PRES 10: a user's contacts and groups, kept by its home server.

import XMLCore

/// Location of a user's contact list (MS-PRES 10).
public struct UCSMode: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// On this server, permanently.
    public static let disabled: UCSMode = "disabled"
    /// On this server; may be moved to the mail server at any time.
    public static let allowed: UCSMode = "allowed"
    /// Being moved; changes are not allowed.
    public static let migrating: UCSMode = "migrating"
    /// On the mail server.
    public static let migrated: UCSMode = "migrated"

    /// Whether SERVICE requests must not change the contact list (MS-PRES 3.10.4).
    public var isReadOnly: Bool { self == .migrating || self == .migrated }

    public var description: String { rawValue }
}

/// Group of contacts (MS-SIP 2.2.4.1).
public struct RoamingGroup: Hashable, Sendable {
    /// Id, 1 to 64, assigned by the server.
    public var id: UInt32
    /// Name; `~` is the group of the contacts without another group.
    public var name: String
    /// URI of external information, such as a distribution group; nil when absent or empty.
    public var externalURI: String?

    public init(id: UInt32, name: String, externalURI: String? = nil) {
        self.id = id
        self.name = name
        self.externalURI = externalURI
    }
}

/// Contact (MS-SIP 2.2.4.1).
public struct RoamingContact: Hashable, Sendable {
    /// URI as written: with its scheme in requests and deltas, without it in lists.
    public var uri: String
    /// Display name; empty when absent.
    public var name: String
    /// Ids of its groups, in the order written.
    public var groups: [UInt32]
    /// Whether clients subscribe to its presence.
    public var isSubscribed: Bool
    /// URI of external information; nil when absent or empty.
    public var externalURI: String?
    /// Element `contactExtension` with XML of the client's choice; nil when absent.
    public var `extension`: XMLFragment?

    /// Creates a contact; by default in no group, with its presence subscribed to.
    public init(
        uri: String, name: String = "", groups: [UInt32] = [], isSubscribed: Bool = true, externalURI: String? = nil,
        extension: XMLFragment? = nil
    ) {
        self.uri = uri
        self.name = name
        self.groups = groups
        self.isSubscribed = isSubscribed
        self.externalURI = externalURI
        self.extension = `extension`
    }
}

/// Whole contact list (MS-SIP 9.1 `contactList`), in no namespace as in all printed messages.
public struct ContactListDocument: Hashable, Sendable {
    /// Version of the list; not 0, as for access control lists (MS-SIP 2.2.3), which is not checked here.
    public var deltaNum: UInt32
    /// Location of the contact list; written only to clients that support the unified contact store (MS-PRES 10).
    public var ucsMode: UCSMode?
    /// Groups in document order.
    public var groups: [RoamingGroup]
    /// Contacts in document order.
    public var contacts: [RoamingContact]

    public init(deltaNum: UInt32, ucsMode: UCSMode? = nil, groups: [RoamingGroup] = [], contacts: [RoamingContact] = []) {
        self.deltaNum = deltaNum
        self.ucsMode = ucsMode
        self.groups = groups
        self.contacts = contacts
    }
}

// MARK: elements

enum ContactNames {
    static let contactList = XMLName("contactList")
    static let contactDelta = XMLName("contactDelta")

    /// Whether the element is in no namespace, as in messages, or in that of the schema (MS-SIP 9.1).
    static func isElement(_ element: XMLElement, _ name: String) -> Bool {
        guard element.localNameEquals(name) else { return false }
        let namespace = element.namespace
        return namespace.isEmpty || namespace == "http://schemas.microsoft.com/sip/types"
    }
}

// MARK: decode

extension ContactListDocument: MSRTCDocument {
    /// Root element `contactList`, in no namespace.
    public static let rootName = ContactNames.contactList
    /// Media type `application/vnd-microsoft-roaming-contacts+xml`.
    public static let mediaType = DocumentMediaType("application/vnd-microsoft-roaming-contacts+xml")
    static let rule: StaticString = "MS-SIP 9.1"

    /// Reads `contactList` in no namespace or in that of the schema; requires `deltaNum`.
    public init(reading element: XMLElement) throws(DocumentError) {
        guard ContactNames.isElement(element, "contactList") else {
            throw DocumentError.wrongRoot(element, expected: Self.rootName, rule: "\(Self.rule)")
        }
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(deltaNum: try attributes.requiredUnsigned("deltaNum"), ucsMode: attributes.token("ucsMode"))
        for child in element.children {
            if ContactNames.isElement(child, "group") {
                groups.append(try RoamingGroup(reading: child))
            } else if ContactNames.isElement(child, "contact") {
                contacts.append(try RoamingContact(reading: child))
            }
        }
    }
}

extension RoamingGroup {
    init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: ContactListDocument.rule)
        self.init(
            id: try attributes.requiredUnsigned("id"), name: try attributes.requiredString("name"),
            externalURI: attributes.string("externalURI").flatMap { $0.isEmpty ? nil : $0 })
    }
}

extension RoamingContact {
    init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: ContactListDocument.rule)
        self.init(uri: try attributes.requiredString("uri").trimmed, name: attributes.string("name") ?? "")
        groups = try Self.groups(attributes.string("groups") ?? "", in: element, rule: ContactListDocument.rule)
        isSubscribed = try attributes.boolean("subscribed") ?? true
        externalURI = attributes.string("externalURI").flatMap { $0.isEmpty ? nil : $0 }
        self.extension = element.children.first { $0.localNameEquals("contactExtension") }.map { $0.fragment() }
    }

    /// Parses group ids separated by blanks, 0 to 64 each (MS-SIP 9.1 groupList).
    static func groups(_ text: String, in element: XMLElement, rule: StaticString) throws(DocumentError) -> [UInt32] {
        var groups: [UInt32] = []
        for part in text.utf8.split(whereSeparator: { $0 == 0x20 || $0 == 0x09 || $0 == 0x0A || $0 == 0x0D }) {
            guard let id = UInt32(Substring(part)), id <= 64 else {
                throw element.invalid("groups", value: text, expected: "numbers from 0 to 64 separated by blanks", rule: rule)
            }
            groups.append(id)
        }
        return groups
    }
}

// MARK: encode

extension ContactListDocument {
    /// Writes the `contactList` element, in no namespace.
    public func write(to writer: inout XMLWriter) {
        writer.start("contactList")
        writer.attribute("deltaNum", String(deltaNum))
        writer.attribute("ucsMode", ifPresent: ucsMode)
        for group in groups { group.write("group", to: &writer) }
        for contact in contacts { contact.write("contact", to: &writer) }
        writer.end()
    }
}

extension RoamingGroup {
    func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        writer.attribute("id", String(id))
        writer.attribute("name", self.name)
        writer.attribute("externalURI", externalURI ?? "")
        writer.end()
    }
}

extension RoamingContact {
    func write(_ element: String, to writer: inout XMLWriter) {
        writer.start(element)
        writer.attribute("uri", uri)
        writer.attribute("name", name)
        writer.attribute("groups", groups.map { String($0) }.joined(separator: " "))
        writer.attribute("subscribed", isSubscribed ? "true" : "false")
        writer.attribute("externalURI", externalURI ?? "")
        if let fragment = self.extension { writer.fragment(fragment) }
        writer.end()
    }
}
