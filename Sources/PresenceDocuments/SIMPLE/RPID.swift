import XMLCore

// RFC 4480, RPID: Rich Presence Extensions to PIDF
// namespace urn:ietf:params:xml:ns:pidf:rpid, inside PIDF

/// RPID elements of one person, tuple or device (RFC 4480 3), several of each kind.
///
/// Each may be bounded in time; the reader of the document decides which one is valid now.
public struct RPID: Hashable, Sendable {
    /// Single reference to all lists; nil for an element without RPID: documents are copied far more often than changed.
    private var box: Box?

    public init() {}

    /// Whether there are no elements.
    public var isEmpty: Bool { box.map { $0.lists == Lists() } ?? true }

    /// Elements `activities` in document order (RFC 4480 3.2).
    public var activities: [RPIDList<RPIDActivity>] {
        get { box?.lists.activities ?? [] }
        _modify { yield &own.activities }
    }
    /// Elements `class` in document order (RFC 4480 3.3).
    public var classes: [RPIDText] {
        get { box?.lists.classes ?? [] }
        _modify { yield &own.classes }
    }
    /// Elements `mood` in document order (RFC 4480 3.5).
    public var moods: [RPIDList<RPIDMood>] {
        get { box?.lists.moods ?? [] }
        _modify { yield &own.moods }
    }
    /// Elements `place-is` in document order (RFC 4480 3.6).
    public var placeIs: [RPIDPlaceIs] {
        get { box?.lists.placeIs ?? [] }
        _modify { yield &own.placeIs }
    }
    /// Elements `place-type` in document order (RFC 4480 3.7).
    public var placeTypes: [RPIDList<LocationType>] {
        get { box?.lists.placeTypes ?? [] }
        _modify { yield &own.placeTypes }
    }
    /// Elements `privacy` in document order (RFC 4480 3.8).
    public var privacies: [RPIDPrivacy] {
        get { box?.lists.privacies ?? [] }
        _modify { yield &own.privacies }
    }
    /// Elements `relationship` in document order (RFC 4480 3.9).
    public var relationships: [RPIDList<RPIDRelationship>] {
        get { box?.lists.relationships ?? [] }
        _modify { yield &own.relationships }
    }
    /// Elements `service-class` in document order (RFC 4480 3.10).
    public var serviceClasses: [RPIDList<RPIDServiceClass>] {
        get { box?.lists.serviceClasses ?? [] }
        _modify { yield &own.serviceClasses }
    }
    /// Elements `sphere` in document order (RFC 4480 3.11).
    public var spheres: [RPIDList<RPIDSphere>] {
        get { box?.lists.spheres ?? [] }
        _modify { yield &own.spheres }
    }
    /// Elements `status-icon` in document order (RFC 4480 3.12).
    public var statusIcons: [RPIDText] {
        get { box?.lists.statusIcons ?? [] }
        _modify { yield &own.statusIcons }
    }
    /// Elements `time-offset` in document order (RFC 4480 3.13).
    public var timeOffsets: [RPIDTimeOffset] {
        get { box?.lists.timeOffsets ?? [] }
        _modify { yield &own.timeOffsets }
    }
    /// Elements `user-input` in document order (RFC 4480 3.14).
    public var userInputs: [RPIDUserInput] {
        get { box?.lists.userInputs ?? [] }
        _modify { yield &own.userInputs }
    }

    public static func == (left: RPID, right: RPID) -> Bool {
        left.box === right.box || (left.box?.lists ?? Lists()) == (right.box?.lists ?? Lists())
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(box?.lists ?? Lists()) }

    /// Lists for writing; copied first if shared.
    private var own: Lists {
        get { box?.lists ?? Lists() }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box?.lists ?? Lists()) }
            // The line above created it; without it there is nothing to change.
            if let box {
                yield &box.lists
            } else {
                var none = Lists()
                yield &none
            }
        }
    }

    private struct Lists: Hashable, Sendable {
        var activities: [RPIDList<RPIDActivity>] = []
        var classes: [RPIDText] = []
        var moods: [RPIDList<RPIDMood>] = []
        var placeIs: [RPIDPlaceIs] = []
        var placeTypes: [RPIDList<LocationType>] = []
        var privacies: [RPIDPrivacy] = []
        var relationships: [RPIDList<RPIDRelationship>] = []
        var serviceClasses: [RPIDList<RPIDServiceClass>] = []
        var spheres: [RPIDList<RPIDSphere>] = []
        var statusIcons: [RPIDText] = []
        var timeOffsets: [RPIDTimeOffset] = []
        var userInputs: [RPIDUserInput] = []
    }

    /// Changed only while a single reference exists.
    private final class Box: @unchecked Sendable {
        var lists: Lists
        init(_ lists: Lists) { self.lists = lists }
    }
}

/// Attributes and notes that any RPID element may have (RFC 4480 3.1).
public struct RPIDInfo: Hashable, Sendable {
    /// Id of the element; nil when absent.
    public var id: String?
    /// Start of validity, included; nil: unbounded.
    public var from: DateTime?
    /// End of validity, excluded; nil: unbounded.
    public var until: DateTime?
    /// Notes for people, in document order.
    public var notes: [PIDFNote] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    /// Creates attributes; by default unbounded and without notes.
    public init(from: DateTime? = nil, until: DateTime? = nil, notes: [PIDFNote] = []) {
        self.from = from
        self.until = until
        self.notes = notes
    }

    /// Whether the element applies at a moment: `from` is included, `until` excluded.
    public func isValid(at moment: DateTime) -> Bool {
        if let from, moment < from { return false }
        if let until, moment >= until { return false }
        return true
    }
}

/// Element with values as child elements: activities, mood, place-type, relationship, service-class, sphere.
public struct RPIDList<Token: PresenceToken>: Hashable, Sendable {
    /// Attributes and notes common to RPID elements.
    public var info: RPIDInfo
    /// Values in document order, without `other`.
    public var values: [Token]
    /// Texts of `other`.
    public var others: [PIDFNote]
    /// Children of namespaces other than RPID; kept and written again.
    public var extensions: [XMLFragment] = []

    public init(_ values: [Token] = [], others: [PIDFNote] = [], info: RPIDInfo = RPIDInfo()) {
        self.values = values
        self.others = others
        self.info = info
    }
}

/// Element with text only: class (RFC 4480 3.3), status-icon (3.12).
public struct RPIDText: Hashable, Sendable {
    /// Attributes and notes common to RPID elements.
    public var info: RPIDInfo
    /// Text, trimmed when parsed.
    public var text: String

    public init(_ text: String, info: RPIDInfo = RPIDInfo()) {
        self.text = text
        self.info = info
    }
}

/// Media that the place allows (RFC 4480 3.6).
public struct RPIDPlaceIs: Hashable, Sendable {
    /// Attributes and notes common to RPID elements.
    public var info = RPIDInfo()
    /// Audio: noisy, ok, quiet or unknown; nil when absent.
    public var audio: String?
    /// Video: toobright, ok, dark or unknown; nil when absent.
    public var video: String?
    /// Text: uncomfortable, inappropriate, ok or unknown; nil when absent.
    public var text: String?
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []

    public init(audio: String? = nil, video: String? = nil, text: String? = nil) {
        self.audio = audio
        self.video = video
        self.text = text
    }
}

/// Media that others are unlikely to intercept (RFC 4480 3.8).
public struct RPIDPrivacy: Hashable, Sendable {
    /// Attributes and notes common to RPID elements.
    public var info = RPIDInfo()
    /// Whether audio is private.
    public var audio = false
    /// Whether text is private.
    public var text = false
    /// Whether video is private.
    public var video = false
    /// Whether the privacy is unknown.
    public var unknown = false
    /// Elements without a field here; kept and written again.
    public var extensions: [XMLFragment] = []

    public init(audio: Bool = false, text: Bool = false, video: Bool = false, unknown: Bool = false) {
        self.audio = audio
        self.text = text
        self.video = video
        self.unknown = unknown
    }
}

/// Offset of the person's local time from UTC (RFC 4480 3.13).
public struct RPIDTimeOffset: Hashable, Sendable {
    /// Attributes and notes common to RPID elements.
    public var info = RPIDInfo()
    /// Minutes, positive east of Greenwich; -10,080 to 10,080 when parsed.
    public var minutes: Int
    /// Label of the zone, for people; nil when absent.
    public var description: String?

    public init(minutes: Int, description: String? = nil) {
        self.minutes = minutes
        self.description = description
    }
}

/// Whether the person uses the device or service (RFC 4480 3.14).
public struct RPIDUserInput: Hashable, Sendable {
    /// Attributes and notes common to RPID elements.
    public var info = RPIDInfo()
    /// Whether the user is idle; otherwise active.
    public var isIdle: Bool
    /// Seconds without input that count as idle, at least 1 when parsed; nil when absent.
    public var idleThreshold: Int?
    /// Time of the last input; nil when absent.
    public var lastInput: DateTime?

    public init(isIdle: Bool, idleThreshold: Int? = nil, lastInput: DateTime? = nil) {
        self.isIdle = isIdle
        self.idleThreshold = idleThreshold
        self.lastInput = lastInput
    }
}
