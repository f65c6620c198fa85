import FederationRouting
import SIPCore
import SIPEvents

/// The dialogs and registrations of users' own endpoints to the kernel.
final class HomeServerFlow: KernelClient, RequestHandler, Persistent {
    private enum Kind {
        static let dialog: UInt8 = 0
        static let registrar: UInt8 = 1
    }

    /// The timer of all registrations.
    static let registrar = Ticket(.homeServer, only: Kind.registrar)

    unowned let gateway: Gateway
    private var dialogs = Slab<HomeDialog>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// Gives a dialog its ticket.
    func add(_ dialog: HomeDialog) { dialog.ticket = Ticket(.homeServer, kind: Kind.dialog, dialogs.insert(dialog)) }

    func remove(_ dialog: HomeDialog) {
        gateway.timers.set(dialog.ticket, at: nil)
        dialogs.remove(dialog.ticket.key)
    }

    /// The origin of a notification in a dialog.
    func origin(of dialog: HomeDialog) -> RequestOrigin {
        let remote = dialog.flow.remote
        return RequestOrigin(ticket: dialog.ticket, sourceHost: remote.transport == .udp ? remote.host : nil)
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        if let dialog = dialogs[pendingRequest.origin.ticket.key] { gateway.receiveAnswer(response, for: dialog, at: now) }
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let dialog = dialogs[origin.ticket.key] else { return }
        gateway.notDelivered(dialog, Notifier.DeliveryFailure(failure), reason, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if let dialog = dialogs[origin.ticket.key] { gateway.notSent(dialog, at: now) }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool {
        dialogs[origin.ticket.key]?.dialog.localCSeq == request.headers.cSeq?.number
    }

    func exists(_ ticket: Ticket) -> Bool { dialogs[ticket.key] != nil }

    func isSource(_ host: String, of ticket: Ticket) -> Bool {
        guard let remote = dialogs[ticket.key]?.flow.remote else { return false }
        return remote.transport == .udp && remote.host == host
    }

    let methods: [SIPMethod] = [.register]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try gateway.receiveRegister(request, transaction, flow, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .dialog(let tag): gateway.home.dialogs[tag].flatMap { $0.notifier.isOver ? nil : .dialog($0.stored) }
        case .registration(let user, let place): gateway.storedRegistration(user, place).map(StoreRecord.registration)
        case .contacts(let user): gateway.home.lists.stored(contactsOf: user).map(StoreRecord.contacts)
        case .accessList(let user): gateway.home.lists.stored(accessControlOf: user).map(StoreRecord.accessList)
        default: nil
        }
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket == Self.registrar { return gateway.advanceRegistrar(at: now) }
        if let dialog = dialogs[ticket.key] { gateway.advance(dialog, at: now) }
    }
}
