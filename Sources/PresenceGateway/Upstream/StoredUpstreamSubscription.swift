import SIPCore

/// Upstream subscription, reduced to the data that a restart needs.
///
/// Stored when its dialog is created, answered or lost, but not with every notification, because a restart requests the whole state.
package struct StoredUpstreamSubscription: Hashable, Sendable {
    /// Local tag of the dialog, or of the last one.
    package var tag: String
    /// The `aorKey` that selected the shard of the watcher's first SUBSCRIBE.
    package var owner: String
    /// URI of the watcher that it subscribes for.
    package var watcher: String
    /// Key of the presentities' domain.
    package var domain: String
    /// nil: the subscription was lost and is restarted after ``restsUntil``.
    package var dialog: DialogSnapshot?
    /// Whether the dialog's route set is that of a NOTIFY (RFC 6665 4.4.1).
    package var hasNotified: Bool
    /// Time at which the dialog lapses without a refresh; nil: no dialog, or unsubscribed and awaiting the last NOTIFY.
    package var expiry: Instant?
    /// Time of the next attempt, without a dialog.
    package var restsUntil: Instant?
    /// Number of consecutive losses soon after the subscription was made.
    package var failures: Int
    /// Requested lifetime in seconds.
    package var expires: Int
    /// Request-URI of SUBSCRIBEs outside a dialog: a presentity or a pool.
    package var target: String
    /// `single` or `batch` (MS-PRES 3.4.5.1.1). Lists (RFC 4662) are not stored.
    package var shape: String
    /// Form in use at the remote domain: `categories`, `msrtc` or `pidf`.
    package var format: String
    /// Max-Forwards of its SUBSCRIBEs.
    package var maxForwards: Int
    /// Hop marks of the watcher's SUBSCRIBE, without this node's.
    package var hopMarks: String
    /// Presentities of the subscription.
    package var resources: [Resource]

    /// Presentity of an upstream subscription.
    package struct Resource: Hashable, Sendable {
        /// URI of the presentity.
        package var uri: String
        /// Categories requested from the remote domain, if it is asked for categories.
        package var categories: [String]
        /// Local tags of the watcher dialogs that it feeds.
        package var sinks: [String]

        /// Creates a resource.
        package init(uri: String, categories: [String], sinks: [String]) {
            self.uri = uri
            self.categories = categories
            self.sinks = sinks
        }
    }

    /// The record with its times shifted.
    func shifted(by span: TimeSpan) -> StoredUpstreamSubscription {
        var shifted = self
        shifted.expiry = expiry.map { $0 + span }
        shifted.restsUntil = restsUntil.map { $0 + span }
        return shifted
    }

    /// Creates a record.
    package init(
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
