import XMLCore

/// Presence as a reader would see it in a document of any format; read from the XML by local names and namespaces, so that the codecs under
/// test are not used to check themselves.
package struct ObservedPresence: Hashable, Sendable, CustomStringConvertible {
    /// Availability of the aggregate state, or the greatest one (MS-PRES 7.2); in msrtc.pidf `state@avail`.
    package var availability: Int?
    /// Token of the first activity; nil for none.
    package var activityToken: String?
    /// `open` or `closed` of the first tuple with a basic status; nil for none.
    package var basic: String?
    /// RPID activities by element name, from both namespaces.
    package var activities: Set<String> = []
    /// Texts of all notes, in document order.
    package var notes: [String] = []
    /// First display name; nil for none.
    package var displayName: String?
    /// Entity or categories URI of the document.
    package var entity: String?
    /// Names of the categories in the document; empty for other formats.
    package var categories: Set<String> = []
    /// Values of `availability@aggregate` and `activity@aggregate`; msrtc.pidf only.
    package var aggregate: [Int] = []

    /// Creates an empty presence.
    package init() {}

    /// Reads a PIDF, xpidf, categories or msrtc.pidf document; other root elements give an empty presence.
    package init(_ document: [UInt8]) throws(XMLError) {
        let root = try XMLTree.parse(document).root
        switch root.localName {
        case "presence": readPIDF(root)
        case "categories": readCategories(root)
        case "presentity": readMSRTC(root)
        default: break
        }
    }

    private mutating func readPIDF(_ root: XMLElement) {
        entity = root.attribute("entity")
        visit(root) { element in
            switch element.localName {
            case "basic" where element.namespace == "urn:ietf:params:xml:ns:pidf": basic = basic ?? element.trimmedText
            case "activities" where element.namespace.hasSuffix("rpid") || element.namespace.hasSuffix("rpid-status"):
                for child in element.children where child.localName != "note" {
                    activities.insert(child.localName == "activity" ? child.trimmedText : child.localName)
                }
            case "status" where element.attribute("status") != nil:
                // xpidf has the status in an attribute.
                basic = basic ?? (element.attribute("status") == "open" ? "open" : "closed")
            case "msnsubstatus": if let token = element.attribute("substatus") { activities.insert(token) }
            case "note": notes.append(element.trimmedText)
            case "display-name": displayName = displayName ?? element.trimmedText
            default: break
            }
        }
    }

    private mutating func readCategories(_ root: XMLElement) {
        entity = root.attribute("uri")
        var isAggregate = false
        for category in root.children where category.localName == "category" {
            categories.insert(category.attribute("name") ?? "")
            for body in category.children {
                switch body.localName {
                case "state":
                    let type = body.attribute(.xsiType) ?? ""
                    guard !isAggregate else { continue }
                    let found = body.children.first { $0.localName == "availability" }.flatMap { Int($0.trimmedText) }
                    isAggregate = type.hasSuffix("aggregateState")
                    if isAggregate || (found ?? -1) >= (availability ?? -1) {
                        availability = found
                        activityToken = body.children.first { $0.localName == "activity" }?.attribute("token")
                    }
                case "note":
                    for text in body.children where text.localName == "body" { notes.append(text.trimmedText) }
                case "contactCard":
                    visit(body) { if $0.localName == "displayName" { displayName = displayName ?? $0.trimmedText } }
                default: break
                }
            }
        }
    }

    private mutating func readMSRTC(_ root: XMLElement) {
        entity = root.attribute("uri")
        for child in root.children {
            switch child.localName {
            case "availability", "activity":
                if let value = child.attribute("aggregate").flatMap({ Int($0) }) { aggregate.append(value) }
                if let note = child.attribute("note"), !note.isEmpty { notes.append(note) }
            case "displayName": displayName = child.attribute("displayName")
            case "aggregate":
                visit(child) { element in
                    if element.localName == "state" {
                        availability = element.attribute("avail").flatMap { Int($0) }
                        activityToken = element.trimmedText
                    }
                }
            default: break
            }
        }
    }

    private func visit(_ element: XMLElement, _ body: (XMLElement) -> Void) {
        body(element)
        for child in element.children { visit(child, body) }
    }

    /// Merges a later document: categories replace only the ones they name, other documents replace everything.
    mutating func merge(_ newer: ObservedPresence) {
        guard !newer.categories.isEmpty else {
            self = newer
            return
        }
        if newer.categories.contains("state") { (availability, activityToken) = (newer.availability, newer.activityToken) }
        if newer.categories.contains("note") { notes = newer.notes }
        if newer.categories.contains("contactCard") { displayName = newer.displayName }
        categories.formUnion(newer.categories)
        entity = newer.entity ?? entity
    }

    /// Summary for a test failure.
    package var description: String {
        var parts: [String] = []
        if let availability { parts.append("availability \(availability)") }
        if let activityToken { parts.append("token \(activityToken)") }
        if let basic { parts.append(basic) }
        if !activities.isEmpty { parts.append("activities \(activities.sorted().joined(separator: ", "))") }
        if !notes.isEmpty { parts.append("notes \(notes)") }
        if let displayName { parts.append("name \(displayName)") }
        return parts.isEmpty ? "nothing" : parts.joined(separator: "; ")
    }
}
