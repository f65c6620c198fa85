import XMLCore

extension PIDFDocument {
    /// Encodes the document in its own ``form``.
    public func encode() -> [UInt8] { encode(as: form) }

    /// Encodes the document in schema order, with each namespace declared once on the root.
    public func encode(as form: Form) -> [UInt8] {
        var writer = XMLWriter(declaration: true)
        write(to: &writer, as: form)
        return writer.finish()
    }

    func write(to writer: inout XMLWriter, as form: Form) {
        writer.start("presence")
        writer.namespace("", .pidf)
        declareNamespaces(to: &writer, as: form)
        writer.attribute("entity", entity)
        for attribute in attributes { writer.attribute(attribute) }
        for index in tuples.indices { tuples[index].write(to: &writer, as: form) }
        for note in notes { note.write("note", to: &writer) }
        for index in persons.indices { persons[index].write(to: &writer) }
        for index in devices.indices { devices[index].write(to: &writer) }
        rpid.write(to: &writer)
        linkedIdentities?.write(to: &writer)
        if let cid { writer.element("cid", cid) }
        cipid.write(to: &writer)
        exact?.write(to: &writer)
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }

    private func declareNamespaces(to writer: inout XMLWriter, as form: Form) {
        var used = UsedNamespaces()
        used.add(rpid)
        used.add(cipid)
        for index in tuples.indices {
            if !tuples[index].deviceIDs.isEmpty { used.insert(.dataModel) }
            if form == .standard { used.add(tuples[index].rpid) } else { used.add(tuples[index].rpid.withoutDraftParts) }
            used.add(tuples[index].cipid)
            if tuples[index].hasCapabilities { used.insert(.capabilities) }
            for timed in tuples[index].timedStatuses.indices {
                used.insert(.timedStatus)
                used.add(tuples[index].timedStatuses[timed].rpid)
            }
        }
        for index in persons.indices {
            used.insert(.dataModel)
            used.add(persons[index].rpid)
            used.add(persons[index].cipid)
        }
        for device in devices {
            used.insert(.dataModel)
            used.add(device.rpid)
            used.add(device.cipid)
            if device.capabilities != nil { used.insert(.capabilities) }
        }
        if used.contains(.dataModel) { writer.namespace("dm", .dataModel) }
        if used.contains(.rpid) { writer.namespace("rpid", .rpid) }
        if used.contains(.locationType) { writer.namespace("lt", .locationType) }
        if used.contains(.cipid) { writer.namespace("ci", .cipid) }
        if used.contains(.capabilities) { writer.namespace("caps", .capabilities) }
        if used.contains(.timedStatus) { writer.namespace("ts", .timedStatus) }
        if form == .draft {
            writer.namespace("ep", .draftStatus)
            writer.namespace("et", .draftTuple)
        } else if tuples.contains(where: { $0.contactType != nil }) {
            writer.namespace("et", .draftTuple)
        }
    }
}

/// Namespaces that need a prefix in a document.
struct UsedNamespaces: OptionSet {
    let rawValue: Int
    static let dataModel = UsedNamespaces(rawValue: 1)
    static let rpid = UsedNamespaces(rawValue: 2)
    static let locationType = UsedNamespaces(rawValue: 4)
    static let cipid = UsedNamespaces(rawValue: 8)
    static let capabilities = UsedNamespaces(rawValue: 16)
    static let timedStatus = UsedNamespaces(rawValue: 32)

    mutating func add(_ rpid: RPID) {
        if rpid.isEmpty { return }
        insert(.rpid)
        if !rpid.placeTypes.isEmpty { insert(.locationType) }
    }

    mutating func add(_ cipid: CIPID) { if !cipid.isEmpty { insert(.cipid) } }
}

extension PIDFTuple {
    func write(to writer: inout XMLWriter, as form: PIDFDocument.Form) {
        writer.start("tuple")
        writer.attribute("id", id)
        for attribute in attributes { writer.attribute(attribute) }
        writer.start("status")
        for attribute in statusAttributes { writer.attribute(attribute) }
        if let basic { writer.element("basic", basic.name) }
        if form == .draft { writeDraftStatus(to: &writer) }
        for fragment in statusExtensions { writer.fragment(fragment) }
        writer.end()
        if form == .draft {
            rpid.withoutDraftParts.write(to: &writer)
            writeDraftTuple(to: &writer)
        } else {
            rpid.write(to: &writer)
            if let contactType { writer.element("et:contact-type", contactType) }
        }
        cipid.write(to: &writer)
        capabilities?.write(to: &writer)
        for timed in timedStatuses { timed.write(to: &writer) }
        for deviceID in deviceIDs { writer.element("dm:deviceID", deviceID) }
        for fragment in extensions { writer.fragment(fragment) }
        if let contact {
            writer.start("contact")
            if let priority = contact.priority { writer.attribute("priority", Decimal.text(thousandths: priority)) }
            for attribute in contact.attributes { writer.attribute(attribute) }
            writer.text(contact.uri)
            writer.end()
        }
        for note in notes { note.write("note", to: &writer) }
        if let timestamp { writer.element("timestamp", timestamp.text) }
        writer.end()
    }
}

extension PIDFNote {
    func write(_ name: String, to writer: inout XMLWriter) {
        writer.start(name)
        if let language { writer.attribute("xml:lang", language) }
        writer.text(text)
        writer.end()
    }
}
