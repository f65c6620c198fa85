import XMLCore

// xpidf, the format of an expired draft that old watchers request
// no namespace, media type application/xpidf+xml

/// Document of xpidf: one presentity, and atoms that hold addresses with a status each.
public struct XPIDFDocument: Hashable, Sendable {
    /// Presentity URI, usually with `;method=SUBSCRIBE` at its end.
    public var presentity: String
    /// Display name; nil when absent.
    public var displayName: String?
    /// Atoms in document order.
    public var atoms: [XPIDFAtom] = []

    public init(presentity: String) { self.presentity = presentity }

    /// ``presentity`` without its URI parameters.
    public var entity: String { String(presentity.prefix { $0 != ";" }) }
}

/// Atom of xpidf: a group of addresses.
public struct XPIDFAtom: Hashable, Sendable {
    /// Id, from `id` or `atomid`; nil when absent.
    public var id: String?
    /// Time at which the atom expires (MS-SIP 7); written as seconds since 1970.
    public var expires: DateTime?
    /// Addresses in document order.
    public var addresses: [XPIDFAddress] = []

    public init(id: String? = nil, expires: DateTime? = nil, addresses: [XPIDFAddress] = []) {
        self.id = id
        self.expires = expires
        self.addresses = addresses
    }
}

/// Address of xpidf with its status.
public struct XPIDFAddress: Hashable, Sendable {
    /// URI of the address.
    public var uri: String
    /// Priority in thousandths, 0 to 1000; nil when absent.
    public var priority: Int?
    /// Status; nil when absent.
    public var status: XPIDFStatus?
    /// Detailed status (MS-SIP 2.2.2); nil when absent.
    public var substatus: XPIDFSubstatus?
    /// Note for people; nil when absent.
    public var note: String?

    public init(uri: String, status: XPIDFStatus? = nil, substatus: XPIDFSubstatus? = nil) {
        self.uri = uri
        self.status = status
        self.substatus = substatus
    }
}

/// Status of an xpidf address; other tokens are kept.
public struct XPIDFStatus: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    public static let open = XPIDFStatus("open")
    public static let closed = XPIDFStatus("closed")
    public static let inUse = XPIDFStatus("inuse")
    public static let inactive = XPIDFStatus("inactive")
    /// Values that the standard registers.
    public static let registered: [XPIDFStatus] = [.open, .closed, .inUse, .inactive]
}

/// Detailed status of an xpidf address, `msnsubstatus` (MS-SIP 2.2.2).
public struct XPIDFSubstatus: PresenceToken {
    /// Name as spelled in documents.
    public let name: String
    /// Wraps a name; names that are not listed here are kept.
    public init(_ name: String) { self.name = name }

    public static let online = XPIDFSubstatus("online")
    public static let away = XPIDFSubstatus("away")
    public static let idle = XPIDFSubstatus("idle")
    public static let busy = XPIDFSubstatus("busy")
    public static let beRightBack = XPIDFSubstatus("berightback")
    public static let onThePhone = XPIDFSubstatus("onthephone")
    public static let outToLunch = XPIDFSubstatus("outtolunch")
    public static let hide = XPIDFSubstatus("hide")
    /// Values that the standard registers.
    public static let registered: [XPIDFSubstatus] = [
        .online, .away, .idle, .busy, .beRightBack, .onThePhone, .outToLunch, .hide, XPIDFSubstatus("unknown"),
    ]
}

/// Names of xpidf, in no namespace as old senders write them.
enum XPIDFName {
    static let presence = XMLName("presence")
    static let presentity = XMLName("presentity")
    static let display = XMLName("display")
    static let atom = XMLName("atom")
    static let address = XMLName("address")
    static let status = XMLName("status")
    static let substatus = XMLName("msnsubstatus")
    static let note = XMLName("note")
    static let rule = "xpidf"
}

extension XPIDFDocument: PresenceDocument {
    /// Standard limits; a DOCTYPE line is common and is skipped.
    public static var limits: XMLLimits { .skippingDoctype }

    /// Reads a `presence` element; requires `presentity` with `uri`, and `uri` of each address.
    public init(_ root: XMLElement) throws(DocumentError) {
        guard root.is(XPIDFName.presence) else { throw .wrongRoot(root, expected: XPIDFName.presence, rule: XPIDFName.rule) }
        guard let presentity = root.first(XPIDFName.presentity) else { throw .missing("presentity", in: root, rule: XPIDFName.rule) }
        self.init(presentity: try presentity.required("uri", rule: XPIDFName.rule))
        displayName = root.first(XPIDFName.display)?.attribute("name")
        for element in root.children where element.is(XPIDFName.atom) {
            var atom = XPIDFAtom(id: element.attribute("id") ?? element.attribute("atomid"))
            if let seconds = try element.integer("expires", in: 0...4_294_967_295, rule: XPIDFName.rule) {
                atom.expires = DateTime(nanosecondsSince1970: Int64(seconds) * 1_000_000_000)
            }
            for child in element.children where child.is(XPIDFName.address) { atom.addresses.append(try XPIDFAddress(child)) }
            atoms.append(atom)
        }
    }

    /// Encodes the document, without DOCTYPE.
    public func encode() -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        writer.start("presence")
        writer.start("presentity")
        writer.attribute("uri", presentity)
        writer.end()
        if let displayName {
            writer.start("display")
            writer.attribute("name", displayName)
            writer.end()
        }
        for atom in atoms {
            writer.start("atom")
            writer.attribute("id", ifPresent: atom.id)
            writer.attribute("expires", ifPresent: atom.expires.map { String($0.nanosecondsSince1970 / 1_000_000_000) })
            for address in atom.addresses { address.write(to: &writer) }
            writer.end()
        }
        return writer.finish()
    }
}

extension XPIDFAddress {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init(uri: try element.required("uri", rule: XPIDFName.rule))
        if let priority = element.withAttribute("priority", { Decimal.thousandths($0) }) {
            guard let priority else {
                throw .invalid("attribute priority", element.attribute("priority") ?? "", in: element, rule: XPIDFName.rule)
            }
            self.priority = priority
        }
        for child in element.children {
            switch child {
            case XPIDFName.status: status = XPIDFStatus(try child.required("status", rule: XPIDFName.rule))
            case XPIDFName.substatus: substatus = child.attribute("substatus").map { XPIDFSubstatus($0.trimmed) }
            case XPIDFName.note: note = child.trimmedText
            default: continue
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("address")
        writer.attribute("uri", uri)
        writer.attribute("priority", ifPresent: priority.map { Decimal.text(thousandths: $0) })
        if let status {
            writer.start("status")
            writer.attribute("status", status.name)
            writer.end()
        }
        if let substatus {
            writer.start("msnsubstatus")
            writer.attribute("substatus", substatus.name)
            writer.end()
        }
        if let note { writer.element("note", note) }
        writer.end()
    }
}
