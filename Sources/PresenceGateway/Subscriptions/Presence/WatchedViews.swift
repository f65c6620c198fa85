import EnhancedPresence
import PresenceDocuments
import SIPCore

/// Hosted presentities of other shards that dialogs of this shard watch.
///
///     SUBSCRIBE --watches sent--> parked --every view or refusal is there--> served as if the presentities were here
///     view --newer than the last one--> shown by its resource --> the watcher is notified
///
/// A view is taken by the id of its watch and its number only: a late one is older, or for a watch that has ended.
final class WatchedViews: ShardMember {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The presence subscriptions, which own this part.
    private unowned let presence: PresenceSubscriptions
    private var entries: [WatchID: Entry] = [:]
    /// The views that watches show, by name, so that watches of one view share its caches, as those in the presentity's shard do.
    private var shared: [ViewID: (presence: RenderedPresence, uses: Int)] = [:]
    private var lastNumber: UInt64 = 0
    private var parked: [UInt64: ParkedSubscribe] = [:]
    /// Parked requests in a dialog by its local tag, in the order of arrival.
    private var queues: [String: [UInt64]] = [:]
    /// Whether a request is served that was parked.
    private var isServing = false
    /// Watches of that request, by presentity.
    private var prepared: [String: WatchID] = [:]

    /// A watch, and the resource that shows it; an object, because it has many fields and several changes in each request.
    private final class Entry {
        let draft: WatchDraft
        /// Number of the last view; 0: none.
        var sequence: UInt64 = 0
        var shown: (id: ViewID, presence: RenderedPresence)?
        var refusal: Refusal?
        /// Whether the presentity's rules make the watcher wait for the presentity.
        var isPending = false
        /// The parked request that it is for; nil: it was served.
        var request: UInt64?
        /// The resource that shows it, and the local tag of its dialog.
        var viewer: (resource: WatchedResource, dialog: String)?

        var isAnswered: Bool { shown != nil || refusal != nil }

        init(_ draft: WatchDraft, for request: UInt64?) {
            self.draft = draft
            self.request = request
        }
    }

    init(_ presence: PresenceSubscriptions) {
        kernel = presence.kernel
        context = presence.context
        self.presence = presence
    }

    /// Number of entries by table.
    var sizes: [String: Int] { ["watchedViews": entries.count, "sharedViews": shared.count, "parkedRequests": parked.count] }

    /// Number of requests that wait for views.
    var parkedCount: Int { parked.count }

    // MARK: requests

    /// Orders the views that a SUBSCRIBE needs, and parks it until they are there.
    /// - Parameters:
    ///   - drafts: what it needs of other shards; not computed for a request that waited.
    ///   - dialog: its dialog.
    /// - Returns: false: it can be served now.
    func park(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, needing drafts: @autoclosure () -> [WatchDraft],
        for dialog: ParkedDialog, at now: Instant
    ) -> Bool {
        if isServing { return false }
        let drafts = drafts()
        // Requests of a dialog are served in order (RFC 3261 12.2.2).
        guard !drafts.isEmpty || dialog.tag.map({ queues[$0] != nil }) == true else { return false }
        lastNumber += 1
        let number = lastNumber
        parked[number] = ParkedSubscribe(
            request, transaction, flow, dialog, watches: drafts.map { send($0, for: number) }, generation: context.generation)
        if let dialog = dialog.tag { queues[dialog, default: []].append(number) }
        timers.set(Self.ticket(number), at: now + Self.patience)
        return true
    }

    /// Longest wait for another shard: that of a client for a final response (timer F, RFC 3261 17.1.2.2).
    private static let patience = TimeSpan.seconds(32)
    private static let ticketKind: UInt8 = 1

    private static func ticket(_ number: UInt64) -> Ticket { Ticket(.subscriptions, kind: ticketKind, number: number) }

    static func isTicket(_ ticket: Ticket) -> Bool { ticket.kind == ticketKind }

    /// Handles the end of the patience with another shard.
    func timerDue(_ ticket: Ticket, at now: Instant) {
        give(up: ticket.number, .unavailable("a part of this node does not answer", retryAfter: configuration.timing.retryAfter), at: now)
    }

    /// Gives up the requests that arrived over a closed connection.
    func connectionClosed(_ connection: ConnectionID, at now: Instant) {
        guard !parked.isEmpty else { return }
        for number in parked.filter({ $0.value.flow.connection == connection }).keys.sorted() {
            give(up: number, .unavailable("the connection was closed", retryAfter: configuration.timing.retryAfter), at: now)
        }
    }

    private func give(up number: UInt64, _ refusal: Refusal, at now: Instant) {
        guard let request = take(number) else { return }
        request.watches.forEach(release)
        presence.notifier.ports.refuse(request.request, request.transaction, refusal, at: now)
        serveNext(inDialog: request.dialog, at: now)
    }

    private func take(_ number: UInt64) -> ParkedSubscribe? {
        guard let request = parked.removeValue(forKey: number) else { return nil }
        timers.set(Self.ticket(number), at: nil)
        if let dialog = request.dialog {
            queues[dialog]?.removeAll { $0 == number }
            if queues[dialog]?.isEmpty == true { queues[dialog] = nil }
        }
        return request
    }

    /// Notes that a watch of a parked request has its first answer; serves the request when all have.
    private func answered(_ number: UInt64, at now: Instant) {
        guard let request = parked[number] else { return }
        request.waiting -= 1
        guard request.waiting == 0 else { return }
        if let dialog = request.dialog, queues[dialog]?.first != number { return }
        serve(number, at: now)
    }

    private func serve(_ number: UInt64, at now: Instant) {
        guard let request = take(number) else { return }
        prepared = Dictionary(
            request.watches.compactMap { id in entries[id].map { ($0.draft.key, id) } }, uniquingKeysWith: { first, _ in first })
        isServing = true
        // The parsed request is valid while configuration and directory are the same.
        let opened = request.generation == context.generation ? request.opened : nil
        presence.notifier.serve(request.request, request.transaction, request.flow, opened, at: now)
        (isServing, prepared) = (false, [:])
        for id in request.watches where entries[id]?.request == number { release(id) }
        serveNext(inDialog: request.dialog, at: now)
    }

    private func serveNext(inDialog dialog: String?, at now: Instant) {
        guard let dialog, let next = queues[dialog]?.first, parked[next]?.waiting == 0 else { return }
        serve(next, at: now)
    }

    /// The refusal of a presentity's shard for the request that is served; nil: it agrees.
    func refusal(of presentity: String) -> Refusal? { prepared[presentity].flatMap { entries[$0]?.refusal } }

    // MARK: watches

    /// Feeds a resource by the watch of the request that is served, or else by a new one, whose view follows.
    func attach(_ resource: WatchedResource, of watcher: WatcherDialog) {
        let draft = WatchDraft(resource, of: watcher)
        let ordered = prepared[resource.key].flatMap { id in entries[id]?.draft.isSame(as: draft) == true ? id : nil }
        let id = ordered ?? send(draft, for: nil)
        guard let entry = entries[id] else { return }
        entry.request = nil
        entry.viewer = (resource, watcher.localTag)
        // Until the first view, the watcher stays pending or not.
        if entry.shown != nil { resource.permit(entry.isPending ? .confirm : nil) }
        resource.watch(by: id, showing: entry.shown?.presence)
    }

    /// Feeds a resource with other categories than before.
    func attachAgain(_ resource: WatchedResource, of watcher: WatcherDialog) {
        let before = resource.watch
        attach(resource, of: watcher)
        if let before, before != resource.watch { release(before) }
    }

    /// Ends the watch of a resource.
    func detach(_ resource: WatchedResource) {
        if let id = resource.watch { release(id) }
    }

    private func send(_ draft: WatchDraft, for request: UInt64?) -> WatchID {
        lastNumber += 1
        let id = WatchID(shard: place.index, number: lastNumber)
        entries[id] = Entry(draft, for: request)
        post(.watch(draft.watch(id, isRequest: request != nil)), about: draft.key)
        return id
    }

    private func release(_ id: WatchID) {
        guard let entry = entries.removeValue(forKey: id) else { return }
        show(nil, by: entry)
        guard entry.refusal == nil else { return }
        post(.unwatch(id), about: entry.draft.key)
    }

    private func post(_ message: WatchMessage, about presentity: String) {
        kernel.mailboxes.post(message, to: place.shard(of: presentity))
    }

    // MARK: answers

    /// Takes a view for the watches that have an older one.
    func receive(_ view: SharedView, at now: Instant) {
        let presence = shared[view.id]?.presence ?? view.content.presence
        let shown = (id: view.id, presence: presence)
        for addressee in view.addressees {
            guard let entry = entries[addressee.watch], addressee.sequence > entry.sequence else { continue }
            let isFirst = !entry.isAnswered
            entry.sequence = addressee.sequence
            entry.isPending = addressee.isPending
            show(shown, by: entry)
            if let number = entry.request {
                if isFirst { answered(number, at: now) }
            } else if let (resource, tag) = entry.viewer, let watcher = self.presence.notifier.dialogs[tag] {
                // A restored resource of a batch or list knows that it is pending, and has no access yet.
                let wasPending = watcher.namesResources ? resource.isPending : resource.access?.isPending == true
                resource.watch(by: addressee.watch, showing: presence)
                if wasPending != addressee.isPending {
                    resource.permit(addressee.isPending ? .confirm : nil)
                    self.presence.accessChanged(of: resource, in: watcher, wasPending: wasPending, at: now)
                } else if addressee.isHidden {
                    self.presence.hideChange(of: resource, from: watcher, at: now)
                } else {
                    self.presence.sourceChanged(resource, of: watcher, at: now)
                }
            }
        }
    }

    /// Sets the view that a watch shows; nil: it has ended. A view that no watch shows is forgotten.
    private func show(_ view: (id: ViewID, presence: RenderedPresence)?, by entry: Entry) {
        let old = entry.shown?.id
        entry.shown = view
        guard view?.id != old else { return }
        if let view { shared[view.id, default: (view.presence, 0)].uses += 1 }
        guard let old, let uses = shared[old]?.uses else { return }
        if uses > 1 { shared[old]?.uses = uses - 1 } else { shared[old] = nil }
    }

    /// Handles a refused watch.
    func refused(_ id: WatchID, _ refusal: Refusal, at now: Instant) {
        guard let entry = entries[id], let number = entry.request else { return }
        let isFirst = !entry.isAnswered
        entry.refusal = refusal
        if isFirst { answered(number, at: now) }
    }

    /// Handles a watch that the presentity's rules block.
    func rejected(_ id: WatchID, at now: Instant) {
        guard let entry = entries[id] else { return }
        if entry.request != nil { return refused(id, .blockedByRules, at: now) }
        entries[id] = nil
        show(nil, by: entry)
        if let (resource, tag) = entry.viewer, let watcher = presence.notifier.dialogs[tag] {
            presence.withdraw(resource, from: watcher, because: Refusal.blockedByRules.explanation, at: now)
        }
    }

    /// Handles the end of a presentity.
    func ended(_ id: WatchID, at now: Instant) {
        guard let entry = entries[id] else { return }
        if entry.request != nil { return refused(id, .noSuchUser, at: now) }
        entries[id] = nil
        show(nil, by: entry)
        if let (resource, tag) = entry.viewer, let watcher = presence.notifier.dialogs[tag] {
            presence.userEnded(resource, of: watcher, at: now)
        }
    }
}

/// The dialog of a SUBSCRIBE that waits for views of other shards.
enum ParkedDialog {
    /// A dialog by its local tag.
    case tag(String)
    /// None yet; the package has read the request.
    case none(OpenedSubscription)

    /// Local tag of the dialog; nil: none yet.
    var tag: String? { if case .tag(let tag) = self { tag } else { nil } }
}

/// A SUBSCRIBE that waits for views of other shards.
private final class ParkedSubscribe {
    let request: SIPRequest
    let transaction: ServerTransactionID?
    let flow: Flow
    /// Local tag of its dialog; nil: outside a dialog.
    let dialog: String?
    /// The parsed request outside a dialog, valid in ``generation``; nil: parse it again. A subscription to a single presentity is parsed
    /// again, because the parser checks its limits.
    let opened: OpenedSubscription?
    /// ``ShardContext/generation`` when it was read.
    let generation: Int
    let watches: [WatchID]
    /// Number of the watches without an answer.
    var waiting: Int

    init(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, _ dialog: ParkedDialog, watches: [WatchID],
        generation: Int
    ) {
        self.request = request
        self.transaction = transaction
        self.flow = flow
        self.dialog = dialog.tag
        opened = if case .none(let opened) = dialog, opened.subscription.presentity.isEmpty { opened } else { nil }
        self.generation = generation
        self.watches = watches
        waiting = watches.count
    }
}

/// View that a dialog needs of a presentity of another shard.
struct WatchDraft {
    let presentity: SIPURI
    let key: String
    let entity: SIPURI
    let categories: [CategoryName]
    let format: WatcherFormat
    let watcher: WatcherIdentity
    let hidesIdentity: Bool
    private(set) var subscriber: NewSubscriber?
    private(set) var isPoll = false

    init(_ resource: WatchedResource, of watcher: WatcherDialog) {
        presentity = resource.uri
        key = resource.key
        entity = resource.entity
        categories = resource.categories
        format = watcher.format
        self.watcher = watcher.identity
        hidesIdentity = watcher.hidesIdentity
    }

    init(
        _ wanted: CategoryRequest.Resource, as format: WatcherFormat, for watcher: WatcherIdentity, hidesIdentity: Bool,
        subscriber: NewSubscriber?, isPoll: Bool
    ) {
        presentity = wanted.uri
        key = wanted.key
        entity = wanted.entity ?? wanted.uri
        categories = wanted.categories
        self.format = format
        self.watcher = watcher
        self.hidesIdentity = hidesIdentity
        self.subscriber = subscriber
        self.isPoll = isPoll
    }

    /// Whether both want the same view.
    func isSame(as other: WatchDraft) -> Bool {
        entity == other.entity && categories == other.categories && format == other.format && watcher == other.watcher
            && hidesIdentity == other.hidesIdentity
    }

    func watch(_ id: WatchID, isRequest: Bool) -> Watch {
        Watch(
            id: id, presentity: presentity, key: key, entity: entity, categories: categories, format: format, watcher: watcher,
            hidesIdentity: hidesIdentity, subscriber: subscriber, isRequest: isRequest, isPoll: isPoll)
    }
}
