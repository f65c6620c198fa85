import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// An upstream subscription: one subscriber dialog in the name of one watcher, for one or several presentities of a domain.
///
/// Not shared between watchers, because the notifier decides what each of them may see (docs/decisions/upstream-per-watcher.md). Its
/// ``SIPEvents/Subscriber`` decides when to subscribe, refresh and restart; ``describe(_:expires:reliable:)`` writes the requests.
///
///     WatchedResource --strong--> UpstreamSubscription --> UpstreamResource --weak--> WatchedResource, WatcherDialog
final class UpstreamSubscription {
    let id: UInt64
    let watcher: SIPURI
    let network: DomainNetwork
    let domain: UpstreamDomain
    let maxForwards: Int
    /// Hop marks of the watcher's SUBSCRIBE, without our own.
    let hopMarks: String
    /// Presentities in the order of their addition; empty only while unsubscribing.
    private(set) var resources: [UpstreamResource] = []
    /// The same by key, for more than ``few`` presentities.
    private var index: [String: UpstreamResource]?
    /// Request-URI of the SUBSCRIBE: the presentity, a list, or the pool of the presentities.
    let target: SIPURI
    let shape: Shape
    /// Never `batch`, which is a shape.
    var format: UpstreamFormat
    /// Forms that the remote domain refused, and the present one.
    var tried: TriedForms
    /// Whether the present form follows a refusal of another.
    var isFallback = false
    /// Whether differences are requested (RFC 5263).
    var offersPartial = false
    var fullState = FullStateDemand()
    /// The flaw of a notified document noted last.
    var lastFlaw: String?
    /// State of the list; nil for other shapes.
    var list: UpstreamList?
    /// Key under which further presentities find the batch; nil: no batch, or a resting one.
    var batchKey: UpstreamBatchKey?
    /// Most presentities that the remote domain accepts in one batch.
    var capacity = Int.max

    var subscriber: Subscriber
    /// From tag and Call-ID of the current attempt.
    var localTag = ""
    var callID = ""
    /// First SUBSCRIBE of the current attempt; nil once there is a dialog.
    var request: SIPRequest?
    var dialog: Dialog? { didSet { if dialog != nil { request = nil } } }
    /// Request-URIs that redirected the current attempt (RFC 3261 8.1.3.4).
    var redirections: Set<String> = []
    /// Whether the dialog's route set is that of a NOTIFY (RFC 6665 4.4.1) rather than that of the 200.
    var hasNotified = false
    /// Time of its turn after a restart or for a move to another server; nil: it does not wait for a turn.
    var startsAt: Instant?
    /// End of the pause of a delayed subscription, for example after too many redirections.
    var restsUntil: Instant?

    /// Time since which the remote domain may have lost the subscription; nil: the last SUBSCRIBE was accepted.
    var unverifiedSince: Instant?
    /// Time of the restart that restored the subscription; nil: a SUBSCRIBE was accepted since, or this process created it.
    var restoredAt: Instant?
    /// Time to request the full state again after an unreadable document; nil: the last documents of all presentities were read.
    var asksToReadAt: Instant?
    /// Time of the last verification, or of the restart after the return of the partner.
    var verifiedAt: Instant?
    /// Other subscriptions that depend on the result of its refresh.
    var sample: Sample?
    /// Server that accepted its last SUBSCRIBE; see ``UpstreamTable/note(_:acceptedBy:)``.
    var server: TransportAddress?
    /// Connections that the subscription uses; two at most.
    var connections: [ConnectionID] = []
    /// Whether it is restarted at another server when its turn comes (``startsAt``).
    var isMoving = false
    /// Routing failure of the last SUBSCRIBE; nil: it was sent.
    var routingFailure: HopFailure?

    /// Form in which the SUBSCRIBE names its presentities.
    enum Shape: String, Hashable {
        /// One presentity, to which it is addressed.
        case single
        /// The presentities of an ad-hoc list, from the watcher to itself (MS-PRES 3.4.5.1.1).
        case batch
        /// The presentities of a list that the remote domain expands (RFC 4662, RFC 5367).
        case list
    }

    /// Categories for watchers with other formats.
    static let standardCategories: [CategoryName] = [.state, .note, .contactCard, .services, .calendarData]

    init(id: UInt64, _ order: UpstreamOrder, shape: Shape, target: SIPURI, format: UpstreamFormat, subscriber: Subscriber) {
        self.id = id
        watcher = order.watcher
        network = order.network
        domain = order.domain
        maxForwards = order.maxForwards
        hopMarks = order.hopMarks
        self.shape = shape
        self.target = target
        self.format = format
        tried = shape == .batch ? TriedForms(.batch) : TriedForms(format)
        self.subscriber = subscriber
    }

    /// The last document of a presentity was read, or there is none any more.
    func becameReadable(_ resource: UpstreamResource) {
        guard resource.unreadable != nil else { return }
        resource.unreadable = nil
        if !hasUnreadable { asksToReadAt = nil }
    }

    /// The properties for further subscriptions of the same watcher to the domain.
    /// - Parameter poll: tag of the dialog that polls.
    func order(poll: String?) -> UpstreamOrder {
        UpstreamOrder(
            watcher: watcher, network: network, domain: domain, maxForwards: maxForwards, hopMarks: hopMarks,
            poll: subscriber.isFetch ? poll ?? batchKey?.poll ?? localTag : nil)
    }

    /// Address and shape of the subscription.
    var address: UpstreamTarget {
        switch shape {
        case .single: .presentity(target)
        case .batch: .pool(target)
        case .list: .list(target)
        }
    }

    /// Whether it is sent to a pool that the remote domain named.
    func isFollowed(at now: Instant) -> Bool {
        guard shape == .batch, let first = resources.first else { return false }
        return domain.origin(of: first.uri, at: now) != address
    }

    var nextDeadline: Instant? {
        var next = Instant.earliest(subscriber.nextDeadline, startsAt, restsUntil, Instant.earliest(list?.asksAgainAt, asksToReadAt))
        for resource in resources {
            if let staleAt = resource.staleAt { next = min(next ?? staleAt, staleAt) }
            if let moment = resource.nextTimedMoment { next = min(next ?? moment, moment) }
        }
        return next
    }

    // MARK: resources

    func resource(_ key: String) -> UpstreamResource? {
        if let index { return index[key] }
        return resources.first { $0.key == key }
    }

    private func append(_ resource: UpstreamResource) {
        resources.append(resource)
        if index == nil, resources.count > Self.few {
            index = Dictionary(resources.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
        } else {
            index?[resource.key] = resource
        }
    }

    private func removeAll(where isGone: (UpstreamResource) -> Bool) {
        guard resources.contains(where: isGone) else { return }
        for resource in resources where isGone(resource) { index?[resource.key] = nil }
        resources.removeAll(where: isGone)
    }

    /// Largest number of presentities without an index.
    private static let few = 16

    /// The presentity, if there is only one.
    var only: UpstreamResource? { resources.count == 1 ? resources.first : nil }

    /// The live sinks of all presentities.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] { resources.flatMap(\.sinks) }

    var hasSink: Bool { resources.contains(where: \.hasSink) }

    /// Whether the watcher requested privacy in at least one dialog (RFC 3325 9.3).
    var hidesWatcher: Bool { resources.contains { $0.sinks.contains { $0.watcher.hidesIdentity } } }

    /// Feeds a resource of one of the watcher's dialogs.
    func join(_ resource: WatchedResource, of watcher: WatcherDialog) {
        if let known = self.resource(resource.key) {
            known.add(resource, of: watcher)
            // A dialog about this presentity alone is pending as a whole (``WatcherDialog/isWithheld``).
            if known.authorization == .pending, watcher.namesResources { resource.isPending = true }
        } else {
            let joined = UpstreamResource(uri: resource.uri, key: resource.key)
            joined.add(resource, of: watcher)
            append(joined)
        }
        resource.upstream = self
    }

    /// Stops feeding a resource. A presentity without sinks is removed, unless the remote domain knows it and it must be unsubscribed.
    func leave(_ resource: WatchedResource) {
        resource.upstream = nil
        guard let left = self.resource(resource.key) else { return }
        left.remove(resource)
        if !left.hasSink, left.asked == nil, left.offered == nil { drop(left) }
    }

    /// Adds a presentity that an earlier process subscribed.
    func resume(_ resource: UpstreamResource) { append(resource) }

    func drop(_ resource: UpstreamResource) { removeAll { $0 === resource } }

    func dropAll() { removeAll { _ in true } }

    /// Takes over a presentity with its sinks from another subscription.
    func adopt(_ resource: UpstreamResource) {
        resource.reset()
        guard let known = self.resource(resource.key) else {
            append(resource)
            for sink in resource.sinks { sink.resource.upstream = self }
            return
        }
        known.redirectHistory = known.redirectHistory ?? resource.redirectHistory
        // A pending presentity stays pending for added watchers.
        if known.authorization == .unheard { known.authorization = resource.authorization }
        for sink in resource.sinks {
            known.add(sink.resource, of: sink.watcher)
            sink.resource.upstream = self
        }
    }

    /// Whether a batch has changes to send (MS-PRES 3.4.5.1.3).
    var hasChange: Bool { shape == .batch && resources.contains { $0.change != nil } }

    /// Applies the final response to a SUBSCRIBE that named presentities.
    func settle(isAccepted: Bool) {
        guard shape == .batch else { return }
        for resource in resources { resource.settle(isAccepted: isAccepted) }
        removeAll { !$0.hasSink && $0.asked == nil }
    }

    /// Resets the state at the start or loss of a dialog: the remote domain knows no presentity.
    func reset() {
        fullState = FullStateDemand()
        list?.reset()
        for resource in resources { resource.reset() }
        removeAll { !$0.hasSink }
    }
}
