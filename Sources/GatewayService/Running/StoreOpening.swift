import NIOCore
import PresenceGateway
import SIPCore
import SIPTransport
import Storage

/// Configured store, opened for all shards.
struct OpenedStore: Sendable {
    let store: SQLiteStore

    /// Opens a store and prepares it for a restart; nil when none is configured.
    /// - Parameter router: notes the dialogs that their tags do not assign.
    /// - Throws: `ServiceFailure` naming the fault of the store.
    init?(_ configuration: ProgramConfiguration.Store?, for router: inout ShardRouter) throws(ServiceFailure) {
        guard let configuration else { return nil }
        do {
            store = try SQLiteStore(path: configuration.path, options: configuration.options)
            try store.prepare(for: &router, at: HostClock().now())
        } catch {
            throw Self.failure(error)
        }
    }

    /// Restores a shard that has begun its restart. The store is read here, and not on the event loop of the shard, which does other work
    /// between the slices.
    /// - Throws: `ServiceFailure` naming the fault of the store.
    func restore(_ shard: ShardHost) async throws -> RestoredState {
        var step = try await shard.perform { endpoint, now in (endpoint as? Gateway)?.continueRestart(at: now) }.get()
        while let present = step {
            var records: [StoreRecord] = []
            switch present {
            case .done(let state): return state
            case .yield: break
            case .read(let kinds, let slice):
                do { records = try store.load(kinds, of: slice) } catch { throw Self.failure(error) }
            }
            step = try await shard.perform { [records] endpoint, now in
                (endpoint as? Gateway)?.continueRestart(with: records, at: now)
            }.get()
        }
        return RestoredState()
    }

    private static func failure(_ failure: StoreFailure) -> ServiceFailure { ServiceFailure("store.sqlite: \(failure.description)") }

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
