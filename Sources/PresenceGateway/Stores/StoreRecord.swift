import SIPCore

/// Names a record of a ``GatewayStore``. Users and presentities are named by their `aorKey`.
public enum StoreKey: Hashable, Sendable {
    /// The user's own data: publications in categories, memberships, subscribers, delegates (MS-PRES 2.2.2.3.2).
    case presentity(String)
    /// One PIDF publication by its entity-tag (RFC 3903).
    case publication(presentity: String, tag: String)
    /// A dialog of ours as notifier, by our tag.
    case dialog(String)
    /// A far leg of ours as subscriber, by our tag.
    case leg(String)
    /// One endpoint's registration, by its UUID or else its Contact.
    case registration(user: String, place: String)
    /// The user's contact list.
    case contacts(String)
    /// The user's access control list.
    case accessList(String)
    /// What is published for a user of another domain over this node.
    case bridge(String)
    /// A watcher, as `user@host`, that a presentity was shown to.
    case shownWatcher(presentity: String, watcher: String)
    /// What blocked watchers of a presentity see, by its number.
    case signOff(presentity: String, number: UInt32)

    /// The kind of the record, for logs: no names of people.
    var kind: String {
        switch self {
        case .presentity: "presentity"
        case .publication: "publication"
        case .dialog: "dialog"
        case .leg: "far leg"
        case .registration: "registration"
        case .contacts: "contacts"
        case .accessList: "access list"
        case .bridge: "carried publication"
        case .shownWatcher: "shown watcher"
        case .signOff: "sign-off"
        }
    }

    /// The user whose shard owns the record; nil: that of its dialog.
    var user: String? {
        switch self {
        case .presentity(let user), .publication(let user, _), .registration(let user, _), .contacts(let user), .accessList(let user),
            .bridge(let user), .shownWatcher(let user, _), .signOff(let user, _):
            user
        case .dialog, .leg: nil
        }
    }
}

/// What a ``GatewayStore`` keeps.
public enum StoreRecord: Hashable, Sendable {
    case presentity(StoredPresentity)
    case publication(StoredPublication)
    case dialog(StoredDialog)
    case leg(StoredLeg)
    case registration(StoredRegistration)
    case contacts(StoredUserDocument)
    case accessList(StoredUserDocument)
    case bridge(StoredBridge)
    case shownWatcher(StoredShownWatcher)
    case signOff(StoredSignOff)

    public var key: StoreKey {
        switch self {
        case .presentity(let stored): .presentity(stored.user)
        case .publication(let stored): .publication(presentity: stored.presentity, tag: stored.tag)
        case .dialog(let stored): .dialog(stored.dialog.localTag)
        case .leg(let stored): .leg(stored.tag)
        case .registration(let stored): .registration(user: stored.user, place: stored.place)
        case .contacts(let stored): .contacts(stored.user)
        case .accessList(let stored): .accessList(stored.user)
        case .bridge(let stored): .bridge(stored.user)
        case .shownWatcher(let stored): .shownWatcher(presentity: stored.presentity, watcher: stored.watcher)
        case .signOff(let stored): .signOff(presentity: stored.presentity, number: stored.number)
        }
    }
}

/// Everything of a user that belongs to its enhanced presence.
public struct StoredPresentity: Hashable, Sendable {
    /// The user's `aorKey`.
    public var user: String
    /// The user's URI as answers name it.
    public var uri: String
    /// The self document (MS-PRES 2.2.2.3.2); `expires` of its instances counts from their `publishTime`.
    public var document: [UInt8]
    /// The instances in it that this server computed (MS-PRES 3.8): `CONTAINER/INSTANCE/CATEGORY`.
    public var computed: [String]
    /// Whether the user's newest state came by PUBLISH.
    public var isSimpleNewer: Bool

    public init(user: String, uri: String, document: [UInt8], computed: [String] = [], isSimpleNewer: Bool) {
        self.user = user
        self.uri = uri
        self.document = document
        self.computed = computed
        self.isSimpleNewer = isSimpleNewer
    }
}

/// A PIDF publication (RFC 3903).
public struct StoredPublication: Hashable, Sendable {
    /// The presentity's `aorKey` and its URI as documents name it.
    public var presentity: String
    public var uri: String
    public var tag: String
    public var document: [UInt8]
    /// Its place among the presentity's publications, by the arrival of the newest body; grows.
    public var number: UInt64
    /// When the newest body came.
    public var arrived: Instant
    public var expiry: Instant
    /// The ids that the composed document gives to elements of this one, where they differ (XML Schema part 2 3.3.8).
    public var ids: [String: String]

    public init(
        presentity: String, uri: String, tag: String, document: [UInt8], number: UInt64, arrived: Instant, expiry: Instant,
        ids: [String: String]
    ) {
        self.presentity = presentity
        self.uri = uri
        self.tag = tag
        self.document = document
        self.number = number
        self.arrived = arrived
        self.expiry = expiry
        self.ids = ids
    }
}

/// An endpoint that is signed in (RFC 3261 10.3).
public struct StoredRegistration: Hashable, Sendable {
    /// The user's `aorKey`.
    public var user: String
    /// What tells it from the user's others: the endpoint's UUID, or the Contact URI of a client that has none.
    public var place: String
    public var endpoint: String?
    /// The Contact header value as it registered.
    public var contact: String
    public var callID: String
    public var cSeq: UInt32
    public var expiry: Instant
    /// Our listener and the endpoint's address when it last registered.
    public var local: TransportAddress
    public var remote: TransportAddress

    public init(
        user: String, place: String, endpoint: String?, contact: String, callID: String, cSeq: UInt32, expiry: Instant,
        local: TransportAddress, remote: TransportAddress
    ) {
        self.user = user
        self.place = place
        self.endpoint = endpoint
        self.contact = contact
        self.callID = callID
        self.cSeq = cSeq
        self.expiry = expiry
        self.local = local
        self.remote = remote
    }
}

/// A document of one user with the number of its last change: contact list or access control list.
public struct StoredUserDocument: Hashable, Sendable {
    /// The user's `aorKey`.
    public var user: String
    /// `deltaNum` of the next change's base.
    public var deltaNumber: UInt32
    public var document: [UInt8]

    public init(user: String, deltaNumber: UInt32, document: [UInt8]) {
        self.user = user
        self.deltaNumber = deltaNumber
        self.document = document
    }
}
