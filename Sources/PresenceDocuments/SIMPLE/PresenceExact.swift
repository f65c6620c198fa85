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
