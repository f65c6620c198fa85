import EnhancedPresence
import SIPCore

/// Watchers of hosted presentities with dialogs in other shards. They are in the lists of watchers by the tags of their watches, so that
/// blocks, expiry and changes treat them like the others.
///
///     watch --checked--> attached, due --end of the tick--> first view sent
///               \--refused                ^                      |
///                                         +------changed---------+
///
/// Views that are equal are sent once to each shard. A view leaves when the changes that it shows are stored, so that no watcher sees what
/// a restart would not know.
final class RemoteWatchers: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The flow of the presentities, which owns this part.
    private unowned let presentities: PresentitiesFlow
    private var watchers: [String: RemoteWatcher] = [:]
    /// Number of watchers by presentity.
    private var numbers: [String: Int] = [:]
    /// Whether views wait until the changes that they show are stored; only a simulation sets it to false, to show that they must.
    var waitsForCommits = true
    /// Tags of the watches with a change in this tick, in the order of the changes.
    private var due: [String] = []
    /// Number of the last view that was named.
    private var lastView: UInt64 = 0

    init(_ presentities: PresentitiesFlow) {
        kernel = presentities.kernel
        context = presentities.context
        self.presentities = presentities
    }

    /// Number of entries by table.
    var sizes: [String: Int] { ["remoteWatchers": watchers.count] }

    /// Number of watchers of a presentity.
    func count(of presentity: String) -> Int { numbers[presentity] ?? 0 }

    /// The watcher of a watch; nil: there is no such watch.
    func identity(of tag: String) -> WatcherIdentity? { watchers[tag]?.watch.watcher }

    /// Whether the watcher of a watch asked for privacy of its identity.
    func hidesIdentity(of tag: String) -> Bool { watchers[tag]?.watch.hidesIdentity ?? false }

    /// Whether a watch is one of a fetch.
    func isPoll(_ tag: String) -> Bool { watchers[tag]?.watch.isPoll ?? false }

    /// Watches of a presentity by a watcher, ordered by tag.
    func watches(of presentity: String, by watcher: WatcherIdentity) -> [(watch: Watch, resource: WatchedResource)] {
        watchers.values.filter { $0.watch.key == presentity && $0.watch.watcher.address == watcher.address }
            .sorted { $0.watch.id.tag < $1.watch.id.tag }.map { ($0.watch, $0.resource) }
    }

    // MARK: watches

    /// Begins a watch, or refuses it.
    func begin(_ watch: Watch, at now: Instant) {
        do throws(Refusal) {
            if watch.isRequest { try check(watch, at: now) }
            try presentities.checkAccess(
                of: watch.watcher, hidesIdentity: watch.hidesIdentity, to: watch.key, watch.presentity, at: now)
            if let subscriber = watch.subscriber {
                try presentities.noteSubscriber(subscriber, of: watch.key, watch.presentity, at: now)
            }
        } catch {
            return post(watch.isRequest ? .refused(watch.id, error) : .rejected(watch.id), to: watch.id.shard)
        }
        guard directory.has(watch.key) != false || !isInDirectory(watch.presentity) else {
            return post(.ended(watch.id), to: watch.id.shard)
        }
        let resource = WatchedResource(
            uri: watch.presentity, key: watch.key, categories: watch.categories, entity: watch.entity)
        let tag = watch.id.tag
        watchers[tag] = RemoteWatcher(watch, resource)
        numbers[watch.key, default: 0] += 1
        presentities.attach(resource, ofDialog: tag, for: watch.watcher, hidesIdentity: watch.hidesIdentity, at: now)
        changed(tag)
    }

    private func check(_ watch: Watch, at now: Instant) throws(Refusal) {
        try kernel.checkStore(changesNothing: watch.isPoll && watch.subscriber == nil, at: now)
        let isTooMany =
            presentities.isFull(for: watch.watcher, hidesIdentity: watch.hidesIdentity, of: watch.key)
            || count(of: watch.key) + presentities.ports.dialogCount(of: watch.key) >= configuration.limits.subscriptionsPerPresentity
        guard isTooMany else { return }
        counters.limitsReached += 1
        throw Refusal(.requestEntityTooLarge, "too many subscriptions to this presentity", errorID: 2011)
    }

    /// Ends a watch.
    func end(_ id: WatchID) {
        let tag = id.tag
        guard let watcher = remove(tag) else { return }
        presentities.detach(watcher.resource, ofDialog: tag)
    }

    /// Ends a watch of a user that was removed or disabled, and notifies the watcher's shard.
    func userEnded(_ tag: String) {
        if let watcher = remove(tag) { post(.ended(watcher.watch.id), to: watcher.watch.id.shard) }
    }

    /// Ends a watch that the presentity's rules block now, or notes that the watcher may see something else.
    func accessChanged(_ tag: String) {
        guard let watcher = watchers[tag] else { return }
        guard watcher.resource.access?.isBlocked == true else { return changed(tag) }
        end(watcher.watch.id)
        post(.rejected(watcher.watch.id), to: watcher.watch.id.shard)
    }

    private func remove(_ tag: String) -> RemoteWatcher? {
        guard let watcher = watchers.removeValue(forKey: tag) else { return nil }
        let left = count(of: watcher.watch.key) - 1
        numbers[watcher.watch.key] = left > 0 ? left : nil
        return watcher
    }

    // MARK: views

    /// Whether a view is to be sent at the end of the tick.
    var hasDue: Bool { !due.isEmpty }

    /// Notes that a watcher may see something else.
    /// - Parameter isHidden: whether the change is hidden from the watcher.
    func changed(_ tag: String, isHidden: Bool = false) {
        guard let watcher = watchers[tag] else { return }
        if watcher.become(due: isHidden) { due.append(tag) }
    }

    /// Sends the views of this tick, each once to every shard.
    func sendViews(at now: Instant) {
        guard !due.isEmpty else { return }
        let tags = due
        due = []
        var parcels: [Parcel] = []
        var places: [ParcelKey: Int] = [:]
        places.reserveCapacity(tags.count)
        for tag in tags {
            guard let watcher = watchers[tag], let (presence, key) = newView(of: watcher, at: now) else { continue }
            let addressee = watcher.send(presence)
            let parcelKey = ParcelKey(shard: watcher.watch.id.shard, view: ObjectIdentifier(presence.object))
            if let place = places[parcelKey] {
                parcels[place].view.addressees.append(addressee)
            } else {
                places[parcelKey] = parcels.count
                parcels.append(
                    Parcel(
                        shard: parcelKey.shard, presentity: watcher.watch.key, key: key,
                        view: SharedView(id: name(of: presence), content: .init(presence), addressees: [addressee])))
            }
        }
        // Ordered by presentity: the order of first addressees would show a blocked watcher of several whether others share its view.
        for parcel in parcels.enumerated().sorted(by: { ($0.element.presentity, $0.offset) < ($1.element.presentity, $1.offset) })
            .map(\.element)
        {
            guard waitsForCommits else {
                post(.views(parcel.view), to: parcel.shard)
                continue
            }
            let scope = CommitScope(parcel.key, parcel.key, ofDialog: nil)
            kernel.post(WatchMessage.views(parcel.view), to: parcel.shard, in: scope, from: .presentities)
        }
    }

    /// Names a view; the name goes with the object, which does not change.
    private func name(of presence: RenderedPresence) -> ViewID {
        if let number = presence.sharedNumber { return ViewID(shard: place.index, number: number) }
        lastView += 1
        presence.share(as: lastView)
        return ViewID(shard: place.index, number: lastView)
    }

    /// The watcher's view with the key of its record; nil: it has that view, or the presentity is gone.
    private func newView(of watcher: RemoteWatcher, at now: Instant) -> (RenderedPresence, String)? {
        watcher.takeDue()
        let (watch, resource) = (watcher.watch, watcher.resource)
        presentities.composePending(resource.hostedKey)
        guard let made = presentities.rendered(resource, as: watch.format, for: watch.watcher, at: now) else { return nil }
        let isPending = resource.access?.isPending == true
        if let sent = watcher.sent, watcher.wasSentPending == isPending, made.presence.changesNothing(after: sent, among: watch.categories)
        {
            return nil
        }
        if made.isOwn { presentities.blocking.noteShown(made.presence, of: resource, as: watch.format, to: watch.watcher, at: now) }
        return (made.presence, resource.hostedKey)
    }

    /// Handles views that were not sent, because the changes that they show could not be stored: the newest ones follow. A SUBSCRIBE that
    /// waits for its first view is refused.
    func notSent(_ view: SharedView) {
        for addressee in view.addressees {
            guard let watcher = watchers[addressee.watch.tag] else { continue }
            if watcher.watch.isRequest, addressee.sequence == 1 {
                end(addressee.watch)
                post(.refused(addressee.watch, notKeptRefusal), to: addressee.watch.shard)
            } else {
                watcher.forgetSent()
                changed(addressee.watch.tag)
            }
        }
    }

    private func post(_ message: WatchMessage, to shard: Int) { kernel.mailboxes.post(message, to: shard) }

    /// Equal views for one shard.
    private struct ParcelKey: Hashable {
        let shard: Int
        let view: ObjectIdentifier
    }

    private struct Parcel {
        let shard: Int
        /// The presentity's `aorKey`.
        let presentity: String
        /// Key of the record that is shown.
        let key: String
        var view: SharedView
    }
}

/// One watch, and what its shard was sent.
private final class RemoteWatcher {
    let watch: Watch
    let resource: WatchedResource
    /// The last view; nil: none, or it was not sent.
    private(set) var sent: RenderedPresence?
    /// Whether the last view was of a pending watcher.
    private(set) var wasSentPending = false
    /// Number of the last view.
    private var sequence: UInt64 = 0
    private var isDue = false
    private var isHidden = false

    init(_ watch: Watch, _ resource: WatchedResource) {
        self.watch = watch
        self.resource = resource
    }

    /// - Returns: whether it was not due.
    func become(due isHidden: Bool) -> Bool {
        defer { isDue = true }
        self.isHidden = isHidden
        return !isDue
    }

    func takeDue() { isDue = false }

    /// Notes that a view is sent.
    func send(_ presence: RenderedPresence) -> SharedView.Addressee {
        sent = presence
        wasSentPending = resource.access?.isPending == true
        sequence += 1
        return SharedView.Addressee(watch: watch.id, sequence: sequence, isHidden: isHidden, isPending: wasSentPending)
    }

    func forgetSent() { sent = nil }
}

extension RenderedPresence {
    /// The object that watchers with the same view share.
    fileprivate var object: AnyObject {
        switch self {
        case .categories(let view): view
        case .document(let view): view
        }
    }

    fileprivate var sharedNumber: UInt64? {
        switch self {
        case .categories(let view): view.sharedNumber
        case .document(let view): view.sharedNumber
        }
    }

    fileprivate func share(as number: UInt64) {
        switch self {
        case .categories(let view): view.share(as: number)
        case .document(let view): view.share(as: number)
        }
    }
}
