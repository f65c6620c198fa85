import PresenceDocuments

/// What a presence document says, in words that belong to no side: N formats need N readers and N writers, not N times N converters.
///
/// Values that a source did not say are absent, never guessed. Two things are kept twice because the sides say them differently: what an
/// enhanced source said as a number (``availability``, ``activity``, ``legacy``) and what a SIMPLE source said as words (``basic``,
/// ``activities``); each side's writer prefers its own and derives from the other's.
///
/// ``residue`` holds the source document so that the same format family can write it again complete. Whoever removes something from a
/// presence on purpose (a policy) must drop the residue too; see ``withoutResidue()``.
public struct CanonicalPresence: Sendable, Equatable {
    /// The presentity, with its scheme.
    public var entity: String

    // MARK: State

    /// The availability number (MS-PRES 2.2.2.7.1), said or derived; nil when the source says nothing about it.
    public var availability: UInt32?
    /// Where ``availability`` comes from.
    public var provenance: AvailabilityProvenance
    /// The activity of the number: token or own texts, with the numbers for which it holds.
    public var activity: CanonicalActivity?
    /// Number and token of the legacyInterop category, which win for PIDF and msrtc.pidf (MS-PRES 3.7.5.4, 3.7.5.5).
    public var legacy: CanonicalLegacyState?
    /// Open or closed as a SIMPLE source said it (RFC 3863 4.1.4).
    public var basic: CanonicalBasic?
    /// Activities in RPID words (RFC 4480 3.2) as a SIMPLE source said them.
    public var activities: [CanonicalRPIDActivity] = []
    /// Whether the user's devices see no input (RFC 4480 3.14).
    public var isIdle: Bool?
    /// When the user was last active.
    public var lastActive: DateTime?
    /// When the state was said.
    public var timestamp: DateTime?

    // MARK: Words of the user

    public var notes: [CanonicalNote] = []
    public var meeting: CanonicalMeeting?
    /// Where the user is, in the words of endpointLocation: office, home, mobile, none or free text.
    public var location: String?
    public var timeZone: CanonicalTimeZone?
    /// The kind of the active device: computer, deskphone, mobile, web or other words (MS-PRES 7.2).
    public var device: String?

    // MARK: Card

    public var displayNames: [CanonicalText] = []
    public var emails: [String] = []
    public var phones: [CanonicalPhone] = []
    public var links: [CanonicalLink] = []
    /// Address of a picture of the user.
    public var icon: String?
    public var titles: [CanonicalText] = []
    public var companies: [CanonicalText] = []
    public var departments: [CanonicalText] = []
    public var offices: [CanonicalText] = []

    // MARK: Services and calendar

    /// What the user can be reached by, in the words of MS-PRES 7.4; nil when nothing is said.
    public var capabilities: [CanonicalCapability]?
    /// Address of the service that decides, where it is not the presentity itself.
    public var serviceURI: String?
    public var freeBusy: CanonicalFreeBusy?

    // MARK: The rest

    /// Fields of the source that the model has no place for, named for the report of losses.
    public var unmapped: [UnmappedField] = []
    /// The chosen state as its category element, for the lossless extension.
    public var exactState: CategoryElement?
    /// The source document, for writers of the same family.
    public var residue: Residue = .none

    public init(entity: String, provenance: AvailabilityProvenance = .absent) {
        self.entity = entity
        self.provenance = provenance
    }

    /// The same presence without the source document, so that nothing but the fields can be written.
    public func withoutResidue() -> CanonicalPresence {
        var copy = self
        copy.residue = .none
        copy.exactState = nil
        copy.unmapped = []
        return copy
    }
}

/// Where an availability number comes from.
public enum AvailabilityProvenance: Sendable, Hashable {
    /// The source said the number.
    case published
    /// The number follows from words of the source by a row of the tables.
    case derived(rowID: String)
    /// Nothing was said.
    case absent
}

/// Open or closed (RFC 3863 4.1.4).
public enum CanonicalBasic: Sendable, Hashable {
    case open
    case closed
}

/// A text in a language, named as a tag, an LCID or both.
public struct CanonicalText: Sendable, Hashable {
    public var text: String
    /// A tag of RFC 5646.
    public var language: String?
    /// A locale identifier of Microsoft.
    public var lcid: UInt32?

    public init(_ text: String, language: String? = nil, lcid: UInt32? = nil) {
        self.text = text
        self.language = language
        self.lcid = lcid
    }
}

/// An activity in Microsoft words (MS-PRES 2.2.2.7.1).
public struct CanonicalActivity: Sendable, Hashable {
    public var token: String?
    public var texts: [CanonicalText]
    /// The numbers for which the activity holds; absent means all.
    public var bounds: NumberRange?

    public init(token: String? = nil, texts: [CanonicalText] = [], bounds: NumberRange? = nil) {
        self.token = token
        self.texts = texts
        self.bounds = bounds
    }
}

/// Number and token of legacyInterop (MS-PRES 2.2.2.7.6).
public struct CanonicalLegacyState: Sendable, Hashable {
    public var availability: UInt32
    public var token: String?
    public var dndState: Bool?

    public init(availability: UInt32, token: String? = nil, dndState: Bool? = nil) {
        self.availability = availability
        self.token = token
        self.dndState = dndState
    }
}

/// An activity in RPID words (RFC 4480 3.2).
public struct CanonicalRPIDActivity: Sendable, Hashable {
    /// The element's name; `other` for free text.
    public var name: String
    /// The text of `other`.
    public var text: String?
    public var language: String?
    public var from: DateTime?
    public var until: DateTime?

    public init(_ name: String, text: String? = nil, language: String? = nil, from: DateTime? = nil, until: DateTime? = nil) {
        self.name = name
        self.text = text
        self.language = language
        self.from = from
        self.until = until
    }
}

/// A text that the user shows.
public struct CanonicalNote: Sendable, Hashable {
    public enum Kind: Sendable, Hashable {
        case personal
        case outOfOffice
    }

    public var text: String
    /// A tag of RFC 5646.
    public var language: String?
    public var kind: Kind
    public var start: DateTime?
    public var end: DateTime?

    public init(_ text: String, language: String? = nil, kind: Kind = .personal, start: DateTime? = nil, end: DateTime? = nil) {
        self.text = text
        self.language = language
        self.kind = kind
        self.start = start
        self.end = end
    }
}

/// Subject and place of the meeting the user is in (MS-PRES 7.2).
public struct CanonicalMeeting: Sendable, Hashable {
    public var subject: CanonicalText?
    public var location: CanonicalText?

    public init(subject: CanonicalText? = nil, location: CanonicalText? = nil) {
        self.subject = subject
        self.location = location
    }
}

/// The user's time zone.
public struct CanonicalTimeZone: Sendable, Hashable {
    /// UTC less local time, in minutes, -840 to 840.
    public var bias: Int?
    public var name: String?
    public var abbreviation: String?

    public init(bias: Int?, name: String? = nil, abbreviation: String? = nil) {
        self.bias = bias
        self.name = name
        self.abbreviation = abbreviation
    }
}

/// A phone number as a URI, with the type of MS-PRES 7.3 (work, mobile, home, other, custom1).
public struct CanonicalPhone: Sendable, Hashable {
    public var type: String
    public var uri: String
    public var display: String?

    public init(type: String, uri: String, display: String? = nil) {
        self.type = type
        self.uri = uri
        self.display = display
    }
}

/// The address of a page, with the type of MS-PRES 7.3 (other, sharepoint, voicemail).
public struct CanonicalLink: Sendable, Hashable {
    public var type: String
    public var uri: String

    public init(type: String, uri: String) {
        self.type = type
        self.uri = uri
    }
}

/// One thing the user can be reached by, in the words of MS-PRES 7.4.
public struct CanonicalCapability: Sendable, Hashable {
    public var name: String
    public var render: Bool
    public var capture: Bool

    public init(_ name: String, render: Bool, capture: Bool) {
        self.name = name
        self.render = render
        self.capture = capture
    }
}

/// Slots of time from a moment on (MS-PRES 2.2.2.7.8).
public struct CanonicalFreeBusy: Sendable, Hashable {
    public var start: DateTime
    /// Length of a slot in seconds, at least 1.
    public var slotSeconds: Int
    /// One number per slot: 0 free, 1 tentative, 2 busy, 3 out of facility, 4 working elsewhere.
    public var slots: [UInt8]
    /// The mailbox that the calendar belongs to.
    public var mailbox: String?

    public init(start: DateTime, slotSeconds: Int, slots: [UInt8], mailbox: String? = nil) {
        self.start = start
        self.slotSeconds = slotSeconds
        self.slots = slots
        self.mailbox = mailbox
    }
}

/// A field of a source that the model has no place for.
public struct UnmappedField: Sendable, Hashable {
    /// The name in the table `fields`.
    public var field: String
    public var value: String

    public init(_ field: String, _ value: String) {
        self.field = field
        self.value = value
    }
}

/// A source document, kept whole for writers of its family.
public indirect enum Residue: Sendable, Equatable {
    case none
    case categories(CategoriesDocument)
    case legacyInterop(LegacyInteropDocument)
    case msrtc(MSRTCPIDFDocument)
    case pidf(PIDFDocument)
    case xpidf(XPIDFDocument)
}
