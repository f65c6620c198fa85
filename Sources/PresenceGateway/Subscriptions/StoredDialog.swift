import SIPCore

/// Live dialog in which the gateway is notifier, of any event package, reduced to the data that a restart needs.
public struct StoredDialog: Hashable, Sendable {
    /// Kind of the dialog: ``watcher``, or the token of another event package.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// Name of the kind.
        public var rawValue: String
        /// Creates a kind.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A watcher of presence: single or batch (RFC 3856, MS-PRES 3.4).
        public static let watcher = Kind(rawValue: "watcher")
    }

    /// Kind of the dialog.
    public var kind: Kind
    /// State of the SIP dialog.
    public var dialog: DialogSnapshot
    /// The `aorKey` that selected the shard of the first SUBSCRIBE.
    public var owner: String
    /// Value of Event, with its `id`.
    public var event: String
    /// Content-Type of notifications with state.
    public var contentType: String
    /// The subscriber's URI.
    public var watcher: String
    /// Whether the subscription is a batch (MS-PRES 3.4.5.1.1).
    public var isBatch: Bool
    /// Whether notifications are BENOTIFY, without response (MS-SIP 3.5).
    public var isBestEffort: Bool
    /// End of the subscription without a refresh.
    public var expiry: Instant
    /// Listener that received the subscriber's last SUBSCRIBE.
    public var local: TransportAddress
    /// Source address of the last SUBSCRIBE.
    public var remote: TransportAddress
    /// Whether the last notification was `active`, not `pending`; false if ``isUnsettled``.
    public var wasNotifiedActive: Bool
    /// Whether the watcher may have any state: it was notified since its state was stored, or the last NOTIFY had no response yet. CSeq
    /// and version are then the highest that may have been used.
    public var isUnsettled: Bool
    /// Version of the last numbered document: partial PIDF (RFC 5263), RLMI (RFC 4662); 0 before the first.
    public var listVersion: UInt32
    /// Watched presentities of presence; empty for other packages.
    public var resources: [Resource]
    /// Resources of a batch or list that are refused, pending, or served elsewhere.
    public var rejected: [Rejected]
    /// Further data of the kind, such as the scope of a self subscription.
    public var details: [String: String]

    /// Key in ``details`` of the subscriber's endpoint UUID.
    static let endpointDetail = "endpoint"
    /// Key that is present if the registration prolongs the dialog (com.microsoft.autoextend).
    static let registrationDetail = "follows-registration"
    /// Key of the URI of the list that the dialog is about (RFC 5367).
    static let listDetail = "list"
    /// Key that is present if the watcher requested privacy (RFC 3325 9.3).
    static let privacyDetail = "privacy"

    /// One watched presentity.
    public struct Resource: Hashable, Sendable {
        /// URI of the presentity, as the watcher names it.
        public var uri: String
        /// Requested categories.
        public var categories: [String]
        /// Digests of the last notified state, by category; of whole documents under `*`. Empty: none.
        public var delivered: [String: UInt64]
        /// Hop marks of the upstream subscription; nil: the presentity is hosted here.
        public var hopMarks: String?

        /// Creates a resource.
        public init(uri: String, categories: [String], delivered: [String: UInt64], hopMarks: String?) {
            self.uri = uri
            self.categories = categories
            self.delivered = delivered
            self.hopMarks = hopMarks
        }
    }

    /// A resource that RLMI reports as not active (MS-PRES 3.4.5.1.3.1).
    public struct Rejected: Hashable, Sendable {
        /// URI of the presentity, as the watcher names it.
        public var uri: String
        /// RLMI state.
        public var state: String
        /// RLMI reason.
        public var reason: String?
        /// RLMI status code.
        public var statusCode: Int?
        /// FQDN of the pool that serves the resource; nil: unknown.
        public var poolFqdn: String?
        /// Whether the state has been notified.
        public var isNotified: Bool

        /// Creates a resource.
        public init(uri: String, state: String, reason: String?, statusCode: Int?, poolFqdn: String?, isNotified: Bool) {
            self.uri = uri
            self.state = state
            self.reason = reason
            self.statusCode = statusCode
            self.poolFqdn = poolFqdn
            self.isNotified = isNotified
        }
    }

    /// Creates a record.
    public init(
        kind: Kind, dialog: DialogSnapshot, owner: String, event: String, contentType: String, watcher: String, isBatch: Bool = false,
        isBestEffort: Bool, expiry: Instant, local: TransportAddress, remote: TransportAddress, wasNotifiedActive: Bool, isUnsettled: Bool,
        listVersion: UInt32 = 0, resources: [Resource] = [], rejected: [Rejected] = [], details: [String: String] = [:]
    ) {
        self.kind = kind
        self.dialog = dialog
        self.owner = owner
        self.event = event
        self.contentType = contentType
        self.watcher = watcher
        self.isBatch = isBatch
        self.isBestEffort = isBestEffort
        self.expiry = expiry
        self.local = local
        self.remote = remote
        self.wasNotifiedActive = wasNotifiedActive
        self.isUnsettled = isUnsettled
        self.listVersion = listVersion
        self.resources = resources
        self.rejected = rejected
        self.details = details
    }
}
