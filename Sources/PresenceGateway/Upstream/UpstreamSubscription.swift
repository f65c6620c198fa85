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
///
/// Its phases, besides those of the subscriber:
///
///     rests --end of the pause--> live
///     starts --its turn--> live
///     leaves --its turn--> live, and unsubscribed
///     live --the server is down, another is up--> moves --its turn--> live, and restarted there
final class UpstreamSubscription {
    let id: UInt64
    private let order: UpstreamOrder
    /// Presentities in the order of their addition; empty only while unsubscribing.
    private(set) var resources: [UpstreamResource] = []
    /// The same by key, for more than ``few`` presentities.
    private var index: [String: UpstreamResource]?
    /// Address of the SUBSCRIBE, and its shape.
    let address: UpstreamTarget
    private(set) var phase = Phase.live
    /// State of the list; nil for other shapes.
    let list: UpstreamList?
    /// Size and openness of a batch.
    private(set) var batch = Batch()
    var subscriber: Subscriber
    var form: UpstreamForm
    var attempt = UpstreamAttempt()
    var reading = UpstreamReading()
    var verification = UpstreamVerification()

    /// Form in which the SUBSCRIBE names its presentities.
    enum Shape: String, Hashable {
        /// One presentity, to which it is addressed.
        case single
        /// The presentities of an ad-hoc list, from the watcher to itself (MS-PRES 3.4.5.1.1).
        case batch
        /// The presentities of a list that the remote domain expands (RFC 4662, RFC 5367).
        case list
    }

    /// Whether the subscription waits for a time of its own.
    enum Phase: Hashable {
        /// The subscriber decides about the next request.
        case live
        /// Delayed, for example after too many redirections.
        case rests(until: Instant)
        /// Subscribed in its turn after a restart of this process.
        case starts(Instant)
        /// Unsubscribed in its turn, because it feeds no watcher of the restored ones.
        case leaves(Instant)
        /// Restarted at another server in its turn.
        case moves(Instant)
    }

    /// A step that is due, see ``takeTurn(at:)``.
    enum Turn: Hashable {
        case start, leave, move
    }

    /// Properties of a batch that presentities can join.
    struct Batch: Equatable {
        /// Key under which further presentities find the batch; nil: no batch, or a closed one.
        fileprivate(set) var key: UpstreamBatchKey?
        /// Most presentities that the remote domain accepts in one batch.
        fileprivate(set) var capacity = Int.max
    }

    /// Categories for watchers with other formats.
    static let standardCategories: [CategoryName] = [.state, .note, .contactCard, .services, .calendarData]

    /// - Parameter list: for a list only.
    init(
        id: UInt64, _ order: UpstreamOrder, at address: UpstreamTarget, form: UpstreamForm, list: UpstreamList? = nil,
        subscriber: Subscriber
    ) {
        self.id = id
        self.order = order
        self.address = address
        self.form = form
        self.list = list
        self.subscriber = subscriber
    }

    var watcher: SIPURI { order.watcher }
    var domain: UpstreamDomain { order.domain }
    var maxForwards: Int { order.maxForwards }
    /// Hop marks of the watcher's SUBSCRIBE, without our own.
    var hopMarks: String { order.hopMarks }

    var shape: Shape { address.shape }

    /// Request-URI of the SUBSCRIBE: the presentity, a list, or the pool of the presentities.
    var target: SIPURI { address.uri }

    var format: UpstreamFormat { form.format }

    /// From tag and Call-ID of the current attempt.
    var localTag: String { attempt.localTag }
    var callID: String { attempt.callID }

    var dialog: Dialog? { attempt.dialog }

    /// The last document of a presentity was read, or there is none any more.
    func becameReadable(_ resource: UpstreamResource) {
        if resource.becameReadable(), !hasUnreadable { reading.becameRead() }
    }

    /// The properties for further subscriptions of the same watcher to the domain.
    /// - Parameter poll: tag of the dialog that polls.
    func order(poll: String?) -> UpstreamOrder {
        UpstreamOrder(
            watcher: watcher, network: order.network, domain: domain, maxForwards: maxForwards, hopMarks: hopMarks,
            poll: subscriber.isFetch ? poll ?? batch.key?.poll ?? localTag : nil)
    }

    /// Whether it is sent to a pool that the remote domain named.
    func isFollowed(at now: Instant) -> Bool {
        guard shape == .batch, let first = resources.first else { return false }
        return domain.origin(of: first.uri, at: now) != address
    }

    /// Whether its refresh can show that the remote domain still has the subscriptions at a server.
    var isSampleable: Bool {
        hasSink && phase == .live && dialog != nil && !subscriber.isFetch && subscriber.standing == .established
    }

    var nextDeadline: Instant? {
        var next = Instant.earliest(
            subscriber.nextDeadline, phase.deadline, Instant.earliest(list?.asksAgainAt, reading.asksAgainAt))
        for resource in resources {
            if let staleAt = resource.staleAt { next = min(next ?? staleAt, staleAt) }
            if let moment = resource.nextTimedMoment { next = min(next ?? moment, moment) }
        }
        return next
    }

    // MARK: phases

    /// Delays the first SUBSCRIBE; a later end of the pause counts. Ignored while the subscription waits for a turn.
    func rest(until end: Instant) {
        switch phase {
        case .live: phase = .rests(until: end)
        case .rests(let planned): phase = .rests(until: max(planned, end))
        case .starts, .leaves, .moves: break
        }
    }

    /// Ends a pause; ignored in other phases.
    func wakeUp() {
        if isResting { phase = .live }
    }

    /// Plans the first SUBSCRIBE after a restart of this process; ignored once it was sent, and while the subscription waits.
    /// - Returns: whether it is planned.
    @discardableResult
    func start(inTurn moment: Instant) -> Bool {
        guard phase == .live, subscriber.attempt == 0 else { return false }
        phase = .starts(moment)
        return true
    }

    /// Plans to unsubscribe after a restart of this process; ignored while the subscription waits.
    func leave(inTurn moment: Instant) {
        if phase == .live { phase = .leaves(moment) }
    }

    /// Plans the restart at another server; ignored while the subscription waits.
    func move(inTurn moment: Instant) {
        if phase == .live { phase = .moves(moment) }
    }

    /// Begins with the first SUBSCRIBE, in its turn or before it; ignored while the subscription rests.
    func begin(at now: Instant) -> [Subscriber.Action] {
        guard !isResting, subscriber.attempt == 0 else { return [] }
        phase = .live
        return subscriber.start(at: now)
    }

    /// Ends the wait for a turn that has come; a start ends with ``begin(at:)``.
    /// - Returns: nil: no turn has come.
    func takeTurn(at now: Instant) -> Turn? {
        switch phase {
        case .starts(let moment) where now >= moment:
            guard hasSink else { break }
            return .start
        case .moves(let moment) where now >= moment:
            guard hasSink else { break }
            phase = .live
            return .move
        case .leaves(let moment) where now >= moment:
            break
        case .live, .rests, .starts, .leaves, .moves:
            return nil
        }
        // From an earlier process, and without watchers.
        phase = .live
        return .leave
    }

    /// Whether the first SUBSCRIBE is delayed.
    var isResting: Bool {
        if case .rests = phase { true } else { false }
    }

    /// Whether a pause is over.
    func isRested(at now: Instant) -> Bool {
        if case .rests(let end) = phase { now >= end } else { false }
    }

    // MARK: batches

    /// Allows further presentities to join.
    func open(as key: UpstreamBatchKey) { batch.key = key }

    /// Excludes further presentities.
    /// - Returns: the key under which they found the batch; nil: it was closed.
    func close() -> UpstreamBatchKey? {
        defer { batch.key = nil }
        return batch.key
    }

    /// Limits the number of presentities.
    func limit(to capacity: Int) { batch.capacity = min(batch.capacity, capacity) }

    // MARK: messages

    /// Continues the attempt of another subscription or process.
    func resume(_ attempt: UpstreamAttempt, _ subscriber: Subscriber) {
        self.attempt = attempt
        self.subscriber = subscriber
    }

    /// Handles a 2xx to a SUBSCRIBE.
    /// - Returns: the presentities that the SUBSCRIBE named, and the form to remember for the domain.
    func accepted(_ response: SIPResponse) -> (named: [UpstreamResource], form: UpstreamFormat?) {
        attempt.receive(response)
        // A refresh is followed by the whole state (RFC 6665 4.2.2).
        for resource in resources { resource.refreshed() }
        let named = resources.filter { $0.offered?.isEmpty == false }
        settle(isAccepted: true)
        reading.fullState.answered()
        return (named, form.accepted())
    }

    /// Handles a refusal of a SUBSCRIBE.
    func refused(_ response: SIPResponse) {
        attempt.receive(response)
        settle(isAccepted: false)
        reading.fullState.answered()
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
            if known.authorization == .pending, watcher.namesResources { resource.authorize(isPending: true) }
        } else {
            let joined = UpstreamResource(uri: resource.uri, key: resource.key)
            joined.add(resource, of: watcher)
            append(joined)
        }
        resource.feed(from: self)
    }

    /// Stops feeding a resource. A presentity without sinks is removed, unless the remote domain knows it and it must be unsubscribed.
    func leave(_ resource: WatchedResource) {
        resource.feed(from: nil)
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
            for sink in resource.sinks { sink.resource.feed(from: self) }
            return
        }
        known.adopt(resource)
        for sink in resource.sinks {
            known.add(sink.resource, of: sink.watcher)
            sink.resource.feed(from: self)
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
        reading.reset()
        list?.reset()
        for resource in resources { resource.reset() }
        removeAll { !$0.hasSink }
    }
}

extension UpstreamSubscription.Phase {
    /// Time of the turn, or end of the pause.
    var deadline: Instant? {
        switch self {
        case .live: nil
        case .rests(let moment), .starts(let moment), .leaves(let moment), .moves(let moment): moment
        }
    }
}
