import XMLCore

extension SubscriptionHandling {
    init(_ element: XMLElement) throws(DocumentError) {
        guard let value = SubscriptionHandling(name: element.trimmedText) else {
            throw .invalid("the handling", element.trimmedText, in: element, rule: "RFC 5025 3.2.1")
        }
        self = value
    }
}

extension RuleTransformation {
    init(_ element: XMLElement) throws(DocumentError) {
        switch element {
        case PresenceRulesName.provideServices:
            self = .components(.services, ComponentSelection(element, all: PresenceRulesName.allServices, of: .services))
        case PresenceRulesName.providePersons:
            self = .components(.persons, ComponentSelection(element, all: PresenceRulesName.allPersons, of: .persons))
        case PresenceRulesName.provideDevices:
            self = .components(.devices, ComponentSelection(element, all: PresenceRulesName.allDevices, of: .devices))
        case PresenceRulesName.provideUserInput:
            guard let value = UserInputPermission(rawValue: element.trimmedText) else {
                throw .invalid("the permission", element.trimmedText, in: element, rule: "RFC 5025 3.3.2")
            }
            self = .userInput(value)
        case PresenceRulesName.provideUnknownAttribute:
            guard let namespace = element.attribute("ns") else { throw .missing("ns", in: element, rule: "RFC 5025 3.3.2") }
            let name = try element.required("name", rule: "RFC 5025 3.3.2")
            self = .unknownAttribute(
                ElementName(namespace: namespace.trimmed, localName: name), try element.boolean(rule: "RFC 5025 3.3.2"))
        case PresenceRulesName.provideAllAttributes: self = .allAttributes
        default:
            guard let attribute = PresenceRulesName.attributes.first(where: { element.is($0.name) })?.attribute else {
                self = .other(element.fragment())
                return
            }
            if attribute == .geopriv {
                guard element.textEquals("false") || element.textEquals("full") else {
                    throw .invalid("the permission", element.trimmedText, in: element, rule: "OMA-TS-Presence_SIMPLE_XDM 5.1.1")
                }
                self = .attribute(.geopriv, element.textEquals("full"))
            } else {
                self = .attribute(
                    attribute, try element.boolean(rule: attribute.isOMA ? "OMA-TS-Presence_SIMPLE_XDM 5.1.1" : "RFC 5025 3.3.2"))
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        switch self {
        case .components(let component, let selection):
            writer.start("pr:provide-" + component.rawValue)
            if selection.all { writer.element("pr:all-" + component.rawValue) }
            for member in selection.members { member.write(to: &writer) }
            writer.end()
        case .attribute(let attribute, let isProvided):
            let value = attribute == .geopriv && isProvided ? "full" : "\(isProvided)"
            writer.element((attribute.isOMA ? "op:" : "pr:") + attribute.permissionName, value)
        case .userInput(let permission): writer.element("pr:provide-user-input", permission.rawValue)
        case .unknownAttribute(let name, let isProvided):
            writer.start("pr:provide-unknown-attribute")
            writer.attribute("name", name.localName)
            writer.attribute("ns", name.namespace)
            writer.text("\(isProvided)")
            writer.end()
        case .allAttributes: writer.element("pr:provide-all-attributes")
        case .other(let fragment): writer.fragment(fragment)
        }
    }
}

extension ComponentSelection {
    fileprivate init(_ element: XMLElement, all name: XMLName, of component: PresenceComponent) {
        self.init()
        for child in element.children {
            if child.is(name), child.isLeaf { all = true } else { members.append(ComponentSelector(child, of: component)) }
        }
    }
}

extension ComponentSelector {
    /// Reads a selector; one that the component does not have becomes `other`.
    fileprivate init(_ element: XMLElement, of component: PresenceComponent) {
        let isLeaf = element.isLeaf
        switch (element, component) {
        case (PresenceRulesName.class, _) where isLeaf: self = .class(element.trimmedText)
        case (PresenceRulesName.occurrenceID, _) where isLeaf: self = .occurrence(element.trimmedText)
        case (PresenceRulesName.deviceID, .devices) where isLeaf: self = .deviceID(element.trimmedText)
        case (PresenceRulesName.serviceURI, .services) where isLeaf: self = .serviceURI(element.trimmedText)
        case (PresenceRulesName.serviceURIScheme, .services) where isLeaf: self = .serviceScheme(element.trimmedText)
        case (PresenceRulesName.serviceID, .services) where isLeaf: self = .serviceID(element.trimmedText)
        default: self = .other(element.fragment())
        }
    }

    fileprivate func write(to writer: inout XMLWriter) {
        switch self {
        case .class(let value): writer.element("pr:class", value)
        case .occurrence(let value): writer.element("pr:occurrence-id", value)
        case .deviceID(let value): writer.element("pr:deviceID", value)
        case .serviceURI(let value): writer.element("pr:service-uri", value)
        case .serviceScheme(let value): writer.element("pr:service-uri-scheme", value)
        case .serviceID(let value): writer.element("op:service-id", value)
        case .other(let fragment): writer.fragment(fragment)
        }
    }
}
