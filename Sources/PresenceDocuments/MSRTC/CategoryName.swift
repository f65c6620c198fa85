/// Name of a presence category, case-sensitive (MS-PRES 2.2.2.7, 3.2.5.4).
///
/// Open vocabulary: a name that is not listed here is carried like any other.
public struct CategoryName: RawRepresentable, Hashable, Comparable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// Token as written in documents, case included.
    public let rawValue: String

    /// Wraps a token; tokens that are not listed here are kept.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Wraps a name; names that are not listed here are kept.
    public init(_ rawValue: String) { self.rawValue = rawValue }
    public init(stringLiteral value: StaticString) { rawValue = value.description }

    /// Availability, activity, location and device of a user (MS-PRES 2.2.2.7.1).
    public static let state: CategoryName = "state"
    /// Personal and out-of-office texts (MS-PRES 2.2.2.2.1).
    public static let note: CategoryName = "note"
    /// Name, mail address, phones and company of a user (MS-PRES 2.2.2.7.4).
    public static let contactCard: CategoryName = "contactCard"
    /// Capabilities of one device of the user (MS-PRES 2.2.2.7.2).
    public static let device: CategoryName = "device"
    /// Services by which the user can be reached (MS-PRES 2.2.2.7.3).
    public static let services: CategoryName = "services"
    /// Read-only properties that the server sends to the user (MS-PRES 2.2.2.7.5).
    public static let userProperties: CategoryName = "userProperties"
    /// Number and token from which PIDF and MSRTC notifications are made (MS-PRES 2.2.2.7.6).
    public static let legacyInterop: CategoryName = "legacyInterop"
    /// Call forwarding rules (MS-PRES 2.2.2.7.7).
    public static let routing: CategoryName = "routing"
    /// Free/busy times and working hours (MS-PRES 2.2.2.7.8).
    public static let calendarData: CategoryName = "calendarData"
    /// Working hours extracted by the server (MS-PRES 2.2.2.7.9).
    public static let workingHours: CategoryName = "workingHours"
    /// Do-not-disturb state for call routing (MS-PRES 2.2.2.7.10).
    public static let dndState: CategoryName = "dndState"
    /// Voice mail counters (MS-PRES 2.2.2.7.11).
    public static let mwi: CategoryName = "mwi"
    /// Identities that belong to one public cloud contact (MS-PRES 2.2.2.7.12).
    public static let linkedPICContacts: CategoryName = "linkedPICContacts"
    /// Persistent chat room settings (MS-PRES 2.2.2.7.13).
    public static let roomSetting: CategoryName = "roomSetting"
    /// Last message read in a persistent chat room (MS-PRES 2.2.2.7.13).
    public static let roomUpdate: CategoryName = "roomUpdate"
    /// Last persistent chat invitation seen (MS-PRES 2.2.2.7.13).
    public static let roomInvitation: CategoryName = "roomInvitation"
    /// Persistent chat filters (MS-PRES 2.2.2.7.13).
    public static let gcFilterSetting: CategoryName = "gcFilterSetting"
    /// Settings of alerts, published by clients in container 1 for the user's other endpoints.
    public static let alerts: CategoryName = "alerts"
    /// Options of a client, published in container 1 for the user's other endpoints.
    public static let otherOptions: CategoryName = "otherOptions"
    /// Remote call control options, published in container 1 for the user's other endpoints.
    public static let rccOptions: CategoryName = "rccOptions"
    /// Data about the user, published by clients in container 1 for the user's other endpoints.
    public static let userInformation: CategoryName = "userInformation"
    /// Earlier personal notes, published by clients in containers 200, 300 and 400.
    public static let noteHistory: CategoryName = "noteHistory"

    /// Names of MS-PRES 2.2.2.7, and those that deployed clients publish in the same batches. One unregistered name refuses a whole
    /// batch (MS-PRES 3.2.5.4), so a server must register all names that its clients publish.
    public static let registered: Set<CategoryName> = [
        .state, .note, .contactCard, .device, .services, .userProperties, .legacyInterop, .routing, .calendarData, .workingHours,
        .dndState, .mwi, .linkedPICContacts, .roomSetting, .roomUpdate, .roomInvitation, .gcFilterSetting,
        .alerts, .otherOptions, .rccOptions, .userInformation, .noteHistory,
    ]

    /// Names that are not sent to category subscribers, whatever the container (MS-PRES 1.3.1.2, 2.2.2.7).
    public static let alwaysPrivate: Set<CategoryName> = [.legacyInterop, .routing, .workingHours, .dndState, .linkedPICContacts]

    /// Whether the name belongs to ``registered``.
    public var isRegistered: Bool { Self.registered.contains(self) }

    /// Whether the name belongs to ``alwaysPrivate``.
    public var isPrivate: Bool { Self.alwaysPrivate.contains(self) }

    public var description: String { rawValue }

    public static func < (left: CategoryName, right: CategoryName) -> Bool { left.rawValue < right.rawValue }
}
