import XMLCore

/// Names of RFC 4480.
enum RPIDName {
    static let activities = XMLName("activities", in: .rpid)
    static let `class` = XMLName("class", in: .rpid)
    static let mood = XMLName("mood", in: .rpid)
    static let placeIs = XMLName("place-is", in: .rpid)
    static let placeType = XMLName("place-type", in: .rpid)
    static let privacy = XMLName("privacy", in: .rpid)
    static let relationship = XMLName("relationship", in: .rpid)
    static let serviceClass = XMLName("service-class", in: .rpid)
    static let sphere = XMLName("sphere", in: .rpid)
    static let statusIcon = XMLName("status-icon", in: .rpid)
    static let timeOffset = XMLName("time-offset", in: .rpid)
    static let userInput = XMLName("user-input", in: .rpid)
    static let note = XMLName("note", in: .rpid)
    static let other = XMLName("other", in: .rpid)
    static let audio = XMLName("audio", in: .rpid)
    static let video = XMLName("video", in: .rpid)
    static let text = XMLName("text", in: .rpid)
    static let unknown = XMLName("unknown", in: .rpid)
}

extension RPID {
    /// Reads an element of RPID (RFC 4480), or `activities` of the draft.
    ///
    /// - Returns: false if the element is another one and was not used.
    mutating func read(_ element: XMLElement) throws(DocumentError) -> Bool {
        if element.isIn(.rpid) {
            switch element {
            case RPIDName.activities: activities.append(try RPIDList(element))
            case RPIDName.class: classes.append(try RPIDText(element))
            case RPIDName.mood: moods.append(try RPIDList(element))
            case RPIDName.placeIs: placeIs.append(try RPIDPlaceIs(element))
            case RPIDName.placeType: placeTypes.append(try RPIDList(element, alsoIn: .locationType))
            case RPIDName.privacy: privacies.append(try RPIDPrivacy(element))
            case RPIDName.relationship: relationships.append(try RPIDList(element))
            case RPIDName.serviceClass: serviceClasses.append(try RPIDList(element))
            case RPIDName.sphere: spheres.append(try RPIDList(element))
            case RPIDName.statusIcon: statusIcons.append(try RPIDText(element))
            case RPIDName.timeOffset: timeOffsets.append(try RPIDTimeOffset(element))
            case RPIDName.userInput: userInputs.append(try RPIDUserInput(element))
            default: return false
            }
            return true
        }
        guard element.is(DraftName.activities) else { return false }
        activities.append(try RPIDList(element, alsoIn: .draftStatus))
        return true
    }
}

extension RPIDInfo {
    private static let ownAttributes: [StaticString] = ["id", "from", "until"]

    init(_ element: XMLElement, besides known: [StaticString] = ownAttributes) throws(DocumentError) {
        guard element.attributeCount > 0 else { return }
        id = element.attribute("id")
        from = try element.dateTime("from", rule: "RFC 4480 3.1")
        until = try element.dateTime("until", rule: "RFC 4480 3.1")
        attributes = element.attributes(besides: known)
    }
}

extension RPIDList {
    /// Reads values named by child elements, `activity` children with text as in the draft, or, without children, the text.
    init(_ element: XMLElement, alsoIn second: XMLNamespace = .rpid) throws(DocumentError) {
        self.init(info: try RPIDInfo(element))
        var hasChildren = false
        for child in element.children {
            hasChildren = true
            guard child.isIn(.rpid) || child.isIn(second) else {
                extensions.append(child.fragment())
                continue
            }
            if child.localNameEquals("note") {
                info.notes.append(child.note)
            } else if child.localNameEquals("other") {
                others.append(child.note)
            } else if child.is(DraftName.activity) {
                values.append(Token(child.trimmedText))
            } else {
                values.append(Token(child.localName))
            }
        }
        if !hasChildren, case let text = element.trimmedText, !text.isEmpty { values.append(Token(text)) }
    }
}

extension RPIDText {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init(element.trimmedText, info: try RPIDInfo(element))
    }
}

extension RPIDPlaceIs {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init()
        info = try RPIDInfo(element)
        for child in element.children {
            switch child {
            case RPIDName.note: info.notes.append(child.note)
            case RPIDName.audio: audio = child.value
            case RPIDName.video: video = child.value
            case RPIDName.text: text = child.value
            default: extensions.append(child.fragment())
            }
        }
    }
}

extension XMLElement {
    /// Local name of the first child element; the text if there is none.
    fileprivate var value: String {
        for child in children { return child.localName }
        return trimmedText
    }
}

extension RPIDPrivacy {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init()
        info = try RPIDInfo(element)
        for child in element.children {
            switch child {
            case RPIDName.note: info.notes.append(child.note)
            case RPIDName.audio: audio = true
            case RPIDName.video: video = true
            case RPIDName.text: text = true
            case RPIDName.unknown: unknown = true
            default: extensions.append(child.fragment())
            }
        }
    }
}

extension RPIDTimeOffset {
    private static let ownAttributes: [StaticString] = ["id", "from", "until", "description"]

    init(_ element: XMLElement) throws(DocumentError) {
        self.init(minutes: try element.integerText("the offset", in: -10_080...10_080, rule: "RFC 4480 3.13"))
        info = try RPIDInfo(element, besides: Self.ownAttributes)
        description = element.attribute("description")
    }
}

extension RPIDUserInput {
    private static let ownAttributes: [StaticString] = ["id", "from", "until", "idle-threshold", "last-input"]

    init(_ element: XMLElement) throws(DocumentError) {
        let isIdle = element.textEquals("idle")
        guard isIdle || element.textEquals("active") else {
            throw .invalid("the state", element.trimmedText, in: element, rule: "RFC 4480 3.14")
        }
        self.init(
            isIdle: isIdle, idleThreshold: try element.integer("idle-threshold", in: 1...Int(Int32.max), rule: "RFC 4480 3.14"),
            lastInput: try element.dateTime("last-input", rule: "RFC 4480 3.14"))
        info = try RPIDInfo(element, besides: Self.ownAttributes)
    }
}
