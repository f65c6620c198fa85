import PresenceDocuments
import SIPCore
import XMLCore

/// Permissions for the elements of RPID (RFC 5025 3.3.2.1 to 3.3.2.13).
extension PresenceGrants {
    /// The granted elements of RPID. Those with a permission pass whole, without their notes unless notes are provided.
    func view(of rpid: RPID, in component: PresenceComponent) -> RPID {
        if allAttributes || rpid.isEmpty { return rpid }
        var view = RPID()
        if provides(.activities), !rpid.activities.isEmpty { view.activities = rpid.activities.compactMap(withoutNotes) }
        if provides(.class), !rpid.classes.isEmpty { view.classes = rpid.classes }
        if provides(.mood), !rpid.moods.isEmpty { view.moods = rpid.moods.compactMap(withoutNotes) }
        if provides(.placeIs), !rpid.placeIs.isEmpty {
            view.placeIs = rpid.placeIs.map { element in
                var element = element
                if !provides(.note) { element.info.notes = [] }
                return element
            }
        }
        if provides(.placeType), !rpid.placeTypes.isEmpty { view.placeTypes = rpid.placeTypes.compactMap(withoutNotes) }
        if provides(.privacy), !rpid.privacies.isEmpty {
            view.privacies = rpid.privacies.map { element in
                var element = element
                if !provides(.note) { element.info.notes = [] }
                return element
            }
        }
        if provides(.relationship), !rpid.relationships.isEmpty { view.relationships = rpid.relationships.compactMap(withoutNotes) }
        // The class of a service is part of what a provided tuple is.
        if component == .services, !rpid.serviceClasses.isEmpty {
            view.serviceClasses = rpid.serviceClasses.compactMap(withoutNotes)
        }
        if provides(.sphere), !rpid.spheres.isEmpty { view.spheres = rpid.spheres }
        if provides(.statusIcon), !rpid.statusIcons.isEmpty { view.statusIcons = rpid.statusIcons }
        if provides(.timeOffset), !rpid.timeOffsets.isEmpty { view.timeOffsets = rpid.timeOffsets }
        if userInput != .none, !rpid.userInputs.isEmpty { view.userInputs = rpid.userInputs.map(self.view) }
        return view
    }

    /// Element without its notes unless they are provided; nil if it had nothing else.
    private func withoutNotes<Token>(_ list: RPIDList<Token>) -> RPIDList<Token>? {
        guard !provides(.note), !list.info.notes.isEmpty else { return list }
        guard !list.values.isEmpty || !list.others.isEmpty || !list.extensions.isEmpty else { return nil }
        var list = list
        list.info.notes = []
        return list
    }

    /// Element with the attributes that the value of `provide-user-input` leaves (RFC 5025 3.3.2.12).
    private func view(of input: RPIDUserInput) -> RPIDUserInput {
        if userInput == .full { return input }
        var view = RPIDUserInput(isIdle: input.isIdle)
        view.info.id = input.info.id
        if userInput == .thresholds { view.idleThreshold = input.idleThreshold }
        return view
    }
}

/// Components that a value selects (RFC 5025 3.3.1).
extension PresenceGrants.Components {
    func select(_ tuple: PIDFTuple) -> Bool {
        all
            || selectors.contains { selector in
                switch selector {
                case .class(let value): tuple.rpid.classes.contains { $0.text == value }
                case .occurrence(let value): tuple.id == value
                case .serviceURI(let value): tuple.contact.map { Self.isSame($0.uri, value) } ?? false
                case .serviceScheme(let value): tuple.contact.map { $0.uri.hasPrefix(value + ":") } ?? false
                case .serviceID(let value): tuple.extensions.contains { Self.serviceID(of: $0) == value }
                case .deviceID, .other: false
                }
            }
    }

    func select(_ person: PIDFPerson) -> Bool {
        all
            || selectors.contains { selector in
                switch selector {
                case .class(let value): person.rpid.classes.contains { $0.text == value }
                case .occurrence(let value): person.id == value
                case .serviceURI, .serviceScheme, .serviceID, .deviceID, .other: false
                }
            }
    }

    func select(_ device: PIDFDevice) -> Bool {
        all
            || selectors.contains { selector in
                switch selector {
                case .class(let value): device.rpid.classes.contains { $0.text == value }
                case .occurrence(let value): device.id == value
                case .deviceID(let value): device.deviceID == value
                case .serviceURI, .serviceScheme, .serviceID, .other: false
                }
            }
    }

    /// Whether two URIs are equal as text, or by RFC 3261 19.1.4.
    private static func isSame(_ one: String, _ other: String) -> Bool {
        if one == other { return true }
        guard let one = SIPURI(one), let other = SIPURI(other), one.opaque == nil, other.opaque == nil else { return false }
        return one.isEquivalent(to: other)
    }

    private static let serviceIDName = XMLName("service-id", in: .omaPresence)

    /// Service id of an OMA service description; nil for any other element.
    private static func serviceID(of fragment: XMLFragment) -> String? {
        guard fragment.localName == "service-description", fragment.namespace == XMLNamespace.omaPresence.uri else { return nil }
        return try? fragment.parsed().first(serviceIDName)?.trimmedText
    }
}
