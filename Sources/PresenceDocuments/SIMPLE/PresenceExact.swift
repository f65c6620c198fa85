import XMLCore

// Ours: exact values of the enhanced model inside PIDF, so that two gateways in a row lose nothing
// namespace urn:isthmus:xml:ns:presence-exact, one element directly under presence

/// What MS-PRES 7.2 can say and RPID cannot: the availability number, and activities with bounds and texts per language.
///
/// ```xml
/// <exact xmlns="urn:isthmus:xml:ns:presence-exact" availability="6900">
///   <activity token="urgent-interruptions-only" min="6500" max="6999"><custom lcid="1033">Urgent only</custom></activity>
/// </exact>
/// ```
public struct PresenceExact: Hashable, Sendable {
    public struct Activity: Hashable, Sendable {
        public var token: String?
        /// Nil when unbounded or absent.
        public var minimum: UInt32?
        public var maximum: UInt32?
        public var customs: [Custom] = []

        public init(token: String? = nil, minimum: UInt32? = nil, maximum: UInt32? = nil, customs: [Custom] = []) {
            self.token = token
            self.minimum = minimum
            self.maximum = maximum
            self.customs = customs
        }
    }

    /// A text in the language of a Windows locale id.
    public struct Custom: Hashable, Sendable {
        public var lcid: UInt32
        public var text: String

        public init(lcid: UInt32, text: String) {
            self.lcid = lcid
            self.text = text
        }
    }

    public var availability: UInt32?
    public var activities: [Activity] = []
    /// Elements that a later version may add.
    public var extensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []

    public init(availability: UInt32? = nil, activities: [Activity] = []) {
        self.availability = availability
        self.activities = activities
    }
}

enum ExactName {
    static let exact = XMLName("exact", in: .exact)
    static let activity = XMLName("activity", in: .exact)
    static let custom = XMLName("custom", in: .exact)
    static let rule = "presence-exact"
    static let ownAttributes: [StaticString] = ["availability"]
}

extension PresenceExact {
    init(_ element: XMLElement) throws(DocumentError) {
        self.init(availability: try element.number("availability"))
        attributes = element.attributes(besides: ExactName.ownAttributes)
        for child in element.children {
            guard child.is(ExactName.activity) else {
                extensions.append(child.fragment())
                continue
            }
            var activity = Activity(
                token: child.attribute("token"), minimum: try child.number("min"), maximum: try child.number("max"))
            for custom in child.all(ExactName.custom) {
                guard let lcid = try custom.number("lcid") else { throw .missing("lcid", in: custom, rule: ExactName.rule) }
                activity.customs.append(Custom(lcid: lcid, text: custom.text))
            }
            activities.append(activity)
        }
    }

    func write(to writer: inout XMLWriter) {
        writer.start("exact")
        writer.namespace("", .exact)
        writer.attribute("availability", ifPresent: availability.map { String($0) })
        for attribute in attributes { writer.attribute(attribute) }
        for activity in activities {
            writer.start("activity")
            writer.attribute("token", ifPresent: activity.token)
            writer.attribute("min", ifPresent: activity.minimum.map { String($0) })
            writer.attribute("max", ifPresent: activity.maximum.map { String($0) })
            for custom in activity.customs {
                writer.start("custom")
                writer.attribute("lcid", String(custom.lcid))
                writer.text(custom.text)
                writer.end()
            }
            writer.end()
        }
        for fragment in extensions { writer.fragment(fragment) }
        writer.end()
    }
}

extension XMLElement {
    fileprivate func number(_ attribute: StaticString) throws(DocumentError) -> UInt32? {
        try integer(attribute, in: 0...Int(UInt32.max), rule: ExactName.rule).map { UInt32(truncatingIfNeeded: $0) }
    }
}
