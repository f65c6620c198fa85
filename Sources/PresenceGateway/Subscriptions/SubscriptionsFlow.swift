import FederationRouting
import SIPCore
import SIPEvents

/// The notifier of all event packages: their dialogs, requests, notifications and redelivery (RFC 6665 4.2).
final class SubscriptionsFlow: ShardMember, KernelClient, RequestHandler, Persistent, Inspectable {
    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any SubscriptionsPorts
    /// Dialogs in which the gateway is notifier.
    private(set) var dialogs = DialogTable()
    /// The dialogs by ticket.
    private var records = Slab<WatcherDialog>()
    /// Routes of notifications, shared by the dialogs of a connection.
    private var routesByConnection = NotificationRoutes()
    /// Event packages of subscriptions to this gateway.
    private(set) var packages = EventPackages()
    /// Limits and notifier configurations of dialogs.
    private(set) lazy var policy = DialogPolicy(self)
    /// Dialogs of an earlier process.
    private(set) lazy var restored = RestoredDialogs(self)
    /// Responses to notifications, and their redelivery.
    private(set) lazy var redelivery = NotificationRedelivery(self)
    /// Write-behind of what watchers were notified of.
    private(set) lazy var settlement = DialogSettlement(self)
    /// Dialogs of failed commits.
    private(set) lazy var reloaded = ReloadedDialogs(self)

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any SubscriptionsPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
    }

    /// Adds a package; one with the same token is replaced.
    func register(_ package: any EventPackage) { packages.register(package) }

    /// Sets the packages, before the first request.
    func use(_ packages: EventPackages) { self.packages = packages }

    // MARK: the table

    /// Adds a dialog, and gives it its ticket.
    func insert(_ watcher: WatcherDialog) {
        watcher.name(by: Ticket(.subscriptions, records.insert(watcher)))
        dialogs.insert(watcher)
        watcher.serve(through: partnerName(of: watcher.watcher))
    }

    /// The route that the dialogs of a connection share.
    func shareRoute(_ route: NotificationRoute, over connection: ConnectionID) -> NotificationRoute {
        routesByConnection.shared(route, over: connection)
    }

    /// Stores a dialog with the next commit, once it is to be stored at all.
    func keep(_ watcher: WatcherDialog) {
        if watcher.record.storage != .none { keep(.dialog(watcher.localTag)) }
    }

    /// Notes a notification. Its dialog is stored before it is sent, if the record is settled, or has no number left for it.
    func noteNotified(_ watcher: WatcherDialog, at now: Instant) {
        guard store != nil, watcher.record.storage != .none else { return }
        let isNew = watcher.noteNotified(at: now)
        // Resources that are rejected or pending are stored with the notification that says so.
        if watcher.subscription.takeUnstored() || isNew { keep(watcher) }
        settlement.add(watcher, at: now)
    }

    /// Notes a number that is used without a notification of its own.
    func noteNumber(of watcher: WatcherDialog) {
        if store != nil, watcher.noteNumber() { keep(watcher) }
    }

    /// Stores that the watcher may have any state, because one was lost.
    func unsettle(_ watcher: WatcherDialog) {
        guard store != nil, watcher.record.storage != .none, watcher.record.reserve == nil else { return }
        watcher.unsettle()
        keep(watcher)
    }

    /// The dialog of a ticket, unless it ended.
    func dialog(_ ticket: Ticket) -> WatcherDialog? { records[ticket.key] }

    /// Stores a new dialog with the next commit.
    func begin(_ watcher: WatcherDialog, at now: Instant) {
        guard store != nil else { return }
        watcher.beginStorage()
        keep(watcher)
        whenKept(at: now) { _ in watcher.noteStored() }
    }

    /// Commits that a message with state of the dialog depends on; nil: there is no store.
    func commitScope(of watcher: WatcherDialog) -> CommitScope? {
        guard store != nil else { return nil }
        guard let presence = watcher.presence else {
            return CommitScope(watcher.watcherKey, watcher.subscription.presentity, ofDialog: watcher.localTag)
        }
        // A blocked watcher sees another record, and does not wait for the presentity.
        let others = presence.resources.count > 1 ? kernel.dependency(on: presence.resources.lazy.map(\.hostedKey)) : 0
        return CommitScope(watcher.watcherKey, presence.resources.first?.hostedKey ?? "", ofDialog: watcher.localTag, others: others)
    }

    /// Removes a dialog and releases its resources.
    func remove(_ watcher: WatcherDialog, at now: Instant) {
        guard dialogs.remove(watcher) else { return }
        unanswered.forget(watcher.ticket)
        settlement.remove(watcher)
        counters.subscriptionsEnded += 1
        watcher.subscription.end(watcher, at: now)
        keep(watcher)
        timers.set(watcher.ticket, at: nil)
        records.remove(watcher.ticket.key)
    }

    /// Moves the dialog to the flow of the watcher's request or registration, and stores it.
    func reached(_ watcher: WatcherDialog, over flow: Flow) {
        keep(watcher)
        dialogs.move(watcher, to: flow)
    }

    /// Notes the end of a dialog's connection.
    func disconnected(_ watcher: WatcherDialog) { dialogs.disconnect(watcher) }

    /// Removes a connection.
    /// - Returns: the dialogs that were bound to it, in order.
    func takeRecords(over connection: ConnectionID) -> [Ticket] {
        routesByConnection.close(connection)
        return dialogs.close(connection).compactMap { dialogs[$0]?.ticket }
    }

    // MARK: KernelClient

    /// The origin of a notification in a dialog.
    func origin(of watcher: WatcherDialog) -> RequestOrigin {
        let remote = watcher.flow.remote
        return RequestOrigin(
            ticket: watcher.ticket, partner: watcher.delivery.partner,
            sourceHost: remote.transport == .udp ? remote.host : nil, isBrief: true)
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        if let watcher = records[pendingRequest.origin.ticket.key] { redelivery.receiveAnswer(response, for: watcher, at: now) }
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let watcher = records[origin.ticket.key] else { return }
        redelivery.notDelivered(watcher, Notifier.DeliveryFailure(failure), reason, over: connection, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if let watcher = records[origin.ticket.key] { reloaded.notSent(watcher, at: now) }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool {
        records[origin.ticket.key]?.dialog.localCSeq == request.headers.cSeq?.number
    }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard let watcher = records[origin.ticket.key], var cSeq = request.headers.cSeq else { return false }
        cSeq.number = watcher.nextNumber()
        request.headers.cSeq = cSeq
        noteNumber(of: watcher)
        return true
    }

    func exists(_ ticket: Ticket) -> Bool { records[ticket.key] != nil }

    func isSource(_ host: String, of ticket: Ticket) -> Bool {
        guard let remote = records[ticket.key]?.flow.remote else { return false }
        return remote.transport == .udp && remote.host == host
    }

    let methods: [SIPMethod] = [.subscribe]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try receiveSubscribe(request, transaction, flow, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .dialog(let tag) = key else { return nil }
        return dialogs[tag]?.stored.map(StoreRecord.dialog)
    }

    func connectionLost(_ connection: ConnectionID, of ticket: Ticket, at now: Instant) {
        if let watcher = records[ticket.key] { redelivery.connectionLost(connection, of: watcher, at: now) }
    }

    func storeWorks(at now: Instant) { reloaded.notifyUnsent(at: now) }

    func rank(of record: StoreRecord, at now: Instant) -> RestoreRank? { restored.rank(of: record) }

    func restore(_ record: StoreRecord, _ restart: inout Restart, at now: Instant) -> Bool { restored.restore(record, &restart, at: now) }

    func complete(_ phase: RestartPhase, _ restart: inout Restart, at now: Instant) -> Bool {
        phase == .notifications ? restored.notifyBehind(&restart, at: now) : true
    }

    /// Takes the stored dialogs in place of those of a failed commit.
    func reload(_ stored: StoredRecords, at now: Instant) -> (() -> Void)? {
        reloaded.reload(stored, at: now)
        return nil
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if WatchedViews.isTicket(ticket) { return ports.parkedTimerDue(ticket, at: now) }
        if DialogSettlement.isTicket(ticket) { return settlement.timerDue(at: now) }
        guard let watcher = records[ticket.key] else { return }
        watcher.fired()
        advance(watcher, at: now)
        schedule(watcher)
    }
}

extension Notifier.DeliveryFailure {
    init(_ failure: DeliveryFailure) {
        switch failure {
        case .transport: self = .transport
        case .silence: self = .silence
        }
    }
}
