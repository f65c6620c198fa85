import XMLCore

/// Names of RFC 5196.
enum CapabilitiesName {
    static let servcaps = XMLName("servcaps", in: .capabilities)
    static let devcaps = XMLName("devcaps", in: .capabilities)
    static let supported = XMLName("supported", in: .capabilities)
    static let notSupported = XMLName("notsupported", in: .capabilities)
    static let language = XMLName("l", in: .capabilities)
    static let scheme = XMLName("s", in: .capabilities)
    static let noAttributes: [StaticString] = []
}

extension ServiceCapabilities {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init()
        attributes = element.attributes(besides: CapabilitiesName.noAttributes)
        for child in element.children {
            guard child.isIn(.capabilities) else {
                extensions.append(child.fragment())
                continue
            }
            switch child.localName {
            case "actor": actor = CapabilitySet(child)
            case "application": application = try child.boolean(rule: "RFC 5196 3.2")
            case "audio": audio = try child.boolean(rule: "RFC 5196 3.2")
            case "automata": automata = try child.boolean(rule: "RFC 5196 3.2")
            case "class": self.class = CapabilitySet(child)
            case "control": control = try child.boolean(rule: "RFC 5196 3.2")
            case "data": data = try child.boolean(rule: "RFC 5196 3.2")
            case "description": descriptions.append(child.note)
            case "duplex": duplex = CapabilitySet(child)
            case "event-packages": eventPackages = CapabilitySet(child)
            case "extensions": sipExtensions = CapabilitySet(child)
            case "isfocus": isFocus = try child.boolean(rule: "RFC 5196 3.2")
            case "message": message = try child.boolean(rule: "RFC 5196 3.2")
            case "methods": methods = CapabilitySet(child)
            case "languages": languages = CapabilitySet(child)
            case "priority": priority = try PriorityCapability(child)
            case "schemes": schemes = CapabilitySet(child)
            case "text": text = try child.boolean(rule: "RFC 5196 3.2")
            case "type": types.append(child.trimmedText)
            case "video": video = try child.boolean(rule: "RFC 5196 3.2")
            default: extensions.append(child.fragment())
            }
        }
    }

    /// Writes the element with the prefix `caps`, which must be declared.
    func write(to writer: inout XMLWriter) {
        writer.start("caps:servcaps")
        for attribute in attributes { writer.attribute(attribute) }
        // In the order of the schema.
        actor?.write("actor", to: &writer)
        writer.element("caps:application", ifPresent: application)
        writer.element("caps:audio", ifPresent: audio)
        writer.element("caps:automata", ifPresent: automata)
        self.class?.write("class", to: &writer)
        writer.element("caps:control", ifPresent: control)
        writer.element("caps:data", ifPresent: data)
        for description in descriptions { description.write("caps:description", to: &writer) }
        duplex?.write("duplex", to: &writer)
        eventPackages?.write("event-packages", to: &writer)
        sipExtensions?.write("extensions", to: &writer)
        writer.element("caps:isfocus", ifPresent: isFocus)
        writer.element("caps:message", ifPresent: message)
        methods?.write("methods", to: &writer)
        languages?.write("languages", to: &writer)
        priority?.write(to: &writer)
        schemes?.write("schemes", to: &writer)
        writer.element("caps:text", ifPresent: text)
        for type in types { writer.element("caps:type", type) }
        writer.element("caps:video", ifPresent: video)
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}

extension CapabilitySet {
    /// Reads empty elements named by the value; for languages `l` and for schemes `s`, elements with text.
    init(_ element: XMLElement) {
        self.init()
        for child in element.children {
            if child.is(CapabilitiesName.supported) { supported += child.children.map(Self.value) }
            if child.is(CapabilitiesName.notSupported) { notSupported += child.children.map(Self.value) }
        }
    }

    private static func value(_ element: XMLElement) -> String {
        element.is(CapabilitiesName.language) || element.is(CapabilitiesName.scheme) ? element.trimmedText : element.localName
    }

    func write(_ name: String, to writer: inout XMLWriter) {
        writer.start("caps:" + name)
        let item: String? = name == "languages" ? "caps:l" : name == "schemes" ? "caps:s" : nil
        for (part, values) in [("caps:supported", supported), ("caps:notsupported", notSupported)] where !values.isEmpty {
            writer.start(part)
            for value in values {
                if let item {
                    writer.element(item, value)
                } else if RPIDSphere(value).isElementName {
                    writer.element("caps:" + value)
                }
            }
            writer.end()
        }
        writer.end()
    }
}

extension PriorityCapability {
    private static let rule = "RFC 5196 3.2.15"
    private static let range = 0...Int(Int32.max)

    init(_ element: XMLElement) throws(DocumentError) {
        self.init()
        for child in element.children {
            if child.is(CapabilitiesName.supported) { supported += try Self.rules(child) }
            if child.is(CapabilitiesName.notSupported) { notSupported += try Self.rules(child) }
        }
    }

    private static func rules(_ element: XMLElement) throws(DocumentError) -> [Rule] {
        var rules: [Rule] = []
        for child in element.children {
            func number(_ attribute: StaticString) throws(DocumentError) -> Int {
                guard let value = try child.integer(attribute, in: range, rule: rule) else {
                    throw .missing("\(attribute)", in: child, rule: rule)
                }
                return value
            }
            switch child.localName {
            case "equals": rules.append(.equals(try number("value")))
            // The schema of RFC 5196 spells this name without a t.
            case "higherhan", "higherthan": rules.append(.higherThan(try number("minvalue")))
            case "lowerthan": rules.append(.lowerThan(try number("maxvalue")))
            case "range": rules.append(.range(try number("minvalue"), try number("maxvalue")))
            default: continue
            }
        }
        return rules
    }

    func write(to writer: inout XMLWriter) {
        writer.start("caps:priority")
        for (part, rules) in [("caps:supported", supported), ("caps:notsupported", notSupported)] where !rules.isEmpty {
            writer.start(part)
            for rule in rules {
                switch rule {
                case .equals(let value):
                    writer.start("caps:equals")
                    writer.attribute("value", String(value))
                case .higherThan(let value):
                    writer.start("caps:higherhan")
                    writer.attribute("minvalue", String(value))
                case .lowerThan(let value):
                    writer.start("caps:lowerthan")
                    writer.attribute("maxvalue", String(value))
                case .range(let low, let high):
                    writer.start("caps:range")
                    writer.attribute("minvalue", String(low))
                    writer.attribute("maxvalue", String(high))
                }
                writer.end()
            }
            writer.end()
        }
        writer.end()
    }
}

extension DeviceCapabilities {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init()
        attributes = element.attributes(besides: CapabilitiesName.noAttributes)
        for child in element.children {
            if child.isIn(.capabilities), child.localNameEquals("description") {
                descriptions.append(child.note)
            } else if child.isIn(.capabilities), child.localNameEquals("mobility") {
                mobility = CapabilitySet(child)
            } else {
                extensions.append(child.fragment())
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("caps:devcaps")
        for attribute in attributes { writer.attribute(attribute) }
        for description in descriptions { description.write("caps:description", to: &writer) }
        mobility?.write("mobility", to: &writer)
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}
