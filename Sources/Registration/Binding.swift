import SIPCore

/// Where one endpoint of a user can be reached, and until when (RFC 3261 10.3).
public struct Binding: Hashable, Sendable {
    /// The user's address of record as a key (`SIPURI.aorKey`).
    public let user: String
    /// nil: a client of RFC 3261, known by its Contact alone.
    public let endpoint: EndpointID?
    /// The Contact as it was registered.
    public internal(set) var contact: NameAddr
    public internal(set) var callID: String
    public internal(set) var cSeq: UInt32
    public internal(set) var expiry: Instant
    /// Where the last REGISTER came from.
    public internal(set) var source: MessageSource
    /// When the binding ends because its connection closed, unless the endpoint registers again.
    public internal(set) var goneAt: Instant?

    /// When it ends by itself.
    public var deadline: Instant { goneAt.map { min($0, expiry) } ?? expiry }

    var key: Key { Key(user: user, place: endpoint.map(Place.endpoint) ?? .contact(contact.uri)) }

    struct Key: Hashable, Sendable {
        var user: String
        var place: Place
    }

    enum Place: Hashable, Sendable {
        case endpoint(EndpointID)
        case contact(SIPURI)
    }

    public init(
        user: String, endpoint: EndpointID?, contact: NameAddr, callID: String, cSeq: UInt32, expiry: Instant, source: MessageSource,
        goneAt: Instant? = nil
    ) {
        self.user = user
        self.endpoint = endpoint
        self.contact = contact
        self.callID = callID
        self.cSeq = cSeq
        self.expiry = expiry
        self.source = source
        self.goneAt = goneAt
    }
}
