import FederationRouting
import PresenceDocuments
import SIPCore
import SIPEvents

/// A far leg: one subscription dialog of ours, in one watcher's name, at the home of one or several presentities.
///
/// Never shared between watchers, because the notifier decides what each of them may see (docs/decisions/upstream-per-watcher.md). When to subscribe,
/// refresh and start anew is decided by its ``SIPEvents/Subscriber``; in which words is written by ``describe(_:expires:reliable:)``.
///
///     WatchedResource --strong--> UpstreamSubscription --> UpstreamResource --weak--> WatchedResource, WatcherDialog
final class UpstreamSubscription {
    let id: UInt64
    let watcher: SIPURI
    let network: SourceNetwork
    let domain: UpstreamDomain
    let maxForwards: Int
    /// The hop marks that came with the watcher's SUBSCRIBE, without our own.
    let hopMarks: String
    /// In the order in which they were asked for; without any the leg only says goodbye.
    private(set) var resources: [UpstreamResource] = []
    /// The same by key, where there are many.
    private var index: [String: UpstreamResource]?
    /// Where the SUBSCRIBE is addressed: the presentity, a list of it, or the pool where it lives.
    let target: SIPURI
    let shape: Shape
    /// Never `batch`, which is a shape.
    var format: UpstreamFormat
    /// Forms that the far side refused, with the present one.
    var tried: TriedForms
    /// The present form was found after the far side refused another.
    var isFallback = false
    /// Differences are asked for (RFC 5263).
    var offersPartial = false
    var fullState = FullStateDemand()
    /// The flaw of a notified document that was noted last.
    var lastFlaw: String?
    /// Of a list.
    var list: UpstreamList?
    /// How a batch is found by those who could join; nil: it is no batch, or rests.
    var batchKey: UpstreamBatchKey?
    /// Presentities that the far side takes in one batch.
    var capacity = Int.max

    var subscriber: Subscriber
    /// Tag and Call-ID of the current attempt.
    var localTag = ""
    var callID = ""
    /// The first SUBSCRIBE of the current attempt, until there is a dialog.
    var request: SIPRequest?
    var dialog: Dialog? { didSet { if dialog != nil { request = nil } } }
    /// The Request-URIs that the current attempt was sent on from (RFC 3261 8.1.3.4).
    var redirections: Set<String> = []
    /// The dialog's route set is that of a NOTIFY (RFC 6665 4.4.1), not only that of the 200.
    var hasNotified = false
    /// After a restart: when it is this leg's turn.
    var startsAt: Instant?
    /// A leg that was sent on too often asks no sooner.
    var restsUntil: Instant?

    /// Since when it is not known whether the far side still knows of it, or what it says; nil: its last SUBSCRIBE was accepted, and its last
    /// document was read.
    var unverifiedSince: Instant?
    /// Error of its last document; nil: it was read.
    var unreadable: String?
    /// Time at which the whole state is requested again after an unreadable document.
    var asksToReadAt: Instant?
    /// Time of the last verification, or of the restart because the partner was back.
    var verifiedAt: Instant?
    /// It is refreshed for others too.
    var sample: Sample?
    /// Server that accepted its last SUBSCRIBE; see ``UpstreamTable/note(_:acceptedBy:)``.
    var server: TransportAddress?
    /// Over which it is heard; two at most.
    var connections: [ConnectionID] = []
    /// It is made anew at another server when its turn comes (``startsAt``).
    var isMoving = false
    /// Its SUBSCRIBE had nowhere to go when it was sent last.
    var obstacle: HopFailure?

    /// How the presentities are named in the SUBSCRIBE.
    enum Shape: String, Hashable {
        /// One, to whom it is addressed.
        case single
        /// Those of an ad-hoc list, from the watcher to itself (MS-PRES 3.4.5.1.1).
        case batch
        /// Those of a list that the far side expands (RFC 4662, RFC 5367).
        case list
    }

    /// What a watcher that cannot say which categories it wants gets made from.
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

    /// A document was read again, or there is none any more.
    func becameReadable() {
        guard unreadable != nil else { return }
        unreadable = nil
        unverifiedSince = nil
        asksToReadAt = nil
    }

    /// On whose behalf it asks.
    /// - Parameter poll: the tag of the dialog that polls.
    func order(poll: String?) -> UpstreamOrder {
        UpstreamOrder(
            watcher: watcher, network: network, domain: domain, maxForwards: maxForwards, hopMarks: hopMarks,
            poll: subscriber.isFetch ? poll ?? batchKey?.poll ?? localTag : nil)
    }

    /// Where it asks.
    var place: UpstreamTarget {
        switch shape {
        case .single: .presentity(target)
        case .batch: .pool(target)
        case .list: .list(target)
        }
    }

    /// Whether it asks a pool that the far side named.
    func isFollowed(at now: Instant) -> Bool {
        guard shape == .batch, let first = resources.first else { return false }
        return domain.origin(of: first.uri, at: now) != place
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

    /// Most legs have one presentity, and need no index.
    private static let few = 16

    /// The only resource of a leg that is no list.
    var only: UpstreamResource? { resources.count == 1 ? resources.first : nil }

    /// Every live sink of every resource.
    var sinks: [(watcher: WatcherDialog, resource: WatchedResource)] { resources.flatMap(\.sinks) }

    var hasSink: Bool { resources.contains(where: \.hasSink) }

    /// The watcher asked for privacy in one of his dialogs at least (RFC 3325 9.3).
    var hidesWatcher: Bool { resources.contains { $0.sinks.contains { $0.watcher.hidesIdentity } } }

    /// Feeds a resource of one of the watcher's dialogs from here.
    func join(_ resource: WatchedResource, of watcher: WatcherDialog) {
        if let known = self.resource(resource.key) {
            known.add(resource, of: watcher)
            // A dialog about this presentity alone is pending as a whole (``WatcherDialog/isWithheld``).
            if known.standing == .pending, watcher.namesResources { resource.isPending = true }
        } else {
            let joined = UpstreamResource(uri: resource.uri, key: resource.key)
            joined.add(resource, of: watcher)
            append(joined)
        }
        resource.upstream = self
    }

    /// Feeds it no more. A presentity without any sink is left out, or where the far side knows of it, to be unsubscribed.
    func leave(_ resource: WatchedResource) {
        resource.upstream = nil
        guard let left = self.resource(resource.key) else { return }
        left.remove(resource)
        if !left.hasSink, left.asked == nil, left.offered == nil { drop(left) }
    }

    /// What an earlier process asked for here.
    func resume(_ resource: UpstreamResource) { append(resource) }

    func drop(_ resource: UpstreamResource) { removeAll { $0 === resource } }

    func dropAll() { removeAll { _ in true } }

    /// Takes a presentity over from another leg, with its sinks.
    func adopt(_ resource: UpstreamResource) {
        resource.reset()
        guard let known = self.resource(resource.key) else {
            append(resource)
            for sink in resource.sinks { sink.resource.upstream = self }
            return
        }
        known.trail = known.trail ?? resource.trail
        // What was withdrawn stays so, whoever asks.
        if known.standing == .unheard { known.standing = resource.standing }
        for sink in resource.sinks {
            known.add(sink.resource, of: sink.watcher)
            sink.resource.upstream = self
        }
    }

    /// Whether the far side has to be told of something (MS-PRES 3.4.5.1.3).
    var hasChange: Bool { shape == .batch && resources.contains { $0.change != nil } }

    /// The answer to a SUBSCRIBE that named presentities is there.
    func settle(isAccepted: Bool) {
        guard shape == .batch else { return }
        for resource in resources { resource.settle(isAccepted: isAccepted) }
        removeAll { !$0.hasSink && $0.asked == nil }
    }

    /// A dialog begins or is gone: the far side knows of nothing.
    func reset() {
        fullState = FullStateDemand()
        list?.reset()
        for resource in resources { resource.reset() }
        removeAll { !$0.hasSink }
    }
}
