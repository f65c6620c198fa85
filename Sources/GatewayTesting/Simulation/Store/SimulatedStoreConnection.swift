import PresenceGateway
import SIPCore
import ScriptedPeers

/// Connection of one process to a ``SimulatedStore``; a lost one is replaced by a new one with the same object.
///
///     sent --delay--> arrived --engine works--> carried out --delay--> reported
///       |                |                          |
///       +----------------+--------------------------+--connection ends--> reported as failed
package final class SimulatedStoreConnection: StoreLink {
    /// Request without a result at the process.
    private struct Pending {
        let request: StoreRequest
        let isLost: Bool
        var result: StoreResult?
    }

    /// Receives each result, in the order of the requests.
    package var receiver: ((StoreResult, Instant) -> Void)?
    /// Whether the process has ended.
    package private(set) var isEnded = false

    private unowned let store: SimulatedStore
    private var session: StoreSession
    /// In the order of sending: carried out, arrived, under way.
    private var pending: [Pending] = []
    private var carriedOut = 0
    private var arrived = 0
    /// Failures under way to the process.
    private var failures = 0
    private var losesRequests = false
    private var losesResults = false
    /// Number of the connection; events of earlier ones do nothing.
    private var generation = 0
    private var lastArrival: Instant
    private var lastResult: Instant

    init(_ store: SimulatedStore) {
        self.store = store
        session = StoreSession(store.table)
        (lastArrival, lastResult) = (store.network.now, store.network.now)
    }

    /// Sends a request; ignored after ``end()``.
    package func send(_ request: StoreRequest) {
        guard !isEnded else { return }
        if !losesRequests, store.random.chance(store.conditions.requestLoss) {
            losesRequests = true
            giveUp(after: store.conditions.patience)
        }
        if store.random.chance(store.conditions.connectionLoss) { giveUp(after: store.travelTime()) }
        pending.append(Pending(request: request, isLost: losesRequests))
        guard !losesRequests else { return }
        lastArrival = max(lastArrival, store.network.now + store.travelTime())
        schedule(at: lastArrival) { connection, _ in
            connection.arrived += 1
            connection.work()
        }
    }

    /// Ends the link with its process; ``SimulatedStore/settle()`` decides the requests that are still under way.
    package func end() {
        isEnded = true
        receiver = nil
    }

    /// Gives the connection up: the outcome of the requests under way is unknown.
    package func reconnect() {
        guard !isEnded else { return }
        let unknown = pending.map(\.request)
        abandon()
        store.counts.reconnections += 1
        lastResult = max(lastResult, store.network.now + store.travelTime())
        failures += unknown.count
        store.network.schedule(at: lastResult) { [self] now in
            failures -= unknown.count
            for request in unknown { receiver?(request.failed(Self.lost), now) }
        }
    }

    /// Carries out the requests that arrived, while the engine works.
    func work() {
        while !store.isStalled, carriedOut < arrived {
            pending[carriedOut].result = perform(pending[carriedOut].request)
            carriedOut += 1
            if !losesResults, store.random.chance(store.conditions.resultLoss) {
                losesResults = true
                giveUp(after: store.conditions.patience)
            }
            guard !losesResults else { continue }
            lastResult = max(lastResult, store.network.now + store.travelTime())
            schedule(at: lastResult) { connection, now in connection.report(at: now) }
        }
    }

    /// Decides the requests that are not carried out yet, and begins a new connection.
    func abandon() {
        let open = pending[carriedOut...].prefix { !$0.isLost }.map(\.request)
        let last = Int.random(in: 0...open.count, using: &store.random)
        let results = pending[..<carriedOut].compactMap(\.result) + open.prefix(last).map { perform($0) }
        if !isEnded { store.counts.storedUnknown += results.count(where: \.isCommitted) }
        store.counts.lost += pending.count - results.count
        if !store.fencesConnections { for request in open.dropFirst(last) { performLate(request) } }
        generation += 1
        (pending, carriedOut, arrived) = ([], 0, 0)
        (losesRequests, losesResults) = (false, false)
        session = StoreSession(store.table)
    }

    /// Number of requests without a result.
    var inFlight: Int { pending.count + failures }

    private static let lost = StoreFailure("the connection was lost: the outcome is unknown")

    private func perform(_ request: StoreRequest) -> StoreResult {
        let result = session.perform(request)
        if isEnded, result.isCommitted { store.counts.storedAfterEnd += 1 }
        return result
    }

    /// Carries out a commit of a connection that was given up.
    private func performLate(_ request: StoreRequest) {
        guard case .commit(_, _, let changes) = request else { return }
        let delay = TimeSpan.milliseconds(Int.random(in: 0...30_000, using: &store.random))
        store.network.schedule(at: store.network.now + delay) { [table = store.table] _ in try? table.commit(changes) }
    }

    private func report(at now: Instant) {
        let first = pending.removeFirst()
        carriedOut -= 1
        arrived -= 1
        if let result = first.result { receiver?(result, now) }
    }

    private func giveUp(after patience: TimeSpan) {
        schedule(at: store.network.now + patience) { connection, _ in connection.reconnect() }
    }

    /// Schedules an event of the present connection.
    private func schedule(at moment: Instant, _ action: @escaping (SimulatedStoreConnection, Instant) -> Void) {
        store.network.schedule(at: moment) { [self, generation] now in
            if generation == self.generation { action(self, now) }
        }
    }
}

extension StoreResult {
    var isCommitted: Bool {
        if case .committed = self { return true }
        return false
    }
}
