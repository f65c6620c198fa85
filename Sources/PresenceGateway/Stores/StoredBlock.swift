import SIPCore

/// A watcher that was shown presence, and what it sees while it is blocked (`docs/blocking.md`).
public struct StoredShownWatcher: Hashable, Sendable {
    /// The presentity's `aorKey`.
    public var presentity: String
    /// The watcher as `user@host`.
    public var watcher: String
    /// When it was last shown presence, to a day.
    public var shownAt: Instant
    /// The number of the sign-off that it sees while it is blocked; nil: it is not blocked.
    public var signOff: UInt32?

    public init(presentity: String, watcher: String, shownAt: Instant, signOff: UInt32? = nil) {
        self.presentity = presentity
        self.watcher = watcher
        self.shownAt = shownAt
        self.signOff = signOff
    }
}

/// A presentity as it was when watchers were blocked, signed off then (`docs/blocking.md`).
public struct StoredSignOff: Hashable, Sendable {
    /// The presentity's `aorKey`.
    public var presentity: String
    /// Tells it from the presentity's other sign-offs.
    public var number: UInt32
    /// The presentity's URI as documents name it.
    public var uri: String
    /// The moment of the block.
    public var moment: Instant
    /// What watchers can see, as a self document (MS-PRES 2.2.2.3.2) with the memberships before the block; `expires` of its instances
    /// counts from their `publishTime`.
    public var document: [UInt8]
    /// The instances in it that this server computed (MS-PRES 3.8): `CONTAINER/INSTANCE/CATEGORY`.
    public var computed: [String]

    public init(presentity: String, number: UInt32, uri: String, moment: Instant, document: [UInt8], computed: [String] = []) {
        self.presentity = presentity
        self.number = number
        self.uri = uri
        self.moment = moment
        self.document = document
        self.computed = computed
    }
}
