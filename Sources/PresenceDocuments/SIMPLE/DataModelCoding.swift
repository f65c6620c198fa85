import XMLCore

/// Names of RFC 4479.
enum DataModelName {
    static let person = XMLName("person", in: .dataModel)
    static let device = XMLName("device", in: .dataModel)
    static let deviceID = XMLName("deviceID", in: .dataModel)
    static let note = XMLName("note", in: .dataModel)
    static let timestamp = XMLName("timestamp", in: .dataModel)
    static let ownAttributes: [StaticString] = ["id"]
}

extension PIDFPerson {
    /// - Parameter number: Number for the id of a person without `id`, which the schema requires but some senders omit.
    init(_ element: XMLElement, number: Int) throws(DocumentError) {
        self.init(id: element.attribute("id") ?? "person\(number)")
        attributes = element.attributes(besides: DataModelName.ownAttributes)
        for child in element.children {
            switch child {
            case DataModelName.note: notes.append(child.note)
            case DataModelName.timestamp: timestamp = try child.dateTime(rule: "RFC 4479 3.5")
            default:
                if try child.read(into: &rpid, &cipid) { continue }
                extensions.append(child.fragment())
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("dm:person")
        writer.attribute("id", id)
        for attribute in attributes { writer.attribute(attribute) }
        rpid.write(to: &writer)
        cipid.write(to: &writer)
        for fragment in extensions { writer.fragment(fragment) }
        for note in notes { note.write("dm:note", to: &writer) }
        if let timestamp { writer.element("dm:timestamp", timestamp.text) }
        writer.end()
    }
}

extension PIDFDevice {
    init(_ element: XMLElement, number: Int) throws(DocumentError) {
        guard let deviceID = element.first(DataModelName.deviceID) else {
            throw .missing("deviceID", in: element, rule: "RFC 4479 3.4")
        }
        self.init(id: element.attribute("id") ?? "device\(number)", deviceID: deviceID.trimmedText)
        attributes = element.attributes(besides: DataModelName.ownAttributes)
        for child in element.children {
            switch child {
            case DataModelName.deviceID: continue
            case DataModelName.note: notes.append(child.note)
            case DataModelName.timestamp: timestamp = try child.dateTime(rule: "RFC 4479 3.5")
            case CapabilitiesName.devcaps where capabilities == nil: capabilities = try DeviceCapabilities(child)
            default:
                if try child.read(into: &rpid, &cipid) { continue }
                extensions.append(child.fragment())
            }
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("dm:device")
        writer.attribute("id", id)
        for attribute in attributes { writer.attribute(attribute) }
        rpid.write(to: &writer)
        cipid.write(to: &writer)
        capabilities?.write(to: &writer)
        for fragment in extensions { writer.fragment(fragment) }
        writer.element("dm:deviceID", deviceID)
        for note in notes { note.write("dm:note", to: &writer) }
        if let timestamp { writer.element("dm:timestamp", timestamp.text) }
        writer.end()
    }
}
