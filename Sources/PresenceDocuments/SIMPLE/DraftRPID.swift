import XMLCore

// MS-PRES 2.2.2.8, PIDF with draft RPID: one tuple, activities as text inside status
// namespaces urn:ietf:params:xml:ns:pidf:status:rpid-status and urn:ietf:params:xml:ns:pidf:rpid-tuple, media type application/pidf+xml

/// Other identities of the presentity (MS-PRES 2.2.2.8).
public struct LinkedIdentities: Hashable, Sendable {
    /// Primary identity; nil when absent.
    public var primaryID: String?
    /// Secondary identities in document order.
    public var secondary: [String]

    public init(primaryID: String? = nil, secondary: [String] = []) {
        self.primaryID = primaryID
        self.secondary = secondary
    }
}

/// Names of the draft.
enum DraftName {
    static let activities = XMLName("activities", in: .draftStatus)
    static let activity = XMLName("activity", in: .draftStatus)
    static let `class` = XMLName("class", in: .draftTuple)
    static let relationship = XMLName("relationship", in: .draftTuple)
    static let contactType = XMLName("contact-type", in: .draftTuple)
}

extension LinkedIdentities {
    init(_ element: XMLElement) {
        self.init(primaryID: element.attribute("primary-id"))
        for list in element.all(PIDFName.secondaryIdentities) {
            secondary += list.all(PIDFName.secondaryIdentity).map(\.trimmedText)
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("linked-identities")
        writer.attribute("primary-id", ifPresent: primaryID)
        writer.start("secondary-identities")
        for identity in secondary { writer.element("secondary-identity", identity) }
        writer.end()
        writer.end()
    }
}

extension RPID {
    /// Elements without those that the draft form writes elsewhere.
    var withoutDraftParts: RPID {
        var rest = self
        rest.activities = []
        rest.classes = []
        rest.relationships = []
        return rest
    }
}

extension PIDFTuple {
    /// Reads an element of the draft's tuple namespace; false if it was not used.
    mutating func readDraft(_ element: XMLElement) -> Bool {
        switch element {
        case DraftName.class: rpid.classes.append(RPIDText(element.trimmedText))
        case DraftName.relationship where element.isLeaf:
            rpid.relationships.append(RPIDList([RPIDRelationship(element.trimmedText)]))
        case DraftName.contactType where contactType == nil: contactType = element.trimmedText
        default: return false
        }
        return true
    }

    /// Writes activities as text; the draft has no `other`, so its text is written as an activity.
    func writeDraftStatus(to writer: inout XMLWriter) {
        for list in rpid.activities {
            writer.start("ep:activities")
            list.info.writeAttributes(to: &writer)
            for note in list.info.notes { note.write("ep:note", to: &writer) }
            for value in list.values { writer.element("ep:activity", value.name) }
            for other in list.others { other.write("ep:activity", to: &writer) }
            for fragment in list.extensions { writer.fragment(fragment) }
            writer.end()
        }
    }

    func writeDraftTuple(to writer: inout XMLWriter) {
        for text in rpid.classes { writer.element("et:class", text.text) }
        for list in rpid.relationships { for value in list.values { writer.element("et:relationship", value.name) } }
        if let contactType { writer.element("et:contact-type", contactType) }
    }
}
