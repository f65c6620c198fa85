import FederationRouting
import SIPCore

/// A part of the shard that moves messages, time and records by the kernel.
protocol KernelUser: AnyObject {
    var kernel: GatewayKernel { get }
}

extension KernelUser {
    /// Counters since the start.
    var counters: GatewayCounters {
        _read { yield kernel.counters }
        _modify { yield &kernel.counters }
    }

    var tokens: TokenGenerator {
        _read { yield kernel.identifiers.tokens }
        _modify { yield &kernel.identifiers.tokens }
    }

    var transactions: TransactionLayer {
        _read { yield kernel.transactions }
        _modify { yield &kernel.transactions }
    }

    var timers: DeadlineQueue<Ticket> {
        _read { yield kernel.timers }
        _modify { yield &kernel.timers }
    }

    var commitLog: CommitLog {
        _read { yield kernel.commitLog }
        _modify { yield &kernel.commitLog }
    }

    var journal: Journal {
        _read { yield kernel.notes.journal }
        _modify { yield &kernel.notes.journal }
    }

    var hops: NextHopResolver {
        _read { yield kernel.delivery.hops }
        _modify { yield &kernel.delivery.hops }
    }

    var unanswered: UnansweredNotifications {
        _read { yield kernel.delivery.unanswered }
        _modify { yield &kernel.delivery.unanswered }
    }

    var pendingRequests: [ClientTransactionID: PendingRequest] {
        _read { yield kernel.delivery.pendingRequests }
    }

    var store: (any GatewayStore)? { kernel.commitLog.store }
    // Not copied, because a copy retains each field.
    var ownAddresses: OwnAddresses { _read { yield kernel.delivery.addresses } }
    var notKeptRefusal: Refusal { kernel.notKeptRefusal }

    func client(of ticket: Ticket) -> (any KernelClient)? { kernel.client(of: ticket) }

    func log(
        _ level: GatewayLog.Level, _ message: GatewayLog.StaticMessage, _ fields: @autoclosure () -> KeyValuePairs<String, String> = [:]
    ) {
        kernel.log(level, message, fields())
    }

    func keep(_ key: StoreKey) { kernel.keep(key) }
    func whenKept(at now: Instant, _ step: @escaping (Instant) -> Void) { kernel.whenKept(at: now, step) }

    func respond(_ response: SIPResponse, _ transaction: ServerTransactionID?, in scope: CommitScope? = nil, at now: Instant) {
        kernel.respond(response, transaction, in: scope, at: now)
    }

    func send(
        _ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, in scope: CommitScope? = nil, at now: Instant
    ) {
        kernel.delivery.send(request, by: requestRoute, for: origin, in: scope, at: now)
    }

    func sendWithoutAnswer(
        _ request: SIPRequest, by requestRoute: RequestRoute, for origin: RequestOrigin, in scope: CommitScope?, at now: Instant
    ) {
        kernel.delivery.sendWithoutAnswer(request, by: requestRoute, for: origin, in: scope, at: now)
    }

    func requestRoute(by hop: NextHop) -> RequestRoute { ownAddresses.requestRoute(by: hop) }
    func requestRoute(to target: TransportAddress, flow: Flow?) -> RequestRoute { ownAddresses.requestRoute(to: target, flow: flow) }
    func contact(by requestRoute: RequestRoute) -> String { ownAddresses.contact(by: requestRoute) }
    func contact(over flow: Flow) -> String { ownAddresses.contact(over: flow) }
}
