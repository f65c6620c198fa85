import XMLCore

// RFC 4480, RPID: Rich Presence Extensions to PIDF
// namespace urn:ietf:params:xml:ns:pidf:rpid, inside PIDF

/// Every RPID element of one person, tuple or device (RFC 4480 3), several instances of each.
///
/// Each may be bounded in time; which one is valid now is for the reader of the document to decide.
public struct RPID: Hashable, Sendable {
    /// One reference for all the lists, and none for an element without RPID: documents are copied far more often than changed.
    private var box: Box?

    public init() {}

    public var isEmpty: Bool { box.map { $0.lists == Lists() } ?? true }

    public var activities: [RPIDList<RPIDActivity>] {
        get { box?.lists.activities ?? [] }
        _modify { yield &own.activities }
    }
    public var classes: [RPIDText] {
        get { box?.lists.classes ?? [] }
        _modify { yield &own.classes }
    }
    public var moods: [RPIDList<RPIDMood>] {
        get { box?.lists.moods ?? [] }
        _modify { yield &own.moods }
    }
    public var placeIs: [RPIDPlaceIs] {
        get { box?.lists.placeIs ?? [] }
        _modify { yield &own.placeIs }
    }
    public var placeTypes: [RPIDList<LocationType>] {
        get { box?.lists.placeTypes ?? [] }
        _modify { yield &own.placeTypes }
    }
    public var privacies: [RPIDPrivacy] {
        get { box?.lists.privacies ?? [] }
        _modify { yield &own.privacies }
    }
    public var relationships: [RPIDList<RPIDRelationship>] {
        get { box?.lists.relationships ?? [] }
        _modify { yield &own.relationships }
    }
    public var serviceClasses: [RPIDList<RPIDServiceClass>] {
        get { box?.lists.serviceClasses ?? [] }
        _modify { yield &own.serviceClasses }
    }
    public var spheres: [RPIDList<RPIDSphere>] {
        get { box?.lists.spheres ?? [] }
        _modify { yield &own.spheres }
    }
    public var statusIcons: [RPIDText] {
        get { box?.lists.statusIcons ?? [] }
        _modify { yield &own.statusIcons }
    }
    public var timeOffsets: [RPIDTimeOffset] {
        get { box?.lists.timeOffsets ?? [] }
        _modify { yield &own.timeOffsets }
    }
    public var userInputs: [RPIDUserInput] {
        get { box?.lists.userInputs ?? [] }
        _modify { yield &own.userInputs }
    }

    public static func == (left: RPID, right: RPID) -> Bool {
        left.box === right.box || (left.box?.lists ?? Lists()) == (right.box?.lists ?? Lists())
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(box?.lists ?? Lists()) }

    /// The lists, for writing: copied first when shared.
    private var own: Lists {
        get { box?.lists ?? Lists() }
        _modify {
            if !isKnownUniquelyReferenced(&box) { box = Box(box?.lists ?? Lists()) }
            // The line above made it; without it there is nothing to change.
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

    /// Changed only while one reference exists.
    private final class Box: @unchecked Sendable {
        var lists: Lists
        init(_ lists: Lists) { self.lists = lists }
    }
}

/// What any RPID element may carry (RFC 4480 3.1).
public struct RPIDInfo: Hashable, Sendable {
    public var id: String?
    public var from: DateTime?
    public var until: DateTime?
    public var notes: [PIDFNote] = []
    public var attributes: [XMLAttribute] = []

    public init(from: DateTime? = nil, until: DateTime? = nil, notes: [PIDFNote] = []) {
        self.from = from
        self.until = until
        self.notes = notes
    }

    /// Whether the element applies at that moment: `from` included, `until` excluded.
    public func isValid(at moment: DateTime) -> Bool {
        if let from, moment < from { return false }
        if let until, moment >= until { return false }
        return true
    }
}

/// An element that lists values as child elements: activities, mood, place-type, relationship, service-class, sphere.
public struct RPIDList<Token: PresenceToken>: Hashable, Sendable {
    public var info: RPIDInfo
    /// In document order, `other` left out.
    public var values: [Token]
    /// Texts of `other`.
    public var others: [PIDFNote]
    /// Children of namespaces that are not RPID's.
    public var extensions: [XMLFragment] = []

    public init(_ values: [Token] = [], others: [PIDFNote] = [], info: RPIDInfo = RPIDInfo()) {
        self.values = values
        self.others = others
        self.info = info
    }
}

/// An element with text only: class (RFC 4480 3.3), status-icon (3.12).
public struct RPIDText: Hashable, Sendable {
    public var info: RPIDInfo
    public var text: String

    public init(_ text: String, info: RPIDInfo = RPIDInfo()) {
        self.text = text
        self.info = info
    }
}

/// What communication the place allows (RFC 4480 3.6).
public struct RPIDPlaceIs: Hashable, Sendable {
    public var info = RPIDInfo()
    /// noisy, ok, quiet, unknown
    public var audio: String?
    /// toobright, ok, dark, unknown
    public var video: String?
    /// uncomfortable, inappropriate, ok, unknown
    public var text: String?
    public var extensions: [XMLFragment] = []

    public init(audio: String? = nil, video: String? = nil, text: String? = nil) {
        self.audio = audio
        self.video = video
        self.text = text
    }
}

/// Media that others are unlikely to intercept (RFC 4480 3.8).
public struct RPIDPrivacy: Hashable, Sendable {
    public var info = RPIDInfo()
    public var audio = false
    public var text = false
    public var video = false
    public var unknown = false
    public var extensions: [XMLFragment] = []

    public init(audio: Bool = false, text: Bool = false, video: Bool = false, unknown: Bool = false) {
        self.audio = audio
        self.text = text
        self.video = video
        self.unknown = unknown
    }
}

/// Offset of the person's clock from UTC (RFC 4480 3.13).
public struct RPIDTimeOffset: Hashable, Sendable {
    public var info = RPIDInfo()
    /// Minutes, positive east of Greenwich.
    public var minutes: Int
    /// A label of the zone, for people.
    public var description: String?

    public init(minutes: Int, description: String? = nil) {
        self.minutes = minutes
        self.description = description
    }
}

/// Whether the person uses the device or service (RFC 4480 3.14).
public struct RPIDUserInput: Hashable, Sendable {
    public var info = RPIDInfo()
    public var isIdle: Bool
    /// Seconds without input that count as idle; positive.
    public var idleThreshold: Int?
    public var lastInput: DateTime?

    public init(isIdle: Bool, idleThreshold: Int? = nil, lastInput: DateTime? = nil) {
        self.isIdle = isIdle
        self.idleThreshold = idleThreshold
        self.lastInput = lastInput
    }
}
