import FederationRouting
import SIPCore
import SIPEvents

/// The dialogs of all event packages to the kernel.
final class SubscriptionsFlow: KernelClient, RequestHandler, Persistent {
    unowned let gateway: Gateway
    private var dialogs = Slab<WatcherDialog>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// Gives a dialog its ticket.
    func add(_ watcher: WatcherDialog) { watcher.name(by: Ticket(.subscriptions, dialogs.insert(watcher))) }

    func remove(_ watcher: WatcherDialog) {
        gateway.timers.set(watcher.ticket, at: nil)
        dialogs.remove(watcher.ticket.key)
    }

    /// The origin of a notification in a dialog.
    func origin(of watcher: WatcherDialog) -> RequestOrigin {
        let remote = watcher.flow.remote
        return RequestOrigin(
            ticket: watcher.ticket, partner: watcher.partner, sourceHost: remote.transport == .udp ? remote.host : nil, isBrief: true)
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        if let watcher = dialogs[pendingRequest.origin.ticket.key] { gateway.receiveAnswer(response, for: watcher, at: now) }
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let watcher = dialogs[origin.ticket.key] else { return }
        gateway.notDelivered(watcher, Notifier.DeliveryFailure(failure), reason, over: connection, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if let watcher = dialogs[origin.ticket.key] { gateway.notSent(watcher, at: now) }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool {
        dialogs[origin.ticket.key]?.dialog.localCSeq == request.headers.cSeq?.number
    }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard let watcher = dialogs[origin.ticket.key], var cSeq = request.headers.cSeq else { return false }
        cSeq.number = watcher.dialog.nextNumber()
        request.headers.cSeq = cSeq
        gateway.keep(.dialog(watcher.localTag))
        return true
    }

    func exists(_ ticket: Ticket) -> Bool { dialogs[ticket.key] != nil }

    func isSource(_ host: String, of ticket: Ticket) -> Bool {
        guard let remote = dialogs[ticket.key]?.flow.remote else { return false }
        return remote.transport == .udp && remote.host == host
    }

    let methods: [SIPMethod] = [.subscribe]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try gateway.receiveSubscribe(request, transaction, flow, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        guard case .dialog(let tag) = key else { return nil }
        return gateway.dialogs[tag]?.stored.map(StoreRecord.dialog)
    }

    func connectionLost(_ connection: ConnectionID, of ticket: Ticket, at now: Instant) {
        if let watcher = dialogs[ticket.key] { gateway.connectionLost(connection, of: watcher, at: now) }
    }

    func committed() { gateway.uncommitted.forget() }
    func commitFailed(at now: Instant) { gateway.revertUncommitted(at: now) }
    func storeWorks(at now: Instant) { gateway.notifyUnsent(at: now) }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        guard let watcher = dialogs[ticket.key] else { return }
        watcher.fired()
        gateway.advance(watcher, at: now)
        gateway.schedule(watcher)
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
