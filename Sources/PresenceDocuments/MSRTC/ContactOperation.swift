// MS-SIP 2.2.4.2, 9.2 to 9.5: the SOAP requests that change a contact list, and their answers.

import XMLCore

/// Change of the contact list requested by a client (MS-SIP 2.2.4.2).
public struct ContactOperation: Hashable, Sendable {
    /// Kind of change.
    public enum Kind: Hashable, Sendable {
        /// Adds the contact, or replaces the one with that URI.
        case setContact(RoamingContact)
        case deleteContact(uri: String)
        case addGroup(name: String, externalURI: String?)
        case modifyGroup(RoamingGroup)
        case deleteGroup(id: UInt32)
    }

    /// Kind of change, with its values.
    public var kind: Kind
    /// Version that the client believes to be current; nil only in `deleteContact`, which has none in its schema (MS-SIP 9.4).
    public var deltaNum: UInt32?

    public init(_ kind: Kind, deltaNum: UInt32?) {
        self.kind = kind
        self.deltaNum = deltaNum
    }

    static let rule: StaticString = "MS-SIP 9"

    /// Reads the operation of an envelope.
    /// - Returns: nil for another operation, such as a directory search.
    public init?(reading element: XMLElement) throws(DocumentError) {
        guard element.isIn(.msSIPOperations) else { return nil }
        let reader = OperationReader(element, rule: Self.rule)
        func externalURI() -> String? { reader.string("externalURI").flatMap { $0.isEmpty ? nil : $0 } }
        switch element.localName {
        case "setContact":
            var contact = RoamingContact(uri: try reader.requiredString("URI"))
            contact.name = reader.string("displayName") ?? ""
            contact.groups = try RoamingContact.groups(reader.string("groups") ?? "", in: element, rule: Self.rule)
            contact.isSubscribed = try reader.boolean("subscribed") ?? true
            contact.externalURI = externalURI()
            contact.extension = try Self.contactExtension(reader)
            self.init(.setContact(contact), deltaNum: try reader.requiredUnsigned("deltaNum"))
        case "deleteContact":
            self.init(.deleteContact(uri: try reader.requiredString("URI")), deltaNum: try reader.unsigned("deltaNum"))
        case "addGroup":
            self.init(
                .addGroup(name: try reader.requiredString("name"), externalURI: externalURI()),
                deltaNum: try reader.requiredUnsigned("deltaNum"))
        case "modifyGroup":
            self.init(
                .modifyGroup(
                    RoamingGroup(
                        id: try reader.requiredUnsigned("groupID"), name: try reader.requiredString("name"), externalURI: externalURI())),
                deltaNum: try reader.requiredUnsigned("deltaNum"))
        case "deleteGroup":
            self.init(.deleteGroup(id: try reader.requiredUnsigned("groupID")), deltaNum: try reader.requiredUnsigned("deltaNum"))
        default: return nil
        }
    }

    /// Extension in no namespace, as in lists, whatever its prefix in the request.
    private static func contactExtension(_ reader: OperationReader) throws(DocumentError) -> XMLFragment? {
        guard let element = reader.child("contactExtension"), !element.isLeaf || !element.trimmedText.isEmpty else { return nil }
        var writer = XMLWriter(declaration: false, capacity: 256)
        writer.start("contactExtension")
        for child in element.children { writer.fragment(child.fragment()) }
        if element.isLeaf { writer.text(element.trimmedText) }
        writer.end()
        do { return try XMLFragment(parsing: writer.finish()) } catch { throw DocumentError(error) }
    }

    /// Request as a SOAP envelope.
    public func encoded() -> [UInt8] {
        SOAPEnvelope.encode { writer in
            switch kind {
            case .setContact(let contact):
                writer.start("m:setContact")
                writer.element("m:displayName", contact.name)
                writer.element("m:groups", contact.groups.map { String($0) }.joined(separator: " "))
                writer.element("m:subscribed", contact.isSubscribed ? "true" : "false")
                writer.element("m:URI", contact.uri)
                writer.element("m:externalURI", contact.externalURI ?? "")
            case .deleteContact(let uri):
                writer.start("m:deleteContact")
                writer.element("m:URI", uri)
            case .addGroup(let name, let externalURI):
                writer.start("m:addGroup")
                writer.element("m:name", name)
                writer.element("m:externalURI", externalURI ?? "")
            case .modifyGroup(let group):
                writer.start("m:modifyGroup")
                writer.element("m:groupID", String(group.id))
                writer.element("m:name", group.name)
                writer.element("m:externalURI", group.externalURI ?? "")
            case .deleteGroup(let id):
                writer.start("m:deleteGroup")
                writer.element("m:groupID", String(id))
            }
            if let deltaNum { writer.element("m:deltaNum", String(deltaNum)) }
            if case .setContact(let contact) = kind, let fragment = contact.extension { writer.fragment(fragment) }
            writer.end()
        }
    }

    /// Answer to `addGroup`, with the number of the new group (MS-SIP 4.8).
    public static func addGroupAnswer(groupID: UInt32) -> [UInt8] {
        SOAPEnvelope.encode { writer in
            writer.start("m:addGroup")
            writer.element("m:groupID", String(groupID))
            writer.end()
        }
    }
}
