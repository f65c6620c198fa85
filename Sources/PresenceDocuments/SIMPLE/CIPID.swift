import XMLCore

// RFC 4482, CIPID: Contact Information for PIDF
// namespace urn:ietf:params:xml:ns:pidf:cipid, inside PIDF

/// Contact information of a person, tuple or, in old documents, of the presence element (RFC 4482 3).
public struct CIPID: Hashable, Sendable {
    /// Single reference to all values; nil for an element without CIPID.
    private var box: Box?

    /// Creates CIPID with a display name only, or empty.
    public init(displayName: String? = nil) {
        if let displayName { self.displayName = displayName }
    }

    /// Whether there are no elements.
    public var isEmpty: Bool { box.map { $0.values == Values() } ?? true }

    /// URI of a business card; nil when absent.
    public var card: String? {
        get { box?.values.card }
        set { change { $0.card = newValue } }
    }
    /// Display name; nil when absent.
    public var displayName: String? {
        get { box?.values.displayName }
        set { change { $0.displayName = newValue } }
    }
    /// URI of a home page; nil when absent.
    public var homepage: String? {
        get { box?.values.homepage }
        set { change { $0.homepage = newValue } }
    }
    /// URI of an icon; nil when absent.
    public var icon: String? {
        get { box?.values.icon }
        set { change { $0.icon = newValue } }
    }
    /// URI of a map; nil when absent.
    public var map: String? {
        get { box?.values.map }
        set { change { $0.map = newValue } }
    }
    /// URI of a sound; nil when absent.
    public var sound: String? {
        get { box?.values.sound }
        set { change { $0.sound = newValue } }
    }

    public static func == (left: CIPID, right: CIPID) -> Bool {
        left.box === right.box || (left.box?.values ?? Values()) == (right.box?.values ?? Values())
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(box?.values ?? Values()) }

    private mutating func change(_ body: (inout Values) -> Void) {
        var values = box?.values ?? Values()
        body(&values)
        box = Box(values)
    }

    private struct Values: Hashable, Sendable {
        var card: String?
        var displayName: String?
        var homepage: String?
        var icon: String?
        var map: String?
        var sound: String?
    }

    private final class Box: Sendable {
        let values: Values
        init(_ values: Values) { self.values = values }
    }
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
    /// Reads an element of CIPID unless its value is present; false if the element was not used.
    mutating func read(_ element: XMLElement) throws(DocumentError) -> Bool {
        guard element.isIn(.cipid) else { return false }
        var values = box?.values ?? Values()
        func take(_ place: inout String?) -> Bool {
            if place != nil { return false }
            place = element.trimmedText
            return true
        }
        let isNew: Bool
        switch element {
        case CIPIDName.displayName: isNew = take(&values.displayName)
        case CIPIDName.card: isNew = take(&values.card)
        case CIPIDName.homepage: isNew = take(&values.homepage)
        case CIPIDName.icon: isNew = take(&values.icon)
        case CIPIDName.map: isNew = take(&values.map)
        case CIPIDName.sound: isNew = take(&values.sound)
        default: return false
        }
        if isNew { box = Box(values) }
        return isNew
    }

    /// Writes the elements with the prefix `ci`, which must be declared.
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
    /// Offers the element to both vocabularies that persons, tuples and devices share; false if neither used it.
    func read(into rpid: inout RPID, _ cipid: inout CIPID) throws(DocumentError) -> Bool {
        if try rpid.read(self) { return true }
        return try cipid.read(self)
    }
}
