import SIPCore

/// A far leg: a subscription of ours at the home of presentities, in a watcher's name, as much of it as a restart needs.
///
/// It is written when its dialog is made, answered or lost; not with every notification, because a restart asks for the whole state
/// anyway.
public struct StoredLeg: Hashable, Sendable {
    /// Our tag: of the dialog, or of the last one that there was.
    public var tag: String
    /// The `aorKey` by which the watcher's first SUBSCRIBE found its shard.
    public var owner: String
    /// In whose name we subscribe.
    public var watcher: String
    /// The key of the presentities' domain.
    public var domain: String
    /// nil: the leg was lost, and is made anew by itself after ``restsUntil``.
    public var dialog: DialogSnapshot?
    /// The dialog's route set is that of a NOTIFY (RFC 6665 4.4.1).
    public var hasNotified: Bool
    /// When the dialog lapses without a refresh; nil: we said goodbye and wait for the last NOTIFY.
    public var expiry: Instant?
    public var restsUntil: Instant?
    /// How often in a row the leg was lost soon after it was made.
    public var failures: Int
    /// Seconds that are asked for.
    public var expires: Int
    /// The Request-URI of SUBSCRIBEs that make a dialog: a presentity or a pool.
    public var target: String
    /// `single` or `batch` (MS-PRES 3.4.5.1.1). Lists (RFC 4662) are asked for anew.
    public var shape: String
    /// The form that the far side turned out to speak: `categories`, `msrtc` or `pidf`.
    public var format: String
    public var maxForwards: Int
    public var hopMarks: String
    public var resources: [Resource]

    /// One presentity of the leg.
    public struct Resource: Hashable, Sendable {
        public var uri: String
        /// What the far side was asked for of it, where it is asked for categories.
        public var categories: [String]
        /// Our tags of the watcher's dialogs that are fed from here.
        public var sinks: [String]

        public init(uri: String, categories: [String], sinks: [String]) {
            self.uri = uri
            self.categories = categories
            self.sinks = sinks
        }
    }

    public init(
        tag: String, owner: String, watcher: String, domain: String, dialog: DialogSnapshot?, hasNotified: Bool, expiry: Instant?,
        restsUntil: Instant? = nil, failures: Int = 0, expires: Int, target: String, shape: String, format: String,
        maxForwards: Int, hopMarks: String, resources: [Resource]
    ) {
        self.tag = tag
        self.owner = owner
        self.watcher = watcher
        self.domain = domain
        self.dialog = dialog
        self.hasNotified = hasNotified
        self.expiry = expiry
        self.restsUntil = restsUntil
        self.failures = failures
        self.expires = expires
        self.target = target
        self.shape = shape
        self.format = format
        self.maxForwards = maxForwards
        self.hopMarks = hopMarks
        self.resources = resources
    }
}
