import XMLCore

// RFC 5025, Presence Authorization Rules: actions and transformations, with those of OMA Presence XDM
// namespaces urn:ietf:params:xml:ns:pres-rules and urn:oma:xml:prs:pres-rules, inside the ruleset of RFC 4745

/// Value of `sub-handling` (RFC 5025 3.2.1), ordered by what it grants.
public enum SubscriptionHandling: Int, Hashable, Comparable, Sendable, CaseIterable, CustomStringConvertible {
    /// The subscription is refused.
    case block = 0
    /// The subscription is pending until the presentity decides.
    case confirm = 10
    /// The subscription is accepted and shows a presentity that is offline.
    case politeBlock = 20
    /// The subscription is accepted and shows what the transformations grant.
    case allow = 30

    /// Name as spelled in documents.
    public var name: String {
        switch self {
        case .block: "block"
        case .confirm: "confirm"
        case .politeBlock: "polite-block"
        case .allow: "allow"
        }
    }

    /// Finds the value with that name; nil for any other name.
    public init?(name: String) {
        guard let value = Self.allCases.first(where: { $0.name == name }) else { return nil }
        self = value
    }

    public var description: String { name }
    public static func < (left: SubscriptionHandling, right: SubscriptionHandling) -> Bool { left.rawValue < right.rawValue }
}

/// Transformation of a rule (RFC 5025 3.3).
public enum RuleTransformation: Hashable, Sendable {
    /// Element `provide-services`, `provide-persons` or `provide-devices` (RFC 5025 3.3.1).
    case components(PresenceComponent, ComponentSelection)
    /// Boolean permission for one presence attribute (RFC 5025 3.3.2).
    case attribute(PresenceAttribute, Bool)
    /// Element `provide-user-input` (RFC 5025 3.3.2).
    case userInput(UserInputPermission)
    /// Element `provide-unknown-attribute`: permission for an element by its expanded name (RFC 5025 3.3.2).
    case unknownAttribute(ElementName, Bool)
    /// Element `provide-all-attributes` (RFC 5025 3.3.2).
    case allAttributes
    /// Unknown transformation; kept and written again.
    case other(XMLFragment)
}

/// Kind of component of a presence document (RFC 4479 3).
public enum PresenceComponent: String, Hashable, Sendable, CaseIterable {
    /// Tuples.
    case services
    /// Persons.
    case persons
    /// Devices.
    case devices
}

/// Components that a rule provides: all of a kind, or those that a member selects (RFC 5025 3.3.1).
public struct ComponentSelection: Hashable, Sendable {
    /// Whether all components of the kind are provided.
    public var all: Bool
    /// Selectors of components in document order.
    public var members: [ComponentSelector]

    public init(all: Bool = false, members: [ComponentSelector] = []) {
        self.all = all
        self.members = members
    }
}

/// Selector of components; values are compared with case (RFC 5025 3.3.1).
public enum ComponentSelector: Hashable, Sendable {
    /// Element `class`: components with that RPID class.
    case `class`(String)
    /// Element `occurrence-id`: the component with that id.
    case occurrence(String)
    /// Element `deviceID`: devices with that URI.
    case deviceID(String)
    /// Element `service-uri`: tuples with that contact.
    case serviceURI(String)
    /// Element `service-uri-scheme`: tuples with a contact of that scheme.
    case serviceScheme(String)
    /// Element `service-id` of OMA: tuples with that service description.
    case serviceID(String)
    /// Unknown selector, which selects nothing.
    case other(XMLFragment)
}

/// Presence attribute with a boolean permission (RFC 5025 3.3.2, OMA Presence XDM).
public enum PresenceAttribute: String, Hashable, Sendable, CaseIterable {
    case activities
    case `class`
    case deviceID
    case mood
    case placeIs = "place-is"
    case placeType = "place-type"
    case privacy
    case relationship
    case statusIcon = "status-icon"
    case sphere
    case timeOffset = "time-offset"
    case note
    case willingness
    case networkAvailability = "network-availability"
    case sessionParticipation = "session-participation"
    case registrationState = "registration-state"
    case barringState = "barring-state"
    /// Location; its permission has the values `false` and `full`.
    case geopriv

    /// Whether the permission is in the namespace of OMA.
    public var isOMA: Bool {
        switch self {
        case .willingness, .networkAvailability, .sessionParticipation, .registrationState, .barringState, .geopriv: true
        default: false
        }
    }

    /// Local name of the permission, such as `provide-mood`.
    public var permissionName: String { "provide-" + rawValue }
}

/// Value of `provide-user-input`, ordered by what it grants (RFC 5025 3.3.2).
public enum UserInputPermission: String, Hashable, Comparable, Sendable, CaseIterable {
    /// The element is removed.
    case none = "false"
    /// The element is provided without attributes.
    case bare
    /// The element is provided with its idle threshold.
    case thresholds
    /// The element is provided as it is.
    case full

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
    public static func < (left: UserInputPermission, right: UserInputPermission) -> Bool { left.rank < right.rank }
}

/// Expanded name of an element as text, for names that documents choose.
public struct ElementName: Hashable, Sendable {
    /// Namespace name; empty for none.
    public var namespace: String
    /// Local name, without prefix.
    public var localName: String

    public init(namespace: String, localName: String) {
        self.namespace = namespace
        self.localName = localName
    }
}

/// Names of RFC 5025 and of the OMA transformations.
enum PresenceRulesName {
    static let subHandling = XMLName("sub-handling", in: .presenceRules)
    static let provideServices = XMLName("provide-services", in: .presenceRules)
    static let providePersons = XMLName("provide-persons", in: .presenceRules)
    static let provideDevices = XMLName("provide-devices", in: .presenceRules)
    static let allServices = XMLName("all-services", in: .presenceRules)
    static let allPersons = XMLName("all-persons", in: .presenceRules)
    static let allDevices = XMLName("all-devices", in: .presenceRules)
    static let `class` = XMLName("class", in: .presenceRules)
    static let occurrenceID = XMLName("occurrence-id", in: .presenceRules)
    static let deviceID = XMLName("deviceID", in: .presenceRules)
    static let serviceURI = XMLName("service-uri", in: .presenceRules)
    static let serviceURIScheme = XMLName("service-uri-scheme", in: .presenceRules)
    static let serviceID = XMLName("service-id", in: .omaPresenceRules)
    static let provideUserInput = XMLName("provide-user-input", in: .presenceRules)
    static let provideUnknownAttribute = XMLName("provide-unknown-attribute", in: .presenceRules)
    static let provideAllAttributes = XMLName("provide-all-attributes", in: .presenceRules)
    /// Boolean permissions, and that of `geopriv`.
    static let attributes: [(name: XMLName, attribute: PresenceAttribute)] = PresenceAttribute.allCases.map {
        (XMLName($0.permissionName, in: $0.isOMA ? .omaPresenceRules : .presenceRules), $0)
    }
}
