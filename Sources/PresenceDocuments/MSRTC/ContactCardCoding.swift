// MS-PRES 7.3: reading and writing of the `contactCard` category; its values are in ContactCard.swift.

import XMLCore

// MARK: elements

private enum CardNames {
    static let contactCard = name("contactCard")
    static let identity = name("identity")
    static let name = name("name")
    static let displayName = name("displayName")
    static let email = name("email")
    static let address = name("address")
    static let street = name("street")
    static let city = name("city")
    static let state = name("state")
    static let zipcode = name("zipcode")
    static let countryCode = name("countryCode")
    static let company = name("company")
    static let department = name("department")
    static let title = name("title")
    static let office = name("office")
    static let url = name("url")
    static let phone = name("phone")
    static let uri = name("uri")
    static let displayString = name("displayString")
    static let automaton = name("automaton")
    static let type = name("type")
    static let description = name("description")
    static let displayADPhoto = name("displayADPhoto")
    static let photo = name("photo")
    static let hash = name("hash")

    private static func name(_ localName: String) -> XMLName { XMLName(localName, in: .msContactCard) }
}

private let rule: StaticString = "MS-PRES 7.3"

// MARK: decode

extension ContactCardDocument: MSRTCDocument {
    /// Root element `contactCard` of ``XMLCore/XMLNamespace/msContactCard``.
    public static let rootName = CardNames.contactCard

    /// Reads the `contactCard` element; throws ``DocumentError`` for another root or a value that the schema does not allow.
    public init(reading element: XMLElement) throws(DocumentError) {
        try element.expect(Self.rootName, rule: rule)
        var attributes = AttributeReader(element, rule: rule)
        self.init(isUCEnabled: try attributes.boolean("isUCEnabled"), updated: try attributes.dateTime("updated"))
        majorVersion = try attributes.unsigned("majorVersion")
        minorVersion = try attributes.unsigned("minorVersion")
        self.attributes = attributes.others(besides: ["isUCEnabled", "updated", "majorVersion", "minorVersion"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case CardNames.identity: identities.append(try ContactIdentity(reading: child))
            case CardNames.address: addresses.append(try ContactAddress(reading: child))
            case CardNames.company: companies.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.department: departments.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.title: titles.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.office: offices.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.url: webAddresses.append(try ContactWebAddress(reading: child))
            case CardNames.phone: phones.append(try ContactPhone(reading: child))
            case CardNames.automaton: automaton = try child.booleanText(rule: rule)
            case CardNames.type: presentityType = child.tokenText()
            case CardNames.description: presentityDescription = child.text
            case CardNames.displayADPhoto: displayADPhoto = try child.booleanText(rule: rule)
            case CardNames.photo: photos.append(try ContactPhoto(reading: child))
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension ContactURI {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(element.trimmedText, updated: try attributes.dateTime("updated"))
        self.attributes = attributes.others(besides: ["updated"])
    }
}

extension ContactIdentity {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(updated: try attributes.dateTime("updated"))
        self.attributes = attributes.others(besides: ["updated"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case CardNames.name: try readName(child)
            case CardNames.email: emails.append(try ContactURI(reading: child))
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }

    private mutating func readName(_ element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        nameUpdated = try attributes.dateTime("updated")
        nameAttributes = attributes.others(besides: ["updated"])
        var extensions = ExtensionReader()
        for child in element.children {
            if child.is(CardNames.displayName) {
                displayNames.append(try LocalizedText(reading: child, rule: rule))
            } else {
                extensions.take(child)
            }
        }
        nameExtensions = extensions.block
    }
}

extension ContactAddress {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(type: attributes.token("type"))
        self.attributes = attributes.others(besides: ["type"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case CardNames.street: streets.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.city: cities.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.state: states.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.zipcode: zipcodes.append(try LocalizedText(reading: child, rule: rule))
            case CardNames.countryCode: countryCode = child.trimmedText
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension ContactWebAddress {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(element.trimmedText, type: attributes.token("type"), updated: try attributes.dateTime("updated"))
        self.attributes = attributes.others(besides: ["type", "updated"])
    }
}

extension ContactPhone {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(type: attributes.token("type"), uri: nil, updated: try attributes.dateTime("updated"))
        self.attributes = attributes.others(besides: ["type", "updated"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case CardNames.uri where uri == nil: uri = try ContactURI(reading: child)
            case CardNames.displayString: displayStrings.append(try LocalizedText(reading: child, rule: rule))
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

extension ContactPhoto {
    fileprivate init(reading element: XMLElement) throws(DocumentError) {
        var attributes = AttributeReader(element, rule: rule)
        self.init(type: attributes.token("type"), updated: try attributes.dateTime("updated"))
        self.attributes = attributes.others(besides: ["type", "updated"])
        var extensions = ExtensionReader()
        for child in element.children {
            switch child {
            case CardNames.uri where uri == nil: uri = try ContactURI(reading: child)
            case CardNames.hash: hash = child.trimmedText
            default: extensions.take(child)
            }
        }
        self.extensions = extensions.block
    }
}

// MARK: encode

extension ContactCardDocument {
    /// Writes the `contactCard` element with its namespace declared.
    public func write(to writer: inout XMLWriter) {
        writer.start("contactCard")
        writer.namespace("", .msContactCard)
        writer.attribute("isUCEnabled", ifPresent: isUCEnabled)
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attribute("majorVersion", ifPresent: majorVersion)
        writer.attribute("minorVersion", ifPresent: minorVersion)
        writer.attributes(attributes)
        for identity in identities { identity.write(to: &writer) }
        for address in addresses { address.write(to: &writer) }
        for company in companies { company.write("company", to: &writer) }
        for department in departments { department.write("department", to: &writer) }
        for title in titles { title.write("title", to: &writer) }
        for office in offices { office.write("office", to: &writer) }
        for address in webAddresses { address.write(to: &writer) }
        for phone in phones { phone.write(to: &writer) }
        writer.element("automaton", ifPresent: automaton)
        let hasKind = presentityType != nil || presentityDescription != nil
        let hasPhoto = displayADPhoto != nil || !photos.isEmpty
        writer.generations(extensions, known: hasPhoto ? 2 : hasKind ? 1 : 0) { generation, writer in
            if generation == 0 {
                writer.element("type", ifPresent: presentityType?.rawValue)
                writer.element("description", ifPresent: presentityDescription)
            } else {
                writer.element("displayADPhoto", ifPresent: displayADPhoto)
                for photo in photos { photo.write(to: &writer) }
            }
        }
        writer.end()
    }
}

extension ContactURI {
    fileprivate func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attributes(attributes)
        if !uri.isEmpty { writer.text(uri) }
        writer.end()
    }
}

extension ContactIdentity {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("identity")
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attributes(attributes)
        if !displayNames.isEmpty || nameUpdated != nil || !nameAttributes.isEmpty || !nameExtensions.isEmpty {
            writer.start("name")
            writer.attribute("updated", ifPresent: nameUpdated?.text)
            writer.attributes(nameAttributes)
            for name in displayNames { name.write("displayName", to: &writer) }
            writer.generations(nameExtensions)
            writer.end()
        }
        for email in emails { email.write("email", to: &writer) }
        writer.generations(extensions)
        writer.end()
    }
}

extension ContactAddress {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("address")
        writer.attribute("type", ifPresent: type)
        writer.attributes(attributes)
        for street in streets { street.write("street", to: &writer) }
        for city in cities { city.write("city", to: &writer) }
        for state in states { state.write("state", to: &writer) }
        for zipcode in zipcodes { zipcode.write("zipcode", to: &writer) }
        writer.element("countryCode", ifPresent: countryCode)
        writer.generations(extensions)
        writer.end()
    }
}

extension ContactWebAddress {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("url")
        writer.attribute("type", ifPresent: type)
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attributes(attributes)
        if !uri.isEmpty { writer.text(uri) }
        writer.end()
    }
}

extension ContactPhone {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("phone")
        writer.attribute("type", ifPresent: type)
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attributes(attributes)
        uri?.write("uri", to: &writer)
        for text in displayStrings { text.write("displayString", to: &writer) }
        writer.generations(extensions)
        writer.end()
    }
}

extension ContactPhoto {
    fileprivate func write(to writer: inout XMLWriter) {
        writer.start("photo")
        writer.attribute("type", ifPresent: type)
        writer.attribute("updated", ifPresent: updated?.text)
        writer.attributes(attributes)
        uri?.write("uri", to: &writer)
        writer.element("hash", ifPresent: hash)
        writer.generations(extensions)
        writer.end()
    }
}
