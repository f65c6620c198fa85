import FederationRouting
import SIPCore
import SIPEvents

/// An event package (RFC 6665 5.4), registered in ``EventPackages``.
///
/// A package decides about its SUBSCRIBE requests and makes the bodies of its notifications, by one ``PackageSubscription`` for each
/// dialog. Requests, responses, redelivery, expiry, restart and failed commits are the same for all packages.
protocol EventPackage: AnyObject {
    /// Token of Event (RFC 6665 8.2.1).
    var token: String { get }
    /// Kind of its dialogs in the store; by default the token.
    var storedKind: StoredDialog.Kind { get }
    /// Media types of its notifications, the default first.
    var mediaTypes: [String] { get }
    /// Whether a restored dialog has its state at once; such dialogs are restored first, and notified of changes that the restart causes.
    var hasStateAtOnce: Bool { get }

    /// Lifetimes of subscriptions from a domain.
    func expires(_ domain: DomainConfiguration, in configuration: GatewayConfiguration) -> GatewayTiming.ExpiryRange

    /// Checks a SUBSCRIBE outside a dialog; changes no state.
    /// - Parameters:
    ///   - to: URI of To.
    ///   - screening: the checks of all requests, by the present configuration.
    func open(
        _ request: SIPRequest, to: SIPURI, over flow: Flow, by screening: RequestScreening, at now: Instant
    ) throws(Refusal) -> OpenedSubscription

    /// Reads the package's part of a stored dialog; nil: it cannot be read.
    func restore(
        _ stored: StoredDialog, of watcher: SIPURI, in domain: DomainConfiguration
    ) -> OpenedSubscription?
}

extension EventPackage {
    var storedKind: StoredDialog.Kind { StoredDialog.Kind(rawValue: token) }
    var hasStateAtOnce: Bool { true }

    func expires(_ domain: DomainConfiguration, in configuration: GatewayConfiguration) -> GatewayTiming.ExpiryRange {
        configuration.expires(domain)
    }

    /// - Throws: 406 if Accept names none of the media types.
    func checkAccept(_ request: SIPRequest) throws(Refusal) {
        guard request.headers.contains(.accept) else { return }
        let accepted = request.headers.accept.filter { $0.quality > 0 }
        for type in mediaTypes.compactMap({ MediaType($0) }) where accepted.contains(where: { $0.accepts(type) }) { return }
        throw .notAcceptable
    }
}

/// A subscription that a package accepted.
struct OpenedSubscription {
    let parties: RequestScreening.Parties
    let subscription: any PackageSubscription

    /// Key of the user by which the dialog is assigned to a shard: the watcher, if its endpoints are registered here or if it watches
    /// several presentities; otherwise the presentity.
    var owner: String {
        let domain = parties.watcherDomain
        return domain.hosted && domain.side == .enterprise || subscription.presentity.isEmpty ? parties.watcherKey : parties.presentityKey
    }
}

/// The part of a dialog that belongs to its event package: the subscribed state, and the changes that were not notified.
///
/// Held by one ``WatcherDialog``, which it is given in each call.
protocol PackageSubscription: AnyObject {
    /// Content-Type of notifications with state.
    var contentType: String { get }
    /// `aorKey` of the presentity; empty: several.
    var presentity: String { get }
    /// Whether its messages have `Require: eventlist` (RFC 4662 4.1, MS-PRES 3.4.5.1.3).
    var requiresEventList: Bool { get }
    /// Whether BENOTIFY may be used (MS-SIP 3.5).
    var allowsBestEffort: Bool { get }
    /// Whether an endpoint has only one such dialog of the package (MS-PRES 3.3.5.1, 3.4.5.1.3).
    var isOnlyOfEndpoint: Bool { get }
    /// User that notifications assert as their sender (RFC 3325); nil: none.
    var assertedIdentity: SIPURI? { get }
    /// Whether all state is known, or known to be missing.
    var isReady: Bool { get }
    /// Whether the watcher may have the state.
    var isAuthorized: Bool { get }
    /// Whether the subscription waits for the decision of the presentity, so that its SUBSCRIBE is answered 202.
    var isAwaitingConfirmation: Bool { get }
    /// Whether changes wait for a notification, and may be notified now.
    func hasDueChange(at now: Instant) -> Bool
    /// Time at which the next change may be notified; nil: none waits.
    var nextChange: Instant? { get }
    /// Whether the 200 may have the state, if the watcher offers that (MS-SIP 3.4.5.1).
    func allowsPiggyback(isPoll: Bool) -> Bool

    /// Views of other shards that a SUBSCRIBE outside a dialog needs before it is served.
    func neededViews(_ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool) -> [WatchDraft]
    /// Views of other shards that a SUBSCRIBE in the dialog needs before it is served.
    func neededViews(changedBy request: SIPRequest, of dialog: WatcherDialog) -> [WatchDraft]
    /// Checks that need no dialog but may change state, such as the presentity's list of subscribers.
    func admit(_ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant)
        throws(Refusal)
    /// Handles the new dialog, which is in the tables.
    /// - Returns: false if nothing can be watched, so that the SUBSCRIBE is answered like a poll.
    func begin(
        _ dialog: WatcherDialog, _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) -> Bool
    /// Starts requests to other domains, after the 200 to a SUBSCRIBE.
    func proceed(_ dialog: WatcherDialog, at now: Instant)
    /// Applies a SUBSCRIBE in the dialog; a refusal changes nothing.
    /// - Returns: keys of the presentities that its response covers; nil: all.
    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, at now: Instant
    ) throws(Refusal) -> [String]?
    /// Releases what the removed dialog had.
    func end(_ dialog: WatcherDialog, at now: Instant)

    /// Makes the body of the next notification, which counts as notified; nil: the watcher has the state.
    /// - Parameters:
    ///   - named: keys of the presentities to include; nil: all.
    ///   - isFull: false: only changes since the last notification.
    func body(
        of dialog: WatcherDialog, naming named: [String]?, isFull: Bool, at now: Instant
    ) -> NotificationBody?
    /// Drops the due changes, because the watcher has the state already.
    func skipChanges(at now: Instant)
    /// Drops all changes, because the full state is to be sent.
    func dropChanges()
    /// Forgets the notified state after a lost notification: the full state is to be sent.
    func forgetNotified()
    /// Called before each notification by a timer.
    func advance(_ dialog: WatcherDialog, at now: Instant)

    /// Takes over what the store has of the dialog, after a failed commit.
    /// - Parameters:
    ///   - stored: the package's part of the stored dialog.
    ///   - hopMarks: those of the upstream subscriptions of its resources, in their order.
    func reload(_ dialog: WatcherDialog, as stored: any PackageSubscription, hopMarks: [String?], at now: Instant)
    /// Version of the last numbered document (RFC 5263), or of the next list (RFC 4662).
    var documentVersion: UInt32 { get }
    /// Whether the package's part of the record changed since the last call, apart from what the watcher was notified of.
    func takeUnstored() -> Bool
    /// Adds the package's part to the record of the dialog.
    func store(in stored: inout StoredDialog)
    /// Continues the restored dialog, which is in the tables.
    func resume(
        _ dialog: WatcherDialog, from stored: StoredDialog, fedBy upstreams: RestoredUpstreamSubscriptions, at now: Instant)
    /// Whether the watcher of a restored dialog is to be notified.
    /// - Parameter isUnsettled: whether the watcher may have another state than the stored one.
    func isBehind(_ dialog: WatcherDialog, isUnsettled: Bool, at now: Instant) -> Bool

    /// Rows of the dialog in the list of subscriptions.
    func rows(of dialog: WatcherDialog) -> [SubscriptionRow]
    /// Completes a row.
    func describe(_ row: SubscriptionRow, in report: inout SubscriptionReport, of dialog: WatcherDialog)
    /// Explains the watcher's view of a presentity.
    func explain(
        _ dialog: WatcherDialog, presentity: String, includingBodies: Bool, at now: Instant
    ) -> [SubscriptionExplanation]
}

/// A row of the list of subscriptions.
struct SubscriptionRow {
    /// `aorKey` of the presentity; empty: the dialog watches none at present.
    var presentity: String
    /// The watched presentity; nil for other packages than presence.
    var resource: WatchedResource?
}

/// Defaults for a package with one presentity and its state at this node.
extension PackageSubscription {
    var requiresEventList: Bool { false }
    var allowsBestEffort: Bool { true }
    var isOnlyOfEndpoint: Bool { true }
    var assertedIdentity: SIPURI? { nil }
    var isReady: Bool { true }
    var isAuthorized: Bool { true }
    var isAwaitingConfirmation: Bool { false }
    var nextChange: Instant? { nil }
    func hasDueChange(at now: Instant) -> Bool { false }
    func neededViews(_ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool) -> [WatchDraft] { [] }
    func neededViews(changedBy request: SIPRequest, of dialog: WatcherDialog) -> [WatchDraft] { [] }
    func allowsPiggyback(isPoll: Bool) -> Bool { true }

    func admit(
        _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) throws(Refusal) {}

    func begin(
        _ dialog: WatcherDialog, _ request: SIPRequest, _ parties: RequestScreening.Parties, isPoll: Bool, at now: Instant
    ) -> Bool { true }

    func proceed(_ dialog: WatcherDialog, at now: Instant) {}

    func change(
        by request: SIPRequest, isUnsubscribe: Bool, of dialog: WatcherDialog, at now: Instant
    ) throws(Refusal) -> [String]? { nil }

    func end(_ dialog: WatcherDialog, at now: Instant) {}
    func skipChanges(at now: Instant) {}
    func dropChanges() {}
    func forgetNotified() {}
    func advance(_ dialog: WatcherDialog, at now: Instant) {}
    func reload(_ dialog: WatcherDialog, as stored: any PackageSubscription, hopMarks: [String?], at now: Instant) {}
    var documentVersion: UInt32 { 0 }
    func takeUnstored() -> Bool { false }
    func store(in stored: inout StoredDialog) {}

    func resume(
        _ dialog: WatcherDialog, from stored: StoredDialog, fedBy upstreams: RestoredUpstreamSubscriptions, at now: Instant
    ) {}

    func isBehind(_ dialog: WatcherDialog, isUnsettled: Bool, at now: Instant) -> Bool { isUnsettled }

    func rows(of dialog: WatcherDialog) -> [SubscriptionRow] { [SubscriptionRow(presentity: presentity)] }

    func describe(_ row: SubscriptionRow, in report: inout SubscriptionReport, of dialog: WatcherDialog) {}

    func explain(
        _ dialog: WatcherDialog, presentity: String, includingBodies: Bool, at now: Instant
    ) -> [SubscriptionExplanation] {
        guard presentity == self.presentity else { return [] }
        let isBehind = dialog.isAway || dialog.notifier.isNotifying || dialog.notifier.isAwaitingAnswer
        return [
            SubscriptionExplanation(
                subscription: dialog.report(SubscriptionRow(presentity: presentity), at: now),
                delivery: !dialog.wasNotifiedActive ? .nothing : isBehind ? .waiting : .current, view: ViewExplanation(origin: .own))
        ]
    }
}
