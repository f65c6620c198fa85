import SIPCore

/// Watcher that was shown presence, and the sign-off that it sees while blocked (`docs/blocking.md`).
package struct StoredShownWatcher: Hashable, Sendable {
    /// The presentity's `aorKey`.
    package var presentity: String
    /// The watcher as `user@host`.
    package var watcher: String
    /// Time at which presence was last shown, to a day.
    package var shownAt: Instant
    /// Number of the sign-off that the watcher sees while blocked; nil: it is not blocked.
    package var signOff: UInt32?

    /// Creates a record.
    package init(presentity: String, watcher: String, shownAt: Instant, signOff: UInt32? = nil) {
        self.presentity = presentity
        self.watcher = watcher
        self.shownAt = shownAt
        self.signOff = signOff
    }
}

/// Presentity as it was when watchers were blocked, signed off at that time (`docs/blocking.md`).
package struct StoredSignOff: Hashable, Sendable {
    /// The presentity's `aorKey`.
    package var presentity: String
    /// Distinguishes the sign-off from others of the presentity.
    package var number: UInt32
    /// The presentity's URI as written in documents.
    package var uri: String
    /// Time of the block.
    package var moment: Instant
    /// Visible state as a self document (MS-PRES 2.2.2.3.2), with the memberships before the block; `expires` of its instances counts from
    /// their `publishTime`.
    package var document: [UInt8]
    /// Keys of its instances that this server computed (MS-PRES 3.8): `CONTAINER/INSTANCE/CATEGORY`.
    package var computed: [String]

    /// Creates a record.
    package init(presentity: String, number: UInt32, uri: String, moment: Instant, document: [UInt8], computed: [String] = []) {
        self.presentity = presentity
        self.number = number
        self.uri = uri
        self.moment = moment
        self.document = document
        self.computed = computed
    }
}
