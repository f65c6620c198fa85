import SIPCore

/// The dialogs and registrations of users' own endpoints to the kernel.
final class HomeServerFlow: KernelClient {
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

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket == Self.registrar { return gateway.advanceRegistrar(at: now) }
        if let dialog = dialogs[ticket.key] { gateway.advance(dialog, at: now) }
    }
}
