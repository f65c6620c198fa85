import PresenceDocuments
import XMLCore

/// Permissions that the transformations of matched rules grant together (RFC 5025 3.3, RFC 4745 10): an empty value grants nothing, and
/// permissions are only added.
public struct PresenceGrants: Hashable, Sendable {
    /// Components of one kind that are provided (RFC 5025 3.3.1).
    public struct Components: Hashable, Sendable {
        /// Whether all components of the kind are provided.
        public var all = false
        /// Selectors of components, any of which is enough.
        public var selectors: Set<ComponentSelector> = []

        public init() {}

        /// Whether no component can be provided.
        public var isEmpty: Bool { !all && selectors.isEmpty }

        mutating func formUnion(_ other: Components) {
            if other.all { all = true }
            if !other.selectors.isEmpty { selectors.formUnion(other.selectors) }
        }

        func isSubset(of other: Components) -> Bool { other.all || (!all && selectors.isSubset(of: other.selectors)) }
    }

    /// Tuples.
    public var services = Components()
    /// Persons.
    public var persons = Components()
    /// Devices.
    package var devices = Components()
    /// Part of `user-input` that is provided (RFC 5025 3.3.2.12).
    public var userInput = UserInputPermission.none
    /// Elements provided by their expanded names (RFC 5025 3.3.2.14).
    package var unknownAttributes: Set<ElementName> = []
    /// Whether all attributes of the provided components are provided (RFC 5025 3.3.2.15).
    package var allAttributes = false
    /// One bit per value of ``PresenceDocuments/PresenceAttribute``.
    private var attributes: UInt32 = 0

    /// Creates grants of nothing: the document without components.
    public init() {}

    /// Grants of all components with all attributes.
    package static let everything: PresenceGrants = {
        var grants = PresenceGrants()
        for component in PresenceComponent.allCases { grants[component].all = true }
        grants.allAttributes = true
        return grants
    }()

    /// Grants of the transformations of one rule; unknown transformations and selectors grant nothing.
    public init(_ transformations: [RuleTransformation]) {
        for transformation in transformations {
            switch transformation {
            case .components(let component, let selection):
                if selection.all { self[component].all = true }
                for member in selection.members {
                    if case .other = member { continue }
                    self[component].selectors.insert(member)
                }
            case .attribute(let attribute, let isProvided): if isProvided { provide(attribute) }
            case .userInput(let permission): userInput = max(userInput, permission)
            case .unknownAttribute(let name, let isProvided): if isProvided { unknownAttributes.insert(name) }
            case .allAttributes: allAttributes = true
            case .other: continue
            }
        }
    }

    /// Components of a kind.
    public subscript(component: PresenceComponent) -> Components {
        get {
            switch component {
            case .services: services
            case .persons: persons
            case .devices: devices
            }
        }
        _modify {
            switch component {
            case .services: yield &services
            case .persons: yield &persons
            case .devices: yield &devices
            }
        }
    }

    /// Whether an attribute is provided inside the provided components.
    public func provides(_ attribute: PresenceAttribute) -> Bool { allAttributes || attributes & attribute.bit != 0 }

    /// Provides an attribute.
    package mutating func provide(_ attribute: PresenceAttribute) { attributes |= attribute.bit }

    /// Adds the permissions of another value: booleans by OR, sets by union, `user-input` by maximum (RFC 4745 10.2).
    package mutating func formUnion(_ other: PresenceGrants) {
        services.formUnion(other.services)
        persons.formUnion(other.persons)
        devices.formUnion(other.devices)
        userInput = max(userInput, other.userInput)
        if !other.unknownAttributes.isEmpty { unknownAttributes.formUnion(other.unknownAttributes) }
        allAttributes = allAttributes || other.allAttributes
        attributes |= other.attributes
    }

    /// Whether another value grants at least as much.
    package func isSubset(of other: PresenceGrants) -> Bool {
        guard services.isSubset(of: other.services), persons.isSubset(of: other.persons), devices.isSubset(of: other.devices) else {
            return false
        }
        if other.allAttributes { return true }
        return !allAttributes && userInput <= other.userInput && unknownAttributes.isSubset(of: other.unknownAttributes)
            && attributes & ~other.attributes == 0
    }
}

extension PresenceAttribute {
    fileprivate var bit: UInt32 {
        // Each case has one bit; the order is only used within the process.
        switch self {
        case .activities: 1
        case .class: 1 << 1
        case .deviceID: 1 << 2
        case .mood: 1 << 3
        case .placeIs: 1 << 4
        case .placeType: 1 << 5
        case .privacy: 1 << 6
        case .relationship: 1 << 7
        case .statusIcon: 1 << 8
        case .sphere: 1 << 9
        case .timeOffset: 1 << 10
        case .note: 1 << 11
        case .willingness: 1 << 12
        case .networkAvailability: 1 << 13
        case .sessionParticipation: 1 << 14
        case .registrationState: 1 << 15
        case .barringState: 1 << 16
        case .geopriv: 1 << 17
        }
    }
}

extension PresenceGrants: CustomStringConvertible {
    /// Elements of RFC 5025 that grant the same, in a fixed order; `nothing` if there are none.
    public var description: String {
        var parts: [String] = []
        for component in PresenceComponent.allCases {
            let components = self[component]
            if components.all {
                parts.append("all-" + component.rawValue)
            } else if !components.isEmpty {
                let selectors = components.selectors.map(\.text).sorted().joined(separator: " ")
                parts.append("\(component.rawValue) (\(selectors))")
            }
        }
        if allAttributes {
            parts.append("all-attributes")
        } else {
            parts += PresenceAttribute.allCases.filter { provides($0) }.map(\.rawValue)
            if userInput != .none { parts.append("user-input \(userInput.rawValue)") }
            parts += unknownAttributes.map { "{\($0.namespace)}\($0.localName)" }.sorted()
        }
        return parts.isEmpty ? "nothing" : parts.joined(separator: ", ")
    }
}

extension ComponentSelector {
    /// Element name and value.
    var text: String {
        switch self {
        case .class(let value): "class=" + value
        case .occurrence(let value): "occurrence-id=" + value
        case .deviceID(let value): "deviceID=" + value
        case .serviceURI(let value): "service-uri=" + value
        case .serviceScheme(let value): "service-uri-scheme=" + value
        case .serviceID(let value): "service-id=" + value
        case .other(let fragment): fragment.localName
        }
    }
}
