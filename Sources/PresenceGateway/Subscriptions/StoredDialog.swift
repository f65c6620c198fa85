import SIPCore

/// Live dialog in which the gateway is notifier, of any event package, reduced to the data that a restart needs.
package struct StoredDialog: Hashable, Sendable {
    /// Kind of the dialog: ``watcher``, or the token of another event package.
    package struct Kind: RawRepresentable, Hashable, Sendable {
        /// Name of the kind.
        package var rawValue: String
        /// Creates a kind.
        package init(rawValue: String) { self.rawValue = rawValue }

        /// A watcher of presence: single or batch (RFC 3856, MS-PRES 3.4).
        package static let watcher = Kind(rawValue: "watcher")
    }

    /// Kind of the dialog.
    package var kind: Kind
    /// State of the SIP dialog.
    package var dialog: DialogSnapshot
    /// The `aorKey` that selected the shard of the first SUBSCRIBE.
    package var owner: String
    /// Value of Event, with its `id`.
    package var event: String
    /// Content-Type of notifications with state.
    package var contentType: String
    /// The subscriber's URI.
    package var watcher: String
    /// Whether the subscription is a batch (MS-PRES 3.4.5.1.1).
    package var isBatch: Bool
    /// Whether notifications are BENOTIFY, without response (MS-SIP 3.5).
    package var isBestEffort: Bool
    /// End of the subscription without a refresh.
    package var expiry: Instant
    /// Listener that received the subscriber's last SUBSCRIBE.
    package var local: TransportAddress
    /// Source address of the last SUBSCRIBE.
    package var remote: TransportAddress
    /// Whether the last notification was `active`, not `pending`; false if ``isUnsettled``.
    package var wasNotifiedActive: Bool
    /// Whether the watcher may have any state: it was notified since its state was stored, or the last NOTIFY had no response yet. CSeq
    /// and version are then the highest that may have been used.
    package var isUnsettled: Bool
    /// Version of the last numbered document: partial PIDF (RFC 5263), RLMI (RFC 4662); 0 before the first.
    package var listVersion: UInt32
    /// Watched presentities of presence; empty for other packages.
    package var resources: [Resource]
    /// Resources of a batch or list that are refused, pending, or served elsewhere.
    package var rejected: [Rejected]
    /// Further data of the kind, such as the scope of a self subscription.
    package var details: [String: String]

    /// Key in ``details`` of the subscriber's endpoint UUID.
    static let endpointDetail = "endpoint"
    /// Key that is present if the registration prolongs the dialog (com.microsoft.autoextend).
    static let registrationDetail = "follows-registration"
    /// Key of the URI of the list that the dialog is about (RFC 5367).
    static let listDetail = "list"
    /// Key of the rates of notifications (RFC 6446).
    static let ratesDetail = "rates"
    /// Key of the filters, as a filter document (RFC 4660).
    static let filterDetail = "filter"
    /// Key that is present if the watcher requested privacy (RFC 3325 9.3).
    static let privacyDetail = "privacy"

    /// One watched presentity.
    package struct Resource: Hashable, Sendable {
        /// URI of the presentity, as the watcher names it.
        package var uri: String
        /// Requested categories.
        package var categories: [String]
        /// Digests of the last notified state, by category; of whole documents under `*`. Empty: none.
        package var delivered: [String: UInt64]
        /// Hop marks of the upstream subscription; nil: the presentity is hosted here.
        package var hopMarks: String?

        /// Creates a resource.
        package init(uri: String, categories: [String], delivered: [String: UInt64], hopMarks: String?) {
            self.uri = uri
            self.categories = categories
            self.delivered = delivered
            self.hopMarks = hopMarks
        }
    }

    /// A resource that RLMI reports as not active (MS-PRES 3.4.5.1.3.1).
    package struct Rejected: Hashable, Sendable {
        /// URI of the presentity, as the watcher names it.
        package var uri: String
        /// RLMI state.
        package var state: String
        /// RLMI reason.
        package var reason: String?
        /// RLMI status code.
        package var statusCode: Int?
        /// FQDN of the pool that serves the resource; nil: unknown.
        package var poolFqdn: String?
        /// Whether the state has been notified.
        package var isNotified: Bool

        /// Creates a resource.
        package init(uri: String, state: String, reason: String?, statusCode: Int?, poolFqdn: String?, isNotified: Bool) {
            self.uri = uri
            self.state = state
            self.reason = reason
            self.statusCode = statusCode
            self.poolFqdn = poolFqdn
            self.isNotified = isNotified
        }
    }

    /// Creates a record.
    package init(
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
