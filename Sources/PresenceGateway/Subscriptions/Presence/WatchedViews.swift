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
    private var lastNumber: UInt64 = 0
    private var parked: [UInt64: ParkedSubscribe] = [:]
    /// Parked requests in a dialog by its local tag, in the order of arrival.
    private var queues: [String: [UInt64]] = [:]
    /// Whether a request is served that was parked.
    private var isServing = false
    /// Watches of that request, by presentity.
    private var prepared: [String: WatchID] = [:]

    /// A watch, and who shows it.
    private struct Entry {
        let draft: WatchDraft
        /// Number of the last view; 0: none.
        var sequence: UInt64 = 0
        var shown: RenderedPresence?
        var refusal: Refusal?
        /// Whether the presentity's rules make the watcher wait for the presentity.
        var isPending = false
        /// The parked request that it is for; nil: it was served.
        var request: UInt64?
        /// The resource that shows it, and the local tag of its dialog.
        var viewer: (resource: WatchedResource, dialog: String)?

        var isAnswered: Bool { shown != nil || refusal != nil }
    }

    init(_ presence: PresenceSubscriptions) {
        kernel = presence.kernel
        context = presence.context
        self.presence = presence
    }

    /// Number of entries by table.
    var sizes: [String: Int] { ["watchedViews": entries.count, "parkedRequests": parked.count] }

    /// Number of requests that wait for views.
    var parkedCount: Int { parked.count }

    // MARK: requests

    /// Orders the views that a SUBSCRIBE needs, and parks it until they are there.
    /// - Parameters:
    ///   - drafts: what it needs of other shards.
    ///   - dialog: local tag of its dialog; nil: it is outside a dialog.
    /// - Returns: false: it can be served now.
    func park(
        _ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, needing drafts: [WatchDraft], inDialog dialog: String?,
        at now: Instant
    ) -> Bool {
        // Requests of a dialog are served in order (RFC 3261 12.2.2).
        guard !isServing, !drafts.isEmpty || dialog.map({ queues[$0] != nil }) == true else { return false }
        lastNumber += 1
        let number = lastNumber
        var waiting: Set<WatchID> = []
        for draft in drafts { waiting.insert(send(draft, for: number)) }
        parked[number] = ParkedSubscribe(
            request: request, transaction: transaction, flow: flow, dialog: dialog, watches: waiting, waiting: waiting)
        if let dialog { queues[dialog, default: []].append(number) }
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

    /// Notes that a watch of a parked request is answered; serves the request when all are.
    private func answered(_ id: WatchID, of number: UInt64, at now: Instant) {
        parked[number]?.waiting.remove(id)
        guard let request = parked[number], request.waiting.isEmpty else { return }
        if let dialog = request.dialog, queues[dialog]?.first != number { return }
        serve(number, at: now)
    }

    private func serve(_ number: UInt64, at now: Instant) {
        guard let request = take(number) else { return }
        prepared = Dictionary(
            request.watches.compactMap { id in entries[id].map { ($0.draft.key, id) } }, uniquingKeysWith: { first, _ in first })
        isServing = true
        presence.notifier.serve(request.request, request.transaction, request.flow, at: now)
        (isServing, prepared) = (false, [:])
        for id in request.watches where entries[id]?.request == number { release(id) }
        serveNext(inDialog: request.dialog, at: now)
    }

    private func serveNext(inDialog dialog: String?, at now: Instant) {
        guard let dialog, let next = queues[dialog]?.first, parked[next]?.waiting.isEmpty == true else { return }
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
        entries[id]?.request = nil
        entries[id]?.viewer = (resource, watcher.localTag)
        // Until the first view, the watcher stays pending or not.
        if entries[id]?.shown != nil { resource.permit(entries[id]?.isPending == true ? .confirm : nil) }
        resource.watch(by: id, showing: entries[id]?.shown)
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
        entries[id] = Entry(draft: draft, request: request)
        post(.watch(draft.watch(id, isRequest: request != nil)), about: draft.key)
        return id
    }

    private func release(_ id: WatchID) {
        guard let entry = entries.removeValue(forKey: id), entry.refusal == nil else { return }
        post(.unwatch(id), about: entry.draft.key)
    }

    private func post(_ message: WatchMessage, about presentity: String) {
        kernel.mailboxes.post(message, to: place.shard(of: presentity))
    }

    // MARK: answers

    /// Takes a view for the watches that have an older one.
    func receive(_ view: SharedView, at now: Instant) {
        let shown = view.content.presence
        for addressee in view.addressees {
            guard var entry = entries[addressee.watch], addressee.sequence > entry.sequence else { continue }
            entry.sequence = addressee.sequence
            entry.shown = shown
            entry.isPending = addressee.isPending
            entries[addressee.watch] = entry
            if let number = entry.request {
                answered(addressee.watch, of: number, at: now)
            } else if let (resource, tag) = entry.viewer, let watcher = presence.notifier.dialogs[tag] {
                let wasPending = resource.access?.isPending == true
                resource.watch(by: addressee.watch, showing: shown)
                if wasPending != addressee.isPending {
                    resource.permit(addressee.isPending ? .confirm : nil)
                    presence.accessChanged(of: resource, in: watcher, wasPending: wasPending, at: now)
                } else if addressee.isHidden {
                    presence.hideChange(of: resource, from: watcher, at: now)
                } else {
                    presence.sourceChanged(resource, of: watcher, at: now)
                }
            }
        }
    }

    /// Handles a refused watch.
    func refused(_ id: WatchID, _ refusal: Refusal, at now: Instant) {
        guard let number = entries[id]?.request else { return }
        entries[id]?.refusal = refusal
        answered(id, of: number, at: now)
    }

    /// Handles a watch that the presentity's rules block.
    func rejected(_ id: WatchID, at now: Instant) {
        guard let entry = entries[id] else { return }
        if entry.request != nil { return refused(id, .blockedByRules, at: now) }
        entries[id] = nil
        if let (resource, tag) = entry.viewer, let watcher = presence.notifier.dialogs[tag] {
            presence.withdraw(resource, from: watcher, because: Refusal.blockedByRules.explanation, at: now)
        }
    }

    /// Handles the end of a presentity.
    func ended(_ id: WatchID, at now: Instant) {
        guard let entry = entries[id] else { return }
        if entry.request != nil { return refused(id, .noSuchUser, at: now) }
        entries[id] = nil
        if let (resource, tag) = entry.viewer, let watcher = presence.notifier.dialogs[tag] {
            presence.userEnded(resource, of: watcher, at: now)
        }
    }
}

/// A SUBSCRIBE that waits for views of other shards.
private struct ParkedSubscribe {
    let request: SIPRequest
    let transaction: ServerTransactionID?
    let flow: Flow
    /// Local tag of its dialog; nil: outside a dialog.
    let dialog: String?
    let watches: Set<WatchID>
    /// The watches without an answer.
    var waiting: Set<WatchID>
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
