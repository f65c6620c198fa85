import SIPCore

/// The upstream subscriptions to the kernel. Their numbers are not used again, so that a ticket is made of one.
final class UpstreamFlow: KernelClient {
    private enum Kind {
        static let subscription: UInt8 = 0
        static let doubts: UInt8 = 1
    }

    /// The timer of the subscriptions to verify.
    static let doubts = Ticket(.upstream, only: Kind.doubts)

    unowned let gateway: Gateway

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    static func ticket(of upstream: UpstreamSubscription) -> Ticket { Ticket(.upstream, kind: Kind.subscription, number: upstream.id) }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if ticket == Self.doubts { return gateway.workOffDoubts(at: now) }
        guard let upstream = gateway.upstreams[ticket.number] else { return }
        gateway.advance(upstream, at: now)
        gateway.schedule(upstream)
    }
}
