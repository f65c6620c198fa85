import XMLCore

// RFC 4482, CIPID: Contact Information for PIDF
// namespace urn:ietf:params:xml:ns:pidf:cipid, inside PIDF

/// Contact information of a person, tuple or, in old documents, of the presence element (RFC 4482 3).
public struct CIPID: Hashable, Sendable {
    /// URI of a business card.
    public var card: String?
    public var displayName: String?
    public var homepage: String?
    public var icon: String?
    public var map: String?
    public var sound: String?

    public init(displayName: String? = nil) { self.displayName = displayName }

    public var isEmpty: Bool { self == CIPID() }
}

/// Names of RFC 4482.
enum CIPIDName {
    static let card = XMLName("card", in: .cipid)
    static let displayName = XMLName("display-name", in: .cipid)
    static let homepage = XMLName("homepage", in: .cipid)
    static let icon = XMLName("icon", in: .cipid)
    static let map = XMLName("map", in: .cipid)
    static let sound = XMLName("sound", in: .cipid)
}

extension CIPID {
    /// Takes an element in when it is CIPID's and not there yet.
    mutating func read(_ element: XMLElement) throws(DocumentError) -> Bool {
        guard element.isIn(.cipid) else { return false }
        let place: WritableKeyPath<CIPID, String?>
        switch element {
        case CIPIDName.displayName: place = \.displayName
        case CIPIDName.card: place = \.card
        case CIPIDName.homepage: place = \.homepage
        case CIPIDName.icon: place = \.icon
        case CIPIDName.map: place = \.map
        case CIPIDName.sound: place = \.sound
        default: return false
        }
        if self[keyPath: place] != nil { return false }
        self[keyPath: place] = element.trimmedText
        return true
    }

    /// Writes every element with the prefix `ci`, which must be declared.
    func write(to writer: inout XMLWriter) {
        if let card { writer.element("ci:card", card) }
        if let displayName { writer.element("ci:display-name", displayName) }
        if let homepage { writer.element("ci:homepage", homepage) }
        if let icon { writer.element("ci:icon", icon) }
        if let map { writer.element("ci:map", map) }
        if let sound { writer.element("ci:sound", sound) }
    }
}

extension XMLElement {
    /// Offers the element to both vocabularies that persons, tuples and devices share.
    func read(into rpid: inout RPID, _ cipid: inout CIPID) throws(DocumentError) -> Bool {
        if try rpid.read(self) { return true }
        return try cipid.read(self)
    }
}
