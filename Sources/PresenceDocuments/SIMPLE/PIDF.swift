import XMLCore

// RFC 3863, Presence Information Data Format
// namespace urn:ietf:params:xml:ns:pidf, media type application/pidf+xml

/// Presence document (RFC 3863 4.1), with the vocabulary of RFC 4479 to 4482 and 5196 as fields.
///
/// Unknown elements and attributes are kept in their place as fragments, and written again.
public struct PIDFDocument: Hashable, Sendable {
    /// Shape of the document, as read or as to be written.
    public enum Form: Hashable, Sendable {
        /// RFC 3863 with the data model of RFC 4479.
        case standard
        /// One tuple and draft namespaces (MS-PRES 2.2.2.8).
        case draft
    }

    /// Presentity URI as written, such as `sip:alice@example.com` or `pres:alice@example.com`.
    public var entity: String
    /// Tuples in document order.
    public var tuples: [PIDFTuple] = []
    /// Notes for people, in document order.
    public var notes: [PIDFNote] = []
    /// Persons (RFC 4479); one describes the presentity, several are conflicting reports.
    public var persons: [PIDFPerson] = []
    /// Devices (RFC 4479) in document order.
    public var devices: [PIDFDevice] = []
    /// RPID elements directly under `presence`, which no standard allows.
    public var rpid = RPID()
    /// CIPID elements directly under `presence`, where MS-PRES 2.2.2.8 puts the display name.
    public var cipid = CIPID()
    /// Other identities of the presentity (MS-PRES 2.2.2.8); nil when absent.
    public var linkedIdentities: LinkedIdentities?
    /// Element `cid` (MS-PRES 2.2.2.8); nil when absent.
    public var cid: String?
    /// Exact values of the enhanced model, see ``PresenceExact``.
    public var exact: PresenceExact?
    /// Unknown elements directly under `presence`.
    public var extensions: [XMLFragment] = []
    /// Unknown attributes of `presence`.
    public var attributes: [XMLAttribute] = []
    /// Ids of tuples omitted because of an unknown extension that must be understood (RFC 3863 4.2).
    public var notUnderstood: [String] = []
    /// Shape that ``encode()`` writes; `draft` if draft activities were read.
    public var form = Form.standard

    /// Creates a document in standard form, without tuples.
    public init(entity: String) { self.entity = entity }
}

/// Tuple: a service, or another carrier of a status (RFC 3863 4.1.2).
public struct PIDFTuple: Hashable, Sendable {
    /// Id, an `xs:ID`, unique in the document.
    public var id: String
    /// Basic status; nil if the status has none, which does not mean closed (RFC 3863 4.1.4).
    public var basic: BasicStatus?
    /// Contact address with its priority; nil when absent.
    public var contact: PIDFContact?
    /// Notes for people, in document order.
    public var notes: [PIDFNote] = []
    /// Time of the report; nil when absent.
    public var timestamp: DateTime?
    /// RPID elements (RFC 4480), in the draft form those inside `status` too.
    public var rpid = RPID()
    /// Elements of CIPID (RFC 4482).
    public var cipid = CIPID()
    /// Capabilities of the service (RFC 5196); nil when absent.
    public var capabilities: ServiceCapabilities? {
        get { if case .said(let capabilities) = ownCapabilities { capabilities } else { nil } }
        set { ownCapabilities = newValue.map { .said($0) } ?? .unsaid }
    }
    private var ownCapabilities = OwnCapabilities.unsaid
    /// Statuses of the past and future (RFC 4481).
    public var timedStatuses: [TimedStatus] = []
    /// Devices that the service runs on (RFC 4479 3.4).
    public var deviceIDs: [String] = []
    /// Element `contact-type` of draft RPID: device, presentity, service, in-person.
    public var contactType: String?
    /// Unknown elements of the tuple.
    public var extensions: [XMLFragment] = []
    /// Unknown elements of the tuple's `status`.
    public var statusExtensions: [XMLFragment] = []
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []
    /// Attributes of `status` without a field here; kept and written again.
    public var statusAttributes: [XMLAttribute] = []

    public init(id: String, basic: BasicStatus? = nil) {
        self.id = id
        self.basic = basic
    }

    /// Stored behind a reference: few tuples have capabilities, and tuples are copied.
    private indirect enum OwnCapabilities: Hashable, Sendable {
        case unsaid
        case said(ServiceCapabilities)
    }

    /// Whether ``capabilities`` are present; does not copy them.
    var hasCapabilities: Bool { if case .said = ownCapabilities { true } else { false } }
}

/// Basic status: open or closed (RFC 3863 4.1.4).
public struct BasicStatus: Hashable, Sendable, CustomStringConvertible {
    /// Name as spelled in documents.
    public let name: String
    private init(_ name: String) { self.name = name }
    public var description: String { name }

    /// Ready for communication (RFC 3863 4.1.4).
    public static let open = BasicStatus("open")
    /// Not ready for communication (RFC 3863 4.1.4).
    public static let closed = BasicStatus("closed")
}

/// Communication address with its priority (RFC 3863 4.1.5).
public struct PIDFContact: Hashable, Sendable {
    /// Address as written, trimmed.
    public var uri: String
    /// Priority in thousandths, 0 to 1000; nil when absent.
    public var priority: Int?
    /// Attributes without a field here; kept and written again.
    public var attributes: [XMLAttribute] = []

    public init(uri: String, priority: Int? = nil) {
        self.uri = uri
        self.priority = priority
    }
}

/// Text for people, in one language (RFC 3863 4.1.6, RFC 4480 3.1).
public struct PIDFNote: Hashable, Sendable {
    /// Text, trimmed when parsed.
    public var text: String
    /// Language tag (RFC 5646) of `xml:lang`; nil when absent.
    public var language: String?

    public init(_ text: String, language: String? = nil) {
        self.text = text
        self.language = language
    }
}
