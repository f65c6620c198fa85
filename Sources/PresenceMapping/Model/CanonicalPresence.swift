import PresenceDocuments

/// The content of a presence document in a common model: N formats need N readers and N writers instead of N times N converters.
///
/// Values absent in the source are absent here. The state exists in two forms, because the models differ: numbers of an enhanced
/// source (``availability``, ``activity``, ``legacy``) and words of a SIMPLE source (``basic``, ``activities``). Each writer prefers
/// its own form and derives it from the other one otherwise.
///
/// ``residue`` holds the source document, so that a writer of the same format family returns it complete. Code that removes fields as
/// a policy must also remove the residue; see ``withoutResidue()``.
public struct CanonicalPresence: Sendable, Equatable {
    /// URI of the presentity, with scheme.
    public var entity: String

    // MARK: State

    /// The availability number (MS-PRES 2.2.2.7.1), published or derived; nil if the source implies none.
    public var availability: UInt32?
    /// The origin of ``availability``.
    public var provenance: AvailabilityProvenance
    /// The activity with token or custom texts, and the availabilities to which it applies.
    public var activity: CanonicalActivity?
    /// Availability and token of legacyInterop, which take precedence for PIDF and msrtc.pidf (MS-PRES 3.7.5.4, 3.7.5.5).
    public var legacy: CanonicalLegacyState?
    /// The basic status of a SIMPLE source (RFC 3863 4.1.4).
    public var basic: CanonicalBasic?
    /// Activities of a SIMPLE source (RFC 4480 3.2).
    public var activities: [CanonicalRPIDActivity] = []
    /// Whether the user's devices are idle (RFC 4480 3.14); nil if unknown.
    public var isIdle: Bool?
    /// Time of the user's last activity.
    public var lastActive: DateTime?
    /// Time of the state.
    public var timestamp: DateTime?

    // MARK: Notes and circumstances

    /// Notes of the user.
    public var notes: [CanonicalNote] = []
    /// The present meeting.
    public var meeting: CanonicalMeeting?
    /// The location in the words of endpointLocation: office, home, mobile, none or free text.
    public var location: String?
    /// The user's time zone.
    public var timeZone: CanonicalTimeZone?
    /// The type of the active device: computer, deskphone, mobile, web or another word (MS-PRES 7.2).
    public var device: String?

    // MARK: Card

    /// Display names; targets with one name get the first.
    public var displayNames: [CanonicalText] = []
    /// Mail addresses without scheme.
    public var emails: [String] = []
    /// Phone numbers.
    public var phones: [CanonicalPhone] = []
    /// Web pages.
    public var links: [CanonicalLink] = []
    /// URI of a picture of the user.
    public var icon: String?
    /// Job titles.
    public var titles: [CanonicalText] = []
    /// Companies.
    public var companies: [CanonicalText] = []
    /// Departments.
    public var departments: [CanonicalText] = []
    /// Offices.
    public var offices: [CanonicalText] = []

    // MARK: Services and calendar

    /// Capabilities in the words of MS-PRES 7.4; nil if the source does not state any.
    public var capabilities: [CanonicalCapability]?
    /// URI of the deciding service, if it differs from the presentity.
    public var serviceURI: String?
    /// Free and busy times.
    public var freeBusy: CanonicalFreeBusy?

    // MARK: Remainder

    /// Fields of the source outside the model, named for the loss report.
    public var unmapped: [UnmappedField] = []
    /// The category element of the chosen state, for the lossless extension.
    public var exactState: CategoryElement?
    /// The source document, for writers of the same format family.
    public var residue: Residue = .none

    /// Creates an empty presence.
    public init(entity: String, provenance: AvailabilityProvenance = .absent) {
        self.entity = entity
        self.provenance = provenance
    }

    /// The presence without the source document, the exact state and the unmapped fields, so that only the model's fields can be
    /// written.
    public func withoutResidue() -> CanonicalPresence {
        var copy = self
        copy.residue = .none
        copy.exactState = nil
        copy.unmapped = []
        return copy
    }
}

/// The origin of an availability.
public enum AvailabilityProvenance: Sendable, Hashable {
    /// Stated by the source.
    case published
    /// Derived from words of the source by a table row.
    case derived(rowID: String)
    /// Not stated.
    case absent
}

/// The basic status (RFC 3863 4.1.4).
public enum CanonicalBasic: Sendable, Hashable {
    case open
    case closed
}

/// A text with its language as a tag, an LCID, both or neither.
public struct CanonicalText: Sendable, Hashable {
    /// The text.
    public var text: String
    /// A language tag (RFC 5646).
    public var language: String?
    /// A Microsoft locale identifier.
    public var lcid: UInt32?

    /// Creates a text; by default without a language.
    public init(_ text: String, language: String? = nil, lcid: UInt32? = nil) {
        self.text = text
        self.language = language
        self.lcid = lcid
    }
}

/// An activity of the enhanced model (MS-PRES 2.2.2.7.1).
public struct CanonicalActivity: Sendable, Hashable {
    /// The token, such as `on-the-phone`; nil if there are texts only.
    public var token: String?
    /// Custom texts.
    public var texts: [CanonicalText]
    /// The availabilities to which the activity applies; nil: all.
    public var bounds: NumberRange?

    /// Creates an activity.
    public init(token: String? = nil, texts: [CanonicalText] = [], bounds: NumberRange? = nil) {
        self.token = token
        self.texts = texts
        self.bounds = bounds
    }
}

/// Availability and token of legacyInterop (MS-PRES 2.2.2.7.6).
public struct CanonicalLegacyState: Sendable, Hashable {
    /// The availability number.
    public var availability: UInt32
    /// The token of the activity; nil if absent.
    public var token: String?
    /// The `dndState` element; nil if absent.
    public var dndState: Bool?

    /// Creates a legacy state.
    public init(availability: UInt32, token: String? = nil, dndState: Bool? = nil) {
        self.availability = availability
        self.token = token
        self.dndState = dndState
    }
}

/// An activity of RPID (RFC 4480 3.2).
public struct CanonicalRPIDActivity: Sendable, Hashable {
    /// The element name; `other` for free text.
    public var name: String
    /// The text of `other`; nil for other elements.
    public var text: String?
    /// The language tag of the text.
    public var language: String?
    /// Start of validity; nil: unlimited.
    public var from: DateTime?
    /// End of validity; nil: unlimited.
    public var until: DateTime?

    /// Creates an activity; by default of unlimited validity.
    public init(_ name: String, text: String? = nil, language: String? = nil, from: DateTime? = nil, until: DateTime? = nil) {
        self.name = name
        self.text = text
        self.language = language
        self.from = from
        self.until = until
    }
}

/// A note of the user.
public struct CanonicalNote: Sendable, Hashable {
    /// The type of a note.
    public enum Kind: Sendable, Hashable {
        case personal
        case outOfOffice
    }

    /// The text.
    public var text: String
    /// A language tag (RFC 5646).
    public var language: String?
    /// The type.
    public var kind: Kind
    /// Start of validity; nil: unlimited.
    public var start: DateTime?
    /// End of validity; nil: unlimited.
    public var end: DateTime?

    /// Creates a note; by default a personal one.
    public init(_ text: String, language: String? = nil, kind: Kind = .personal, start: DateTime? = nil, end: DateTime? = nil) {
        self.text = text
        self.language = language
        self.kind = kind
        self.start = start
        self.end = end
    }
}

/// Subject and location of the user's present meeting (MS-PRES 7.2).
public struct CanonicalMeeting: Sendable, Hashable {
    /// The subject; nil if absent.
    public var subject: CanonicalText?
    /// The location; nil if absent.
    public var location: CanonicalText?

    /// Creates a meeting.
    public init(subject: CanonicalText? = nil, location: CanonicalText? = nil) {
        self.subject = subject
        self.location = location
    }
}

/// The user's time zone.
public struct CanonicalTimeZone: Sendable, Hashable {
    /// UTC minus local time in minutes, from -840 to 840; nil if unknown.
    public var bias: Int?
    /// The name, such as `W. Europe Standard Time`.
    public var name: String?
    /// The abbreviation.
    public var abbreviation: String?

    /// Creates a time zone.
    public init(bias: Int?, name: String? = nil, abbreviation: String? = nil) {
        self.bias = bias
        self.name = name
        self.abbreviation = abbreviation
    }
}

/// A phone number with its type of MS-PRES 7.3 (work, mobile, home, other, custom1).
public struct CanonicalPhone: Sendable, Hashable {
    /// The type.
    public var type: String
    /// The number as a URI, usually `tel:`.
    public var uri: String
    /// The number as displayed; nil if absent.
    public var display: String?

    /// Creates a phone number.
    public init(type: String, uri: String, display: String? = nil) {
        self.type = type
        self.uri = uri
        self.display = display
    }
}

/// A web page with its type of MS-PRES 7.3 (other, sharepoint, voicemail).
public struct CanonicalLink: Sendable, Hashable {
    /// The type.
    public var type: String
    /// The URI of the page.
    public var uri: String

    /// Creates a link.
    public init(type: String, uri: String) {
        self.type = type
        self.uri = uri
    }
}

/// A capability of the user in the words of MS-PRES 7.4.
public struct CanonicalCapability: Sendable, Hashable {
    /// The name, such as `text`.
    public var name: String
    /// Whether the user can receive it.
    public var render: Bool
    /// Whether the user can send it.
    public var capture: Bool

    /// Creates a capability.
    public init(_ name: String, render: Bool, capture: Bool) {
        self.name = name
        self.render = render
        self.capture = capture
    }
}

/// Free/busy slots from a start time (MS-PRES 2.2.2.7.8).
public struct CanonicalFreeBusy: Sendable, Hashable {
    /// Start of the first slot.
    public var start: DateTime
    /// Length of a slot in seconds, at least 1.
    public var slotSeconds: Int
    /// One state per slot: 0 free, 1 tentative, 2 busy, 3 out of facility, 4 working elsewhere.
    public var slots: [UInt8]
    /// The mailbox of the calendar; nil if unknown.
    public var mailbox: String?

    /// Creates free/busy times.
    public init(start: DateTime, slotSeconds: Int, slots: [UInt8], mailbox: String? = nil) {
        self.start = start
        self.slotSeconds = slotSeconds
        self.slots = slots
        self.mailbox = mailbox
    }
}

/// A field of a source document outside the canonical model.
public struct UnmappedField: Sendable, Hashable {
    /// The name in the table `fields`.
    public var field: String
    /// The value for the loss report.
    public var value: String

    /// Creates a field.
    public init(_ field: String, _ value: String) {
        self.field = field
        self.value = value
    }
}

/// The complete source document, for writers of its format family.
public indirect enum Residue: Sendable, Equatable {
    case none
    case categories(CategoriesDocument)
    case legacyInterop(LegacyInteropDocument)
    case msrtc(MSRTCPIDFDocument)
    case pidf(PIDFDocument)
    case xpidf(XPIDFDocument)
}
