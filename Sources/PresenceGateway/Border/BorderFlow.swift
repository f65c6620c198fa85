import FederationRouting
import SIPCore

/// The border to the kernel: OPTIONS to partners.
final class BorderFlow: KernelClient {
    private enum Kind {
        static let domain: UInt8 = 0
        static let probe: UInt8 = 1
    }

    /// An OPTIONS without a response yet.
    private struct Probe {
        let domain: String
        /// The asked server; nil: any.
        let server: TransportAddress?
    }

    unowned let gateway: Gateway
    /// The domains that are probed.
    private var domains = Slab<String>()
    private var probes = Slab<Probe>()

    init(_ gateway: Gateway) {
        self.gateway = gateway
    }

    /// The ticket of a probed domain.
    func add(domain name: String) -> Ticket { Ticket(.border, kind: Kind.domain, domains.insert(name)) }

    func remove(domain ticket: Ticket) {
        gateway.timers.set(ticket, at: nil)
        domains.remove(ticket.key)
    }

    /// The origin of an OPTIONS to a domain.
    /// - Parameter server: the asked server; nil: any.
    func origin(probing name: String, at server: TransportAddress?) -> RequestOrigin {
        let key = probes.insert(Probe(domain: name, server: server))
        // One of several servers may be down.
        return RequestOrigin(
            ticket: Ticket(.border, kind: Kind.probe, key), partner: gateway.partnerName(ofDomain: name),
            domain: server == nil ? name : nil)
    }

    func receive(_ response: SIPResponse, to pendingRequest: PendingRequest, from source: MessageSource, at now: Instant) {
        guard let probe = probes.remove(pendingRequest.origin.ticket.key) else { return }
        gateway.flows.upstream.verifier.watchConnection(source.connection, ofDomain: probe.domain)
        gateway.keepAliveAnswered(probe.domain, by: probe.server, response, at: now)
    }

    func notDelivered(
        _ origin: RequestOrigin, _ failure: DeliveryFailure, _ reason: String, over connection: ConnectionID?, at now: Instant
    ) {
        guard let probe = probes.remove(origin.ticket.key) else { return }
        gateway.keepAliveFailed(probe.domain, at: probe.server, because: reason, at: now)
    }

    func notSent(_ origin: RequestOrigin, at now: Instant) {
        if let probe = probes.remove(origin.ticket.key) { gateway.keepAliveEnded(probe.domain) }
    }

    func isLatest(_ request: SIPRequest, of origin: RequestOrigin) -> Bool { true }

    func renumber(_ request: inout SIPRequest, of origin: RequestOrigin) -> Bool {
        guard var cSeq = request.headers.cSeq else { return false }
        cSeq.number += 1
        request.headers.cSeq = cSeq
        return true
    }

    func concernsPartner(_ failure: DeliveryFailure, of origin: RequestOrigin) -> Bool { true }

    func timerDue(_ ticket: Ticket, at now: Instant) {
        if let name = domains[ticket.key] { gateway.advanceKeepAlive(name, at: now) }
    }
}
