import FederationRouting
import Registration
import SIPCore
import SIPEvents

/// The home server of the users of hosted domains: registrations, contacts, access lists, provisioning and directory searches.
final class HomeServerFlow: ShardMember, KernelClient, RequestHandler, Persistent, Inspectable {
    /// The timer of all registrations.
    static let registrar = Ticket(.homeServer, only: 1)

    let kernel: GatewayKernel
    let context: ShardContext
    /// The other flows, which outlive it.
    unowned let ports: any HomeServerPorts
    var home: HomeServer
    var searchRates = SearchRates()
    /// Sources of bindings that a REGISTER removed, until its commit.
    var leaving: [StoreKey: MessageSource] = [:]

    init(_ kernel: GatewayKernel, _ context: ShardContext, _ ports: any HomeServerPorts) {
        self.kernel = kernel
        self.context = context
        self.ports = ports
        home = HomeServer(configuration: context.configuration)
    }

    let methods: [SIPMethod] = [.register]

    func receive(_ request: SIPRequest, _ transaction: ServerTransactionID?, _ flow: Flow, at now: Instant) throws(Refusal) {
        try receiveRegister(request, transaction, flow, at: now)
    }

    /// Applies a new configuration; existing registrations keep their lifetimes.
    func use(_ configuration: GatewayConfiguration) { home.reconfigure(configuration) }

    /// Whether the user has a list or a registration.
    func knows(_ user: String) -> Bool { home.lists.knows(user) || !home.registrar.bindings(of: user).isEmpty }

    // MARK: the store

    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .registration(let user, let place): storedRegistration(user, place).map(StoreRecord.registration)
        case .contacts(let user): home.lists.stored(contactsOf: user).map(StoreRecord.contacts)
        case .accessList(let user): home.lists.stored(accessControlOf: user).map(StoreRecord.accessList)
        default: nil
        }
    }

    func timerDue(_ ticket: Ticket, at now: Instant) { advanceRegistrar(at: now) }
}
