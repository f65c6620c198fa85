// MS-SIP 2.2.4.1 and 9.1, MS-PRES 10: one change of a contact list, as notifications carry it.

import XMLCore

/// Change of a contact list (MS-SIP 2.2.4.1).
public enum ContactChange: Hashable, Sendable {
    case addedGroup(RoamingGroup)
    case modifiedGroup(RoamingGroup)
    case deletedGroup(id: UInt32)
    case addedContact(RoamingContact)
    case modifiedContact(RoamingContact)
    case deletedContact(uri: String)
}

/// Change of a contact list with the versions before and after (MS-SIP 9.1 `contactDelta`).
public struct ContactDeltaDocument: Hashable, Sendable {
    /// Version after the change.
    public var deltaNum: UInt32
    /// Version before the change.
    public var previousDeltaNum: UInt32
    /// Location of the contact list; written only to clients that support the unified contact store (MS-PRES 10).
    public var ucsMode: UCSMode?
    /// The one change of the document.
    public var change: ContactChange

    public init(deltaNum: UInt32, previousDeltaNum: UInt32, ucsMode: UCSMode? = nil, change: ContactChange) {
        self.deltaNum = deltaNum
        self.previousDeltaNum = previousDeltaNum
        self.ucsMode = ucsMode
        self.change = change
    }
}

// MARK: decode

extension ContactDeltaDocument: MSRTCDocument {
    /// Root element `contactDelta`, in no namespace.
    public static let rootName = ContactNames.contactDelta
    /// Same media type as that of ``ContactListDocument``.
    public static let mediaType = ContactListDocument.mediaType
    static let rule: StaticString = "MS-SIP 9.1"

    /// Reads `contactDelta` in no namespace or in that of the schema; requires exactly one change.
    public init(reading element: XMLElement) throws(DocumentError) {
        guard ContactNames.isElement(element, "contactDelta") else {
            throw DocumentError.wrongRoot(element, expected: Self.rootName, rule: "\(Self.rule)")
        }
        var attributes = AttributeReader(element, rule: Self.rule)
        let deltaNum = try attributes.requiredUnsigned("deltaNum")
        let previous = try attributes.requiredUnsigned("prevDeltaNum")
        let mode: UCSMode? = attributes.token("ucsMode")
        var changes: [ContactChange] = []
        for child in element.children {
            if let change = try ContactChange(reading: child) { changes.append(change) }
        }
        guard let change = changes.first else { throw element.missing(element: "change", rule: Self.rule) }
        guard changes.count == 1 else {
            throw element.invalid("the number of changes", value: String(changes.count), expected: "1", rule: Self.rule)
        }
        self.init(deltaNum: deltaNum, previousDeltaNum: previous, ucsMode: mode, change: change)
    }
}

extension ContactChange {
    /// nil for an element that is not a change.
    fileprivate init?(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: ContactDeltaDocument.rule)
        switch element.localName {
        case "addedGroup": self = .addedGroup(try RoamingGroup(reading: element))
        case "modifiedGroup": self = .modifiedGroup(try RoamingGroup(reading: element))
        case "deletedGroup": self = .deletedGroup(id: try attributes.requiredUnsigned("id"))
        case "addedContact": self = .addedContact(try RoamingContact(reading: element))
        case "modifiedContact": self = .modifiedContact(try RoamingContact(reading: element))
        case "deletedContact": self = .deletedContact(uri: try attributes.requiredString("uri").trimmed)
        default: return nil
        }
    }
}

// MARK: encode

extension ContactDeltaDocument {
    /// Writes the `contactDelta` element, in no namespace.
    public func write(to writer: inout XMLWriter) {
        writer.start("contactDelta")
        writer.attribute("deltaNum", String(deltaNum))
        writer.attribute("prevDeltaNum", String(previousDeltaNum))
        writer.attribute("ucsMode", ifPresent: ucsMode)
        switch change {
        case .addedGroup(let group): group.write("addedGroup", to: &writer)
        case .modifiedGroup(let group): group.write("modifiedGroup", to: &writer)
        case .deletedGroup(let id):
            writer.start("deletedGroup")
            writer.attribute("id", String(id))
            writer.end()
        case .addedContact(let contact): contact.write("addedContact", to: &writer)
        case .modifiedContact(let contact): contact.write("modifiedContact", to: &writer)
        case .deletedContact(let uri):
            writer.start("deletedContact")
            writer.attribute("uri", uri)
            writer.end()
        }
        writer.end()
    }
}
