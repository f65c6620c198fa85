import SIPCore

/// A live dialog in which this gateway notifies, of any event package, as much of it as a restart needs.
public struct StoredDialog: Hashable, Sendable {
    /// What the dialog is about: ``watcher``, or the event package of a user's own endpoints.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        public var rawValue: String
        public init(rawValue: String) { self.rawValue = rawValue }

        /// A watcher of presence: single or batch (RFC 3856, MS-PRES 3.4).
        public static let watcher = Kind(rawValue: "watcher")
    }

    public var kind: Kind
    public var dialog: DialogSnapshot
    /// The `aorKey` by which the first SUBSCRIBE found its shard.
    public var owner: String
    /// The value of Event, with its `id`.
    public var event: String
    /// The Content-Type of the notifications that carry state.
    public var contentType: String
    /// The subscriber's URI.
    public var watcher: String
    public var isBatch: Bool
    /// Notifications are BENOTIFY, never answered (MS-SIP 3.5).
    public var isBestEffort: Bool
    public var expiry: Instant
    /// Our listener and the subscriber's address of its last SUBSCRIBE.
    public var local: TransportAddress
    public var remote: TransportAddress
    /// The subscriber was told `active` last, not `pending`.
    public var wasToldActive: Bool
    /// The last NOTIFY had no answer yet: nobody knows whether it arrived.
    public var isUnanswered: Bool
    /// Of the last numbered document: partial PIDF (RFC 5263), RLMI (RFC 4662); 0 before the first.
    public var listVersion: UInt32
    /// What is watched; for dialogs about a user's own data, that user.
    public var resources: [Resource]
    /// Resources of a batch that live elsewhere or are refused.
    public var rejected: [Rejected]
    /// What a kind keeps besides, such as the scope of a self subscription.
    public var details: [String: String]

    /// The key in ``details`` under which the subscriber's endpoint stands, by its UUID.
    static let endpointDetail = "endpoint"
    /// The key for what the list is called that the dialog is about (RFC 5367).
    static let listDetail = "list"
    /// The key that is there when the watcher asked for privacy (RFC 3325 9.3).
    static let privacyDetail = "privacy"

    /// One watched presentity.
    public struct Resource: Hashable, Sendable {
        public var uri: String
        public var categories: [String]
        /// A digest of what the watcher was told last, by category; of whole documents under `*`. Empty: nothing.
        public var delivered: [String: UInt64]
        /// The hop marks of the far leg; nil: the presentity lives here.
        public var hopMarks: String?

        public init(uri: String, categories: [String], delivered: [String: UInt64], hopMarks: String?) {
            self.uri = uri
            self.categories = categories
            self.delivered = delivered
            self.hopMarks = hopMarks
        }
    }

    /// A resource that RLMI reports as not active (MS-PRES 3.4.5.1.3.1).
    public struct Rejected: Hashable, Sendable {
        public var uri: String
        public var state: String
        public var reason: String?
        public var statusCode: Int?
        public var poolFqdn: String?
        public var isTold: Bool

        public init(uri: String, state: String, reason: String?, statusCode: Int?, poolFqdn: String?, isTold: Bool) {
            self.uri = uri
            self.state = state
            self.reason = reason
            self.statusCode = statusCode
            self.poolFqdn = poolFqdn
            self.isTold = isTold
        }
    }

    public init(
        kind: Kind, dialog: DialogSnapshot, owner: String, event: String, contentType: String, watcher: String, isBatch: Bool = false,
        isBestEffort: Bool, expiry: Instant, local: TransportAddress, remote: TransportAddress, wasToldActive: Bool, isUnanswered: Bool,
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
        self.wasToldActive = wasToldActive
        self.isUnanswered = isUnanswered
        self.listVersion = listVersion
        self.resources = resources
        self.rejected = rejected
        self.details = details
    }
}
