// MS-SIP 2.2.3 and 8: access control for presence and calls in the 2005 model.

import XMLCore

/// Entry of an access control list (MS-SIP 2.2.3).
public struct AccessControlEntry: Hashable, Sendable {
    /// Users to which an entry applies.
    public enum Scope: String, Hashable, Sendable {
        /// All users; there is no mask.
        case all = "ALL"
        /// A domain and its subdomains.
        case domain = "DOMAIN"
        case user = "USER"
    }

    /// Users to which the entry applies.
    public var scope: Scope
    /// URI or domain, as written; empty for ``Scope/all``.
    public var mask: String
    /// Two letters: access to presence (A, P, D or B), then access to calls (A or D).
    public var rights: String

    /// Creates an entry; by default with the rights `AA`.
    public init(scope: Scope, mask: String, rights: String = "AA") {
        self.scope = scope
        self.mask = mask
        self.rights = rights
    }

    /// Whether the text is `(A|P|D|B)(A|D)` (MS-SIP 8).
    public static func isRights(_ text: String) -> Bool {
        let letters = Array(text.utf8)
        return letters.count == 2 && "APDB".utf8.contains(letters[0]) && "AD".utf8.contains(letters[1])
    }
}

/// Access control list of a user (MS-SIP 8 `ACLlist`), in no namespace as in all printed messages.
public struct AccessControlListDocument: Hashable, Sendable {
    /// Version of the list; not 0 by MS-SIP 2.2.3, which is not checked here.
    public var deltaNum: UInt32
    /// Entries in document order.
    public var entries: [AccessControlEntry]

    /// Creates a list; by default without entries.
    public init(deltaNum: UInt32, entries: [AccessControlEntry] = []) {
        self.deltaNum = deltaNum
        self.entries = entries
    }
}

/// Request to set one entry (MS-SIP 4.10).
public struct SetACEOperation: Hashable, Sendable {
    /// Entry to set.
    public var entry: AccessControlEntry
    /// Version that the client believes to be current.
    public var deltaNum: UInt32

    public init(entry: AccessControlEntry, deltaNum: UInt32) {
        self.entry = entry
        self.deltaNum = deltaNum
    }

    /// Reads the operation of an envelope; nil if it is another one.
    public init?(reading element: XMLElement) throws(DocumentError) {
        guard element.isIn(.msSIPOperations), element.localNameEquals("setACE") else { return nil }
        let reader = OperationReader(element, rule: AccessControlListDocument.rule)
        let scope = try AccessControlEntry.scope(try reader.requiredString("type"), in: element)
        let mask = reader.string("mask") ?? ""
        if scope != .all, mask.isEmpty { throw element.missing(element: "mask", rule: AccessControlListDocument.rule) }
        let rights = try AccessControlEntry.rights(try reader.requiredString("rights"), in: element)
        self.init(entry: AccessControlEntry(scope: scope, mask: mask, rights: rights), deltaNum: try reader.requiredUnsigned("deltaNum"))
    }

    /// Request as a SOAP envelope.
    public func encoded() -> [UInt8] {
        SOAPEnvelope.encode { writer in
            writer.start("m:setACE")
            writer.element("m:type", entry.scope.rawValue)
            writer.element("m:mask", entry.mask)
            writer.element("m:rights", entry.rights)
            writer.element("m:deltaNum", String(deltaNum))
            writer.end()
        }
    }
}

// MARK: decode

extension AccessControlListDocument: MSRTCDocument {
    /// Root element `ACLlist`, in no namespace.
    public static let rootName = XMLName("ACLlist")
    /// Media type `application/vnd-microsoft-roaming-acls+xml`.
    public static let mediaType = DocumentMediaType("application/vnd-microsoft-roaming-acls+xml")
    static let rule: StaticString = "MS-SIP 8"

    /// Reads `ACLlist` in any namespace, with the entries in `userACL` (MS-SIP 8) or directly below it, as an old server wrote
    /// them.
    public init(reading element: XMLElement) throws(DocumentError) {
        guard element.localNameEquals("ACLlist") else {
            throw DocumentError.wrongRoot(element, expected: Self.rootName, rule: "\(Self.rule)")
        }
        var attributes = AttributeReader(element, rule: Self.rule)
        self.init(deltaNum: try attributes.requiredUnsigned("deltaNum"))
        for child in element.children {
            if child.localNameEquals("userACL") {
                for entry in child.children where entry.localNameEquals("ace") { entries.append(try AccessControlEntry(reading: entry)) }
            } else if child.localNameEquals("ACE") || child.localNameEquals("ace") {
                entries.append(try AccessControlEntry(reading: child))
            }
        }
    }
}

extension AccessControlEntry {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: AccessControlListDocument.rule)
        let scope = try Self.scope(try attributes.requiredString("type"), in: element)
        self.init(
            scope: scope, mask: scope == .all ? "" : try attributes.requiredString("mask"),
            rights: try Self.rights(attributes.string("rights") ?? "AA", in: element))
    }

    fileprivate static func scope(_ text: String, in element: XMLElement) throws(DocumentError) -> Scope {
        guard let scope = Scope(rawValue: text.uppercased()) else {
            throw element.invalid("type", value: text, expected: "ALL, DOMAIN or USER", rule: AccessControlListDocument.rule)
        }
        return scope
    }

    fileprivate static func rights(_ text: String, in element: XMLElement) throws(DocumentError) -> String {
        guard isRights(text) else {
            throw element.invalid("rights", value: text, expected: "A, P, D or B followed by A or D", rule: AccessControlListDocument.rule)
        }
        return text
    }
}

// MARK: encode

extension AccessControlListDocument {
    /// Writes the `ACLlist` element, in no namespace.
    public func write(to writer: inout XMLWriter) {
        writer.start("ACLlist")
        writer.attribute("deltaNum", String(deltaNum))
        writer.start("userACL")
        for entry in entries {
            writer.start("ace")
            writer.attribute("type", entry.scope.rawValue)
            if entry.scope != .all { writer.attribute("mask", entry.mask) }
            writer.attribute("rights", entry.rights)
            writer.end()
        }
        writer.end()
        writer.end()
    }
}
