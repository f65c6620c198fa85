import XMLCore

/// Names of RFC 3863.
enum PIDFName {
    static let presence = XMLName("presence", in: .pidf)
    static let tuple = XMLName("tuple", in: .pidf)
    static let status = XMLName("status", in: .pidf)
    static let basic = XMLName("basic", in: .pidf)
    static let contact = XMLName("contact", in: .pidf)
    static let note = XMLName("note", in: .pidf)
    static let timestamp = XMLName("timestamp", in: .pidf)
    static let mustUnderstand = XMLName("mustUnderstand", in: .pidf)
    static let linkedIdentities = XMLName("linked-identities", in: .pidf)
    static let secondaryIdentities = XMLName("secondary-identities", in: .pidf)
    static let secondaryIdentity = XMLName("secondary-identity", in: .pidf)
    static let cid = XMLName("cid", in: .pidf)
}

extension PIDFDocument: PresenceDocument {
    private static let ownAttributes: [StaticString] = ["entity"]

    /// Reads a `presence` element, with its children in any order; requires `entity`.
    public init(_ root: XMLElement) throws(DocumentError) {
        guard root.is(PIDFName.presence) else { throw .wrongRoot(root, expected: PIDFName.presence, rule: "RFC 3863 4.1.1") }
        guard let entity = root.attribute("entity") else { throw .missing("entity", in: root, rule: "RFC 3863 4.1.1") }
        let trimmed = entity.trimmed
        guard !trimmed.isEmpty else { throw .invalid("entity", entity, in: root, rule: "RFC 3863 4.1.1") }
        self.init(entity: trimmed)
        attributes = root.attributes(besides: Self.ownAttributes)
        for child in root.children {
            switch child {
            case PIDFName.tuple:
                var usesDraft = false
                if let tuple = try PIDFTuple(child, usesDraft: &usesDraft) {
                    tuples.append(tuple)
                } else {
                    notUnderstood.append(child.attribute("id") ?? "")
                }
                if usesDraft { form = .draft }
            case DataModelName.person: persons.append(try PIDFPerson(child, number: persons.count + 1))
            case DataModelName.device: devices.append(try PIDFDevice(child, number: devices.count + 1))
            case PIDFName.note: notes.append(child.note)
            case PIDFName.linkedIdentities: linkedIdentities = LinkedIdentities(child)
            case PIDFName.cid: cid = child.trimmedText
            case ExactName.exact where exact == nil: exact = try PresenceExact(child)
            default:
                if try child.read(into: &rpid, &cipid) { continue }
                if child.mustBeUnderstood {
                    throw DocumentError(
                        code: .notUnderstood,
                        message: "RFC 3863 4.2.4: '\(child.localName)' in \(child.namespace) must be understood, and is not",
                        position: child.position)
                }
                extensions.append(child.fragment())
            }
        }
    }
}

extension XMLElement {
    /// Whether an unknown element has `pidf:mustUnderstand` (RFC 3863 4.2).
    var mustBeUnderstood: Bool {
        guard attributeCount > 0, let value = attribute(PIDFName.mustUnderstand) else { return false }
        return value.trimmed == "1" || value.trimmed == "true"
    }

    /// Text as open or closed; refuses others.
    func basicStatus() throws(DocumentError) -> BasicStatus {
        if textEquals("open") { return .open }
        if textEquals("closed") { return .closed }
        throw .invalid("the status", trimmedText, in: self, rule: "RFC 3863 4.1.4")
    }
}

extension PIDFTuple {
    private static let ownAttributes: [StaticString] = ["id"]
    private static let noAttributes: [StaticString] = []

    /// nil if an unknown part of the tuple must be understood.
    init?(_ element: XMLElement, usesDraft: inout Bool) throws(DocumentError) {
        self.init(id: try element.required("id", rule: "RFC 3863 4.1.2"))
        attributes = element.attributes(besides: Self.ownAttributes)
        var understood = true
        var statusSeen = false
        for child in element.children {
            switch child {
            case PIDFName.status:
                statusSeen = true
                understood = try readStatus(child, usesDraft: &usesDraft) && understood
            case PIDFName.contact: contact = try PIDFContact(child)
            case PIDFName.note: notes.append(child.note)
            case PIDFName.timestamp: timestamp = try child.dateTime(rule: "RFC 3863 4.1.7")
            case DataModelName.deviceID: deviceIDs.append(child.trimmedText)
            case CapabilitiesName.servcaps where !hasCapabilities: capabilities = try ServiceCapabilities(child)
            case TimedStatusName.timedStatus: timedStatuses.append(try TimedStatus(child))
            default:
                if try child.read(into: &rpid, &cipid) { continue }
                if readDraft(child) { continue }
                if child.mustBeUnderstood { understood = false }
                extensions.append(child.fragment())
            }
        }
        guard statusSeen else { throw .missing("status", in: element, rule: "RFC 3863 4.1.2") }
        guard understood else { return nil }
    }

    private mutating func readStatus(_ element: XMLElement, usesDraft: inout Bool) throws(DocumentError) -> Bool {
        var understood = true
        statusAttributes = element.attributes(besides: Self.noAttributes)
        for child in element.children {
            if child.is(PIDFName.basic) {
                basic = try child.basicStatus()
            } else if try rpid.read(child) {
                if child.isIn(.draftStatus) { usesDraft = true }
            } else if try !cipid.read(child) {
                if child.mustBeUnderstood { understood = false }
                statusExtensions.append(child.fragment())
            }
        }
        return understood
    }
}

extension PIDFContact {
    private static let ownAttributes: [StaticString] = ["priority"]

    init(_ element: XMLElement) throws(DocumentError) {
        self.init(uri: element.trimmedText)
        attributes = element.attributes(besides: Self.ownAttributes)
        guard let value = element.withAttribute("priority", { Decimal.thousandths($0) }) else { return }
        guard let value else {
            throw .invalid("attribute priority", element.attribute("priority") ?? "", in: element, rule: "RFC 3863 4.1.5")
        }
        priority = value
    }
}
