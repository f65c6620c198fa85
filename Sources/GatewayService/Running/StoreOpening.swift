import PresenceGateway
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
}

/// Sum of the state that all shards restored.
final class RestoredTotal: Sendable {
    private let sum = Mutex(RestoredState())

    var value: RestoredState { sum.withLock { $0 } }

    func add(_ part: RestoredState) { sum.withLock { $0 = $0 + part } }
}
