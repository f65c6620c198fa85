import SIPCore

/// The hosted presentities to the kernel.
final class PresentitiesFlow: KernelClient, Persistent {
    private enum Kind {
        static let presentity: UInt8 = 0
        static let returning: UInt8 = 1
    }

    unowned let gateway: Gateway
    private var presentities = Slab<HostedPresentity>()
    /// Keys of presentities with endpoints that may come back after a restart.
    private var returning = Slab<String>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// Sets the timer of a presentity.
    func schedule(_ presentity: HostedPresentity) {
        let ticket = presentity.ticket ?? Ticket(.presentities, kind: Kind.presentity, presentities.insert(presentity))
        presentity.ticket = ticket
        gateway.timers.set(ticket, at: presentity.nextDeadline)
    }

    func remove(_ presentity: HostedPresentity) {
        guard let ticket = presentity.ticket else { return }
        presentity.ticket = nil
        gateway.timers.set(ticket, at: nil)
        presentities.remove(ticket.key)
    }

    /// Sets the time by which the endpoints of a presentity must come back.
    func awaitEndpoints(of key: String, until deadline: Instant) {
        gateway.timers.set(Ticket(.presentities, kind: Kind.returning, returning.insert(key)), at: deadline)
    }

    func record(of key: StoreKey) -> StoreRecord? {
        switch key {
        case .presentity(let user): gateway.presentities[user]?.stored.map(StoreRecord.presentity)
        case .publication(let user, let tag): gateway.presentities[user]?.stored(tag).map(StoreRecord.publication)
        case .shownWatcher(let presentity, let watcher): gateway.storedShownWatcher(presentity, watcher).map(StoreRecord.shownWatcher)
        case .signOff(let presentity, let number): gateway.storedSignOff(presentity, number).map(StoreRecord.signOff)
        default: nil
        }
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket.kind == Kind.returning {
            if let key = returning.remove(ticket.key) { gateway.endReturning(key, at: now) }
        } else if let presentity = presentities[ticket.key] {
            gateway.advance(presentity, at: now)
            gateway.schedule(presentity)
        }
    }
}
