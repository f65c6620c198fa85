import FederationRouting
import SIPCore
import SIPEvents

/// The registrations of users' own endpoints to the kernel.
final class HomeServerFlow: KernelClient, RequestHandler, Persistent {
    /// The timer of all registrations.
    static let registrar = Ticket(.homeServer, only: 1)

    unowned let gateway: Gateway

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    let methods: [SIPMethod] = [.register]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try gateway.receiveRegister(request, transaction, flow, at: now)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .registration(let user, let place): gateway.storedRegistration(user, place).map(StoreRecord.registration)
        case .contacts(let user): gateway.home.lists.stored(contactsOf: user).map(StoreRecord.contacts)
        case .accessList(let user): gateway.home.lists.stored(accessControlOf: user).map(StoreRecord.accessList)
        default: nil
        }
    }

    func timerDue(_ ticket: Ticket, at now: Instant) { gateway.advanceRegistrar(at: now) }
}
