import SIPCore

/// Key of a record in a ``GatewayStore``. Users and presentities are named by their `aorKey`.
package enum StoreKey: Hashable, Sendable {
    /// The user's own data: category publications, memberships, subscribers, delegates (MS-PRES 2.2.2.3.2).
    case presentity(String)
    /// A PIDF publication, by its entity-tag (RFC 3903).
    case publication(presentity: String, tag: String)
    /// A dialog in which the gateway is notifier, by local tag.
    case dialog(String)
    /// An upstream subscription, by local tag.
    case upstreamSubscription(String)
    /// A registration of one endpoint, by its UUID or else its Contact.
    case registration(user: String, place: String)
    /// The user's contact list.
    case contacts(String)
    /// The user's access control list.
    case accessList(String)
    /// Publications relayed for a user of another domain.
    case bridge(String)
    /// A watcher, as `user@host`, that was shown the presentity.
    case shownWatcher(presentity: String, watcher: String)
    /// A sign-off that blocked watchers of the presentity see, by its number.
    case signOff(presentity: String, number: UInt32)
    /// An XCAP document of a user (RFC 4825), by AUID and name.
    case document(user: String, auid: String, name: String)

    /// Kind of the record, for logs, without names of people.
    var kind: String {
        switch self {
        case .presentity: "presentity"
        case .publication: "publication"
        case .dialog: "dialog"
        case .upstreamSubscription: "far leg"
        case .registration: "registration"
        case .contacts: "contacts"
        case .accessList: "access list"
        case .bridge: "carried publication"
        case .shownWatcher: "shown watcher"
        case .signOff: "sign-off"
        case .document: "document"
        }
    }

    /// User that selects the shard of the record; nil: its dialog does.
    var user: String? {
        switch self {
        case .presentity(let user), .publication(let user, _), .registration(let user, _), .contacts(let user), .accessList(let user),
            .bridge(let user), .shownWatcher(let user, _), .signOff(let user, _), .document(let user, _, _):
            user
        case .dialog, .upstreamSubscription: nil
        }
    }
}

/// Record of a ``GatewayStore``.
package enum StoreRecord: Hashable, Sendable {
    case presentity(StoredPresentity)
    case publication(StoredPublication)
    case dialog(StoredDialog)
    case upstreamSubscription(StoredUpstreamSubscription)
    case registration(StoredRegistration)
    case contacts(StoredUserDocument)
    case accessList(StoredUserDocument)
    case bridge(StoredBridge)
    case shownWatcher(StoredShownWatcher)
    case signOff(StoredSignOff)
    case document(StoredXCAPDocument)

    /// Key of the record.
    package var key: StoreKey {
        switch self {
        case .presentity(let stored): .presentity(stored.user)
        case .publication(let stored): .publication(presentity: stored.presentity, tag: stored.tag)
        case .dialog(let stored): .dialog(stored.dialog.localTag)
        case .upstreamSubscription(let stored): .upstreamSubscription(stored.tag)
        case .registration(let stored): .registration(user: stored.user, place: stored.place)
        case .contacts(let stored): .contacts(stored.user)
        case .accessList(let stored): .accessList(stored.user)
        case .bridge(let stored): .bridge(stored.user)
        case .shownWatcher(let stored): .shownWatcher(presentity: stored.presentity, watcher: stored.watcher)
        case .signOff(let stored): .signOff(presentity: stored.presentity, number: stored.number)
        case .document(let stored): .document(user: stored.user, auid: stored.auid, name: stored.name)
        }
    }
}

/// Enhanced presence data of a user.
package struct StoredPresentity: Hashable, Sendable {
    /// The user's `aorKey`.
    package var user: String
    /// The user's URI as written in responses.
    package var uri: String
    /// Self document (MS-PRES 2.2.2.3.2); `expires` of its instances counts from their `publishTime`.
    package var document: [UInt8]
    /// Keys of its instances that this server computed (MS-PRES 3.8): `CONTAINER/INSTANCE/CATEGORY`.
    package var computed: [String]
    /// Whether the user's newest state was published by PUBLISH.
    package var isSimpleNewer: Bool

    /// Creates a record.
    package init(user: String, uri: String, document: [UInt8], computed: [String] = [], isSimpleNewer: Bool) {
        self.user = user
        self.uri = uri
        self.document = document
        self.computed = computed
        self.isSimpleNewer = isSimpleNewer
    }
}

/// A PIDF publication (RFC 3903).
package struct StoredPublication: Hashable, Sendable {
    /// The presentity's `aorKey`.
    package var presentity: String
    /// The presentity's URI as written in documents.
    package var uri: String
    /// Entity-tag of the publication.
    package var tag: String
    /// Published body.
    package var document: [UInt8]
    /// Position among the presentity's publications, by arrival of the newest body; it grows.
    package var number: UInt64
    /// Arrival of the newest body.
    package var arrived: Instant
    /// End of the publication without a refresh.
    package var expiry: Instant
    /// Ids given to its elements in the composed document, where they differ (XML Schema part 2 3.3.8).
    package var ids: [String: String]

    /// Creates a record.
    package init(
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

/// Registration of an endpoint (RFC 3261 10.3).
package struct StoredRegistration: Hashable, Sendable {
    /// The user's `aorKey`.
    package var user: String
    /// Distinguishes it from the user's other registrations: the endpoint's UUID, or else the Contact URI.
    package var place: String
    /// UUID of the endpoint; nil: none.
    package var endpoint: String?
    /// Contact header value of the REGISTER.
    package var contact: String
    /// Call-ID of the last REGISTER.
    package var callID: String
    /// CSeq number of the last REGISTER.
    package var cSeq: UInt32
    /// End of the registration without a refresh.
    package var expiry: Instant
    /// Listener that received the last REGISTER.
    package var local: TransportAddress
    /// Source address of the last REGISTER.
    package var remote: TransportAddress

    /// Creates a record.
    package init(
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

/// Contact list or access control list of a user, with the number of its last change.
package struct StoredUserDocument: Hashable, Sendable {
    /// The user's `aorKey`.
    package var user: String
    /// `deltaNum` on which the next change is based.
    package var deltaNumber: UInt32
    /// The document as XML.
    package var document: [UInt8]

    /// Creates a record.
    package init(user: String, deltaNumber: UInt32, document: [UInt8]) {
        self.user = user
        self.deltaNumber = deltaNumber
        self.document = document
    }
}

/// XCAP document of a user (RFC 4825).
package struct StoredXCAPDocument: Hashable, Sendable {
    /// The user's `aorKey`.
    package var user: String
    /// Application usage.
    package var auid: String
    /// Name below the home directory.
    package var name: String
    /// Entity-tag without quotes; the next one is derived from it.
    package var tag: String
    /// Media type of the application usage.
    package var mediaType: String
    /// Octets as the user put them.
    package var octets: [UInt8]

    /// Creates a record.
    package init(user: String, auid: String, name: String, tag: String, mediaType: String, octets: [UInt8]) {
        self.user = user
        self.auid = auid
        self.name = name
        self.tag = tag
        self.mediaType = mediaType
        self.octets = octets
    }
}
