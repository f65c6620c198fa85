import XMLCore

// Isthmus extension: exact values of the enhanced model inside PIDF, so that two gateways in series lose nothing
// namespace urn:isthmus:xml:ns:presence-exact, one element directly under presence

/// Values of MS-PRES 7.2 that RPID lacks: the availability number, and activities with bounds and texts per language.
///
/// ```xml
/// <exact xmlns="urn:isthmus:xml:ns:presence-exact" availability="6900">
///   <activity token="urgent-interruptions-only" min="6500" max="6999"><custom lcid="1033">Urgent only</custom></activity>
/// </exact>
/// ```
public struct PresenceExact: Hashable, Sendable {
    /// Activity with the availabilities at which it applies.
    public struct Activity: Hashable, Sendable {
        /// Activity token; nil when absent.
        public var token: String?
        /// Lowest availability; nil if unbounded or absent.
        public var minimum: UInt32?
        /// Highest availability; nil if unbounded or absent.
        public var maximum: UInt32?
        /// Texts, one per language.
        public var customs: [Custom] = []

        public init(token: String? = nil, minimum: UInt32? = nil, maximum: UInt32? = nil, customs: [Custom] = []) {
            self.token = token
            self.minimum = minimum
            self.maximum = maximum
            self.customs = customs
        }
    }

    /// Text in the language of a Windows locale id.
    public struct Custom: Hashable, Sendable {
        /// Windows locale id, such as 1033.
        public var lcid: UInt32
        /// Text as written, with white space.
        public var text: String

        public init(lcid: UInt32, text: String) {
            self.lcid = lcid
            self.text = text
        }
    }

    /// Availability number; nil when absent.
    public var availability: UInt32?
    /// Activities in document order.
    public var activities: [Activity] = []
    /// Elements that a later version may add; kept and written again.
    public var extensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
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
