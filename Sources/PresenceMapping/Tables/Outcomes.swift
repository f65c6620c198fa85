import PresenceDocuments

// Rows as values: one struct per table, created when the tables are loaded.

/// The id and loss of a row, stored with its outcome.
struct RowNote: Sendable, Hashable {
    var id: String
    var loss: String?

    init(_ row: MappingRow) {
        id = row.id
        loss = row.loss
    }
}

/// Row of `availability-to-pidf`.
struct PIDFOutcome: Sendable {
    var row: RowNote
    /// The token that the row requires; nil: any.
    var token: String?
    var isOpen: Bool
    var rpid: String?
    /// An activity written before ``rpid``, for readers that do not know ``rpid``.
    var also: String?
    /// Whether the user counts as online in spite of activities (``LinphoneOnline``).
    var isOnline: Bool
}

/// Row of `availability-to-msrtc-pidf`.
struct MSRTCOutcome: Sendable {
    var row: RowNote
    var stateAvailability: Int
    var stateText: String
    var availability: Int
    var activity: Int
}

/// Row of `availability-classes`.
struct ClassOutcome: Sendable {
    var row: RowNote
    var name: String
    var range: NumberRange
    var publish: Int
    var isIdle: Bool
    var showsLastActive: Bool
    var isWilling: Bool
    var idleAdds: Int?
    var text: String
}

/// Row of `activity-token-to-rpid`.
struct TokenOutcome: Sendable {
    var row: RowNote
    var token: String?
    var availability: NumberRange?
    var rpid: String?
    var other: String?
    var bounds: NumberRange?
}

/// Row of `rpid-to-availability`, `other-text-to-availability`, `msrtc-pidf-to-availability` or `xpidf-to-availability`.
struct AvailabilityOutcome: Sendable {
    var row: RowNote
    var availability: Int
    var rank: Int
    var token: String?
    var custom: String?
    var bounds: NumberRange?
    var isOpen: Bool?
    var rpid: String?

    init(_ row: MappingRow) {
        self.row = RowNote(row)
        availability = row.integer("availability") ?? 0
        rank = row.integer("rank") ?? 0
        token = row.text("token")
        custom = row.text("custom")
        bounds = row.range("bounds")
        isOpen = row.text("basic").map { $0 == "open" }
        rpid = row.text("rpid")
    }
}

/// Row of `availability-to-xpidf`.
struct XPIDFOutcome: Sendable {
    var row: RowNote
    var token: String?
    var status: String
    var substatus: String
}

/// Row of `combine`.
struct CombineOutcome: Sendable {
    var row: RowNote
    var by: String
    var prefer: String

    /// The words of the table by kind of element: criteria, and the preferences of each criterion.
    static let words: [String: [String: Set<String>]] = [
        "tuple": ["basic": ["open", "closed"], "priority": ["greatest", "least"], "timestamp": ["newest", "oldest"]],
        "person": ["timestamp": ["newest", "oldest"]],
        "device": ["input": ["active", "idle"], "last-input": ["newest", "oldest"]],
        "activity": ["rank": ["greatest", "least"], "availability": ["greatest", "least"]],
        "idle": ["class": ["both", "availability"]],
        "state": ["manual": ["newest"], "availability": ["greatest", "least"]],
    ]

    /// Whether the first of two times wins; nil if they are equal. A present time wins over an absent one.
    func prefersTime(_ left: DateTime?, to right: DateTime?) -> Bool? {
        guard left != right else { return nil }
        guard let left else { return false }
        guard let right else { return true }
        return (left > right) == (prefer == "newest")
    }
}

/// Row of `contact`.
struct ContactOutcome: Sendable {
    var row: RowNote
    var kind: String
    var type: String
    var label: String?
    var relationship: String?
    var scheme: String?
    var element: String?
}

/// Row of `languages`.
struct LanguageOutcome: Sendable {
    var row: RowNote
    var lcid: Int
    var tag: String
}

/// Row of `time-zones`.
struct TimeZoneOutcome: Sendable {
    var row: RowNote
    var name: String
    var abbreviation: String?
    var bias: Int
}

/// Row of `free-busy`.
struct FreeBusyOutcome: Sendable {
    var row: RowNote
    var slot: Int
    var name: String?
    var isOpen: Bool?
    var rpid: String?
    var isForReadingOnly: Bool
}

/// Row of `place-to-location`, `location-to-place` or `capabilities`: the target word of a source word.
struct WordOutcome: Sendable {
    var row: RowNote
    var word: String?
}
