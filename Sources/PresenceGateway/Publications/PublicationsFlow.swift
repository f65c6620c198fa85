import SIPCore

/// The relayed publications to the kernel.
final class PublicationsFlow: KernelClient {
    private enum Kind {
        static let pidf: UInt8 = 0
        static let categories: UInt8 = 1
    }

    unowned let gateway: Gateway
    private var pidfBridges = Slab<PIDFBridge>()
    private var categoryBridges = Slab<CategoryBridge>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// The ticket of a bridge, made on first use.
    func ticket(of bridge: PIDFBridge) -> Ticket {
        if let ticket = bridge.ticket { return ticket }
        let ticket = Ticket(.publications, kind: Kind.pidf, pidfBridges.insert(bridge))
        bridge.ticket = ticket
        return ticket
    }

    /// The ticket of a bridge, made on first use.
    func ticket(of bridge: CategoryBridge) -> Ticket {
        if let ticket = bridge.ticket { return ticket }
        let ticket = Ticket(.publications, kind: Kind.categories, categoryBridges.insert(bridge))
        bridge.ticket = ticket
        return ticket
    }

    func remove(_ bridge: PIDFBridge) {
        guard let ticket = bridge.ticket else { return }
        bridge.ticket = nil
        gateway.timers.set(ticket, at: nil)
        pidfBridges.remove(ticket.key)
    }

    func remove(_ bridge: CategoryBridge) {
        guard let ticket = bridge.ticket else { return }
        bridge.ticket = nil
        gateway.timers.set(ticket, at: nil)
        categoryBridges.remove(ticket.key)
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket.kind == Kind.pidf {
            if let bridge = pidfBridges[ticket.key] { gateway.advance(bridge, at: now) }
        } else if let bridge = categoryBridges[ticket.key] {
            gateway.advance(bridge, at: now)
        }
    }
}
