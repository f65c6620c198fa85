import XMLCore

// RFC 3863, Presence Information Data Format
// namespace urn:ietf:params:xml:ns:pidf, media type application/pidf+xml

/// A presence document (RFC 3863 4.1) with the vocabulary of RFC 4479 to 4482 and 5196 read out of it.
///
/// Elements and attributes that are not understood are kept where they stood, as fragments; they come back when it is encoded.
public struct PIDFDocument: Hashable, Sendable {
    /// Which shape the document has, or is to be written in.
    public enum Form: Hashable, Sendable {
        /// RFC 3863 with the data model.
        case standard
        /// One tuple and draft namespaces (MS-PRES 2.2.2.8).
        case draft
    }

    /// The presentity's URI as written, for instance `sip:alice@example.com` or `pres:alice@example.com`.
    public var entity: String
    public var tuples: [PIDFTuple] = []
    public var notes: [PIDFNote] = []
    /// RFC 4479; one describes the presentity, several are reports in conflict.
    public var persons: [PIDFPerson] = []
    public var devices: [PIDFDevice] = []
    /// RPID elements that stood directly under `presence`, where no standard puts them.
    public var rpid = RPID()
    /// CIPID elements that stood directly under `presence`, as MS-PRES 2.2.2.8 does with the display name.
    public var cipid = CIPID()
    /// MS-PRES 2.2.2.8
    public var linkedIdentities: LinkedIdentities?
    /// MS-PRES 2.2.2.8
    public var cid: String?
    /// Exact values of the enhanced model, see ``PresenceExact``.
    public var exact: PresenceExact?
    /// Unknown elements directly under `presence`.
    public var extensions: [XMLFragment] = []
    /// Unknown attributes of `presence`.
    public var attributes: [XMLAttribute] = []
    /// Ids of tuples that were left out because an extension in them had to be understood and was not (RFC 3863 4.1.6).
    public var notUnderstood: [String] = []
    public var form = Form.standard

    public init(entity: String) { self.entity = entity }
}

/// One tuple: a service, or any other carrier of a status (RFC 3863 4.1.2).
public struct PIDFTuple: Hashable, Sendable {
    /// Unique in its document; an `xs:ID`.
    public var id: String
    /// Nil when the status says nothing about it, which is not closed (RFC 3863 4.1.4).
    public var basic: BasicStatus?
    public var contact: PIDFContact?
    public var notes: [PIDFNote] = []
    public var timestamp: DateTime?
    /// RFC 4480; also what the draft form has inside `status`.
    public var rpid = RPID()
    public var cipid = CIPID()
    /// RFC 5196
    public var capabilities: ServiceCapabilities? {
        get { if case .said(let capabilities) = ownCapabilities { capabilities } else { nil } }
        set { ownCapabilities = newValue.map { .said($0) } ?? .unsaid }
    }
    private var ownCapabilities = OwnCapabilities.unsaid
    /// RFC 4481
    public var timedStatuses: [TimedStatus] = []
    /// Devices that the service runs on (RFC 4479 3.4).
    public var deviceIDs: [String] = []
    /// Draft RPID `contact-type`: device, presentity, service, in-person.
    public var contactType: String?
    /// Unknown elements of the tuple.
    public var extensions: [XMLFragment] = []
    /// Unknown elements of the tuple's `status`.
    public var statusExtensions: [XMLFragment] = []
    public var attributes: [XMLAttribute] = []
    public var statusAttributes: [XMLAttribute] = []

    public init(id: String, basic: BasicStatus? = nil) {
        self.id = id
        self.basic = basic
    }

    /// Behind one reference: few tuples have them, and tuples are copied.
    private indirect enum OwnCapabilities: Hashable, Sendable {
        case unsaid
        case said(ServiceCapabilities)
    }

    /// Whether ``capabilities`` are there; makes no copy of them.
    var hasCapabilities: Bool { if case .said = ownCapabilities { true } else { false } }
}

/// Open or closed (RFC 3863 4.1.4).
public struct BasicStatus: Hashable, Sendable, CustomStringConvertible {
    public let name: String
    private init(_ name: String) { self.name = name }
    public var description: String { name }

    public static let open = BasicStatus("open")
    public static let closed = BasicStatus("closed")
}

/// A communication address with its priority (RFC 3863 4.1.5).
public struct PIDFContact: Hashable, Sendable {
    public var uri: String
    /// Thousandths, 0 to 1000; nil when there is none.
    public var priority: Int?
    public var attributes: [XMLAttribute] = []

    public init(uri: String, priority: Int? = nil) {
        self.uri = uri
        self.priority = priority
    }
}

/// Text for people, in one language (RFC 3863 4.1.6, RFC 4480 3.1).
public struct PIDFNote: Hashable, Sendable {
    public var text: String
    /// Tag of RFC 5646, from `xml:lang`.
    public var language: String?

    public init(_ text: String, language: String? = nil) {
        self.text = text
        self.language = language
    }
}
