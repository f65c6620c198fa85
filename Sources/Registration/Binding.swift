import SIPCore

/// The binding of one endpoint of a user to its Contact, with its expiry (RFC 3261 10.3).
public struct Binding: Hashable, Sendable {
    /// The user's address of record as a key (`SIPURI.aorKey`).
    public let user: String
    /// The endpoint identifier; nil: a client of RFC 3261, identified by its Contact URI.
    public let endpoint: EndpointID?
    /// The Contact as it was registered.
    public internal(set) var contact: NameAddr
    /// Call-ID of the last REGISTER.
    public internal(set) var callID: String
    /// CSeq number of the last REGISTER.
    public internal(set) var cSeq: UInt32
    /// Time at which the granted interval ends.
    public internal(set) var expiry: Instant
    /// Source of the last REGISTER.
    public internal(set) var source: MessageSource
    /// Time at which the binding ends because its connection closed, or was lost in a restart; nil otherwise. A new REGISTER clears
    /// it.
    package internal(set) var goneAt: Instant?

    /// Time at which the binding ends without a further REGISTER: the earlier of ``expiry`` and ``goneAt``.
    package var deadline: Instant { goneAt.map { min($0, expiry) } ?? expiry }

    var key: Key { Key(user: user, place: endpoint.map(Place.endpoint) ?? .contact(contact.uri)) }

    struct Key: Hashable, Sendable {
        var user: String
        var place: Place
    }

    enum Place: Hashable, Sendable {
        case endpoint(EndpointID)
        case contact(SIPURI)
    }

    /// Creates a binding, for example from a stored record; ``Registrar/restore(_:)`` adds it to a registrar.
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
