import PresenceGateway
import SIPCore
import SIPTransport
import Storage
import Synchronization

/// Configured store, opened and read once for all shards.
struct OpenedStore: Sendable {
    let store: SQLiteStore
    let records: [StoreRecord]

    /// Opens and reads a store; nil when none is configured.
    /// - Throws: `ServiceFailure` naming the fault of the store.
    init?(_ configuration: ProgramConfiguration.Store?) throws(ServiceFailure) {
        guard let configuration else { return nil }
        do {
            store = try SQLiteStore(path: configuration.path, options: configuration.options)
            records = try store.load(at: HostClock().now())
        } catch {
            throw ServiceFailure("store.sqlite: \(error.description)")
        }
    }

    /// Starts the thread that carries out the requests of all shards.
    /// - Parameter patience: longest wait of a transaction for another process that has locked the database.
    func work(patience: TimeSpan) throws(ServiceFailure) -> StoreWorker {
        do { return try StoreWorker(store, patience: patience) } catch { throw ServiceFailure("store.sqlite: \(error.description)") }
    }
}

extension StoreWorker {
    /// Takes the store requests of a tick, and gives their results to the gateway on its event loop.
    func carryOut(requestsOf gateway: Gateway, on shard: ShardHost) {
        let requests = gateway.takeStoreRequests()
        guard !requests.isEmpty else { return }
        submit(requests, of: shard.index) { results in
            shard.submit { endpoint, now in
                guard let gateway = endpoint as? Gateway else { return }
                for result in results { gateway.receive(result, at: now) }
            }
        }
    }
}

/// Sum of the state that all shards restored.
final class RestoredTotal: Sendable {
    private let sum = Mutex(RestoredState())

    var value: RestoredState { sum.withLock { $0 } }

    func add(_ part: RestoredState) { sum.withLock { $0 = $0 + part } }
}
