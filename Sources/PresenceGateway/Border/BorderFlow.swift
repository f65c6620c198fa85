import SIPCore

/// The border to the kernel: the domains that are probed by OPTIONS.
final class BorderFlow: KernelClient {
    unowned let gateway: Gateway
    private var domains = Slab<String>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// The ticket of a probed domain.
    func add(domain name: String) -> Ticket { Ticket(.border, domains.insert(name)) }

    func remove(domain ticket: Ticket) {
        gateway.timers.set(ticket, at: nil)
        domains.remove(ticket.key)
    }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if let name = domains[ticket.key] { gateway.advanceKeepAlive(name, at: now) }
    }
}
