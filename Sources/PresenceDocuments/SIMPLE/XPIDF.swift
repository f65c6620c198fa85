import XMLCore

// xpidf, the format of an expired draft that old watchers ask for
// no namespace, media type application/xpidf+xml

/// An xpidf document: one presentity and its atoms, which hold addresses with a status each.
public struct XPIDFDocument: Hashable, Sendable {
    /// Usually with `;method=SUBSCRIBE` at its end.
    public var presentity: String
    public var displayName: String?
    public var atoms: [XPIDFAtom] = []

    public init(presentity: String) { self.presentity = presentity }

    /// ``presentity`` without its URI parameters.
    public var entity: String { String(presentity.prefix { $0 != ";" }) }
}

public struct XPIDFAtom: Hashable, Sendable {
    public var id: String?
    public var addresses: [XPIDFAddress] = []

    public init(id: String? = nil, addresses: [XPIDFAddress] = []) {
        self.id = id
        self.addresses = addresses
    }
}

public struct XPIDFAddress: Hashable, Sendable {
    public var uri: String
    /// Thousandths, 0 to 1000.
    public var priority: Int?
    public var status: XPIDFStatus?
    public var substatus: XPIDFSubstatus?
    public var note: String?

    public init(uri: String, status: XPIDFStatus? = nil, substatus: XPIDFSubstatus? = nil) {
        self.uri = uri
        self.status = status
        self.substatus = substatus
    }
}

public struct XPIDFStatus: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let open = XPIDFStatus("open")
    public static let closed = XPIDFStatus("closed")
    public static let inUse = XPIDFStatus("inuse")
    public static let inactive = XPIDFStatus("inactive")
    public static let registered: [XPIDFStatus] = [.open, .closed, .inUse, .inactive]
}

/// The msnsubstatus of MS-SIP 2.2.2.
public struct XPIDFSubstatus: PresenceToken {
    public let name: String
    public init(_ name: String) { self.name = name }

    public static let online = XPIDFSubstatus("online")
    public static let away = XPIDFSubstatus("away")
    public static let idle = XPIDFSubstatus("idle")
    public static let busy = XPIDFSubstatus("busy")
    public static let beRightBack = XPIDFSubstatus("berightback")
    public static let onThePhone = XPIDFSubstatus("onthephone")
    public static let outToLunch = XPIDFSubstatus("outtolunch")
    public static let hide = XPIDFSubstatus("hide")
    public static let registered: [XPIDFSubstatus] = [
        .online, .away, .idle, .busy, .beRightBack, .onThePhone, .outToLunch, .hide, XPIDFSubstatus("unknown"),
    ]
}
